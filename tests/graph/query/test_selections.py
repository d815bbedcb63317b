"""The fields of an operation: fragments expanded, conditions kept or decided, fields grouped by response key."""

from graphql import GraphQLField, GraphQLObjectType, GraphQLString, OperationDefinitionNode, parse

from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.selections import (
    IncludeCondition,
    Selected,
    argument_value,
    argument_variables,
    below,
    condition_variables,
    expand,
    grouped,
)

USER = GraphQLObjectType("User", {"name": GraphQLField(GraphQLString)})


def expanded(text: str) -> tuple[Selected, ...]:
    document = parse(text)
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    return expand(document, operation, DocumentLimits())


def test_fragments_are_expanded_in_their_places() -> None:
    [user] = expanded("{ user { ...Names ... on User { id } } } fragment Names on Person { name }")
    assert [(child.name, child.on) for child in user.children] == [("name", ("Person",)), ("id", ("User",))]


def test_what_the_document_decides_is_decided_and_what_a_variable_decides_is_kept() -> None:
    fields = expanded("query ($a: Boolean!) { x @include(if: false) y @skip(if: false) z @include(if: $a) }")
    assert [field.name for field in fields] == ["y", "z"]
    assert fields[1].conditions == (IncludeCondition("a", wanted=True),)
    assert condition_variables(fields) == {"a"}


def test_fields_of_one_object_are_grouped_by_response_key_and_type() -> None:
    fields = expanded("{ name other: name name ... on Order { total } ... @include(if: true) { name { first } } }")
    groups = grouped(fields, USER, lambda condition: True)
    assert {key: len(group) for key, group in groups.items()} == {"name": 3, "other": 1}
    assert [child.name for child in below(groups["name"])] == ["first"]
    conditional = expanded("query ($a: Boolean!) { name @skip(if: $a) }")
    assert grouped(conditional, USER, lambda condition: condition.wanted) == {}


def test_the_variables_of_an_argument_are_found_at_any_depth() -> None:
    fields = expanded("query ($n: Int, $m: Int) { a(first: $n) { b(first: $m) c(first: 3) } d(last: $n) }")
    assert argument_variables(fields, "first") == {"n", "m"}
    assert argument_variables(fields, "last") == {"n"}
    assert argument_value(fields[0], "last") is None
