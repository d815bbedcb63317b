"""Limits count what a document expands to; the schema itself can always be asked for as tools do."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from graphql import (
    DocumentNode,
    GraphQLInputObjectType,
    GraphQLList,
    OperationDefinitionNode,
    get_introspection_query,
    get_named_type,
    get_nullable_type,
    parse,
)

from gateway.errors import LimitExceeded
from gateway.graph.query.limits import DocumentLimits, check_variables
from gateway.graph.query.selections import expand
from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA, MemoryEndpoint
from tests.graph.http.test_endpoint import code

LIMITS = DocumentLimits()


def faults(document: DocumentNode, limits: DocumentLimits) -> list[str]:
    """What is too much in the operations of a document."""
    found: list[str] = []
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            try:
                expand(document, node, limits)
            except LimitExceeded as error:
                found.append(error.message)
    return found


def test_what_tools_ask_about_the_schema_is_within_the_limits() -> None:
    for deprecated in (True, False):
        query = get_introspection_query(input_value_deprecation=deprecated, schema_description=True)
        assert faults(parse(query), LIMITS) == []


def test_introspection_does_not_lend_its_depth_to_other_fields() -> None:
    deep = "{ a " * LIMITS.depth + "{ b }" + " }" * LIMITS.depth
    assert faults(parse(f"query {{ __schema {{ types {{ name }} }} {deep[1:-1]} }}"), LIMITS)


def test_introspection_still_counts_its_fields() -> None:
    many = " ".join(f"a{number}: name" for number in range(3_000))
    assert faults(parse(f"{{ __schema {{ types {{ {many} }} }} }}"), LIMITS)


async def test_introspection_that_nests_is_refused(api: MemoryEndpoint) -> None:
    nested = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
    response = await api.post(nested)
    assert response.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def bomb(fragments: int) -> str:
    """Each fragment spreads the next one twice: 2 to the power of `fragments` fields in a few hundred bytes."""
    chain = "".join(f"fragment F{n} on Query{{...F{n + 1} ...F{n + 1}}}" for n in range(fragments))
    return f"{{...F0}}{chain}fragment F{fragments} on Query{{__typename}}"


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """How many functions are called meanwhile: unlike time, the same on every machine."""
    count: Counter[str] = Counter()

    def counting(frame: Any, event: str, arg: Any) -> None:
        count[event] += 1

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        yield count
    finally:
        sys.setprofile(before)


def test_a_fragment_bomb_costs_no_more_than_its_length() -> None:
    calls = []
    for fragments in (11, 22):
        document = parse(bomb(fragments))
        with counted_calls() as count:
            found = faults(document, LIMITS)
        assert found
        calls.append(count["call"])
    assert calls[1] < 2.2 * calls[0]


async def test_a_fragment_bomb_is_refused_whatever_multiplies(api: MemoryEndpoint) -> None:
    small = bomb(22)
    assert len(small) < 850
    for text in (
        small,
        small.replace("__typename", "a:__typename"),
        small.replace("__typename", "__typename@skip(if:true)"),
    ):
        assert code(await api.post(text)) == "LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    ("query", "unit"),
    [
        ("{ " + " ".join(f"a{n}: __typename" for n in range(51)) + " }", "aliases"),
        ("{ " + "__typename " * 51 + "}", "root fields"),
        ("{ __typename " + "@skip(if: false) " * 51 + "}", "directives"),
        ("query " + "@a " * 51 + "{ __typename }", "directives"),
        ("{ ... " + "@a " * 51 + "{ __typename } }", "directives"),
        ("{ a " * 13 + "{ b }" + "}" * 13, "more than 12 levels deep"),
        ("{ " + "a " * 5_001 + "}", "5000 tokens"),
    ],
)
async def test_each_limit_is_reported_by_its_name(api: MemoryEndpoint, query: str, unit: str) -> None:
    response = await api.post(query)
    assert unit in response.text
    assert len(response.json()["errors"]) < 10, "graphql-cop takes ten errors for a way to overload a server"


async def test_fields_of_fragments_count_where_they_are_spread(api: MemoryEndpoint) -> None:
    query = (
        "{ ...A ...B } fragment A on Query { "
        + "__typename " * 30
        + "} fragment B on Query { "
        + "__typename " * 30
        + "}"
    )
    assert "more than 50 root fields" in (await api.post(query)).text


@pytest.mark.parametrize(
    "variables",
    [
        {"x": [1] * 1_001},
        {"x": {f"a{n}": 1 for n in range(1_001)}},
        {f"a{n}": 1 for n in range(1_001)},
        {"x": {"y": [[1] * 1_001]}},
        {"x": [[1] * 900] * 900},
    ],
)
def test_large_variables_are_refused(variables: dict[str, Any]) -> None:
    with pytest.raises(LimitExceeded):
        check_variables(variables, LIMITS)


def test_variables_of_a_bulk_are_not_refused() -> None:
    check_variables({"input": {"readings": [{"recordedAt": "x", "value": "1", "unit": "C"}] * 500}}, LIMITS)


async def test_wrong_variables_are_reported_in_a_few_errors(api: MemoryEndpoint) -> None:
    query = "query ($ids: [ID!]!) { users(userIds: $ids) { name } }"
    response = await api.post(query, {"ids": [{}] * 1_000})
    assert code(response) == "BAD_USER_INPUT"
    assert len(response.json()["errors"]) < 10


async def test_wrong_variables_are_not_all_worded(api: MemoryEndpoint) -> None:
    """A thousand wrong values cost hardly more than ten: graphql-core stops at the first few."""
    query = "query ($ids: [ID!]!) { users(userIds: $ids) { name } }"
    await api.post(query, {"ids": [{}]})
    calls = []
    for size in (10, 1_000):
        with counted_calls() as count:
            await api.post(query, {"ids": [{}] * size})
        calls.append(count["call"])
    assert calls[1] - calls[0] < 20 * 990


def list_arguments() -> list[tuple[str, str, str]]:
    """Every list that can be given: the field, its argument, and the path in an input object."""
    core, found = core_schema(SCHEMA), []
    for root in (core.query_type, core.mutation_type):
        for name, field in (root.fields if root is not None else {}).items():
            for argument, given in field.args.items():
                kind = get_named_type(given.type)
                if isinstance(get_nullable_type(given.type), GraphQLList):
                    found.append((name, argument, ""))
                elif isinstance(kind, GraphQLInputObjectType):
                    lists = [
                        key
                        for key, part in kind.fields.items()
                        if isinstance(get_nullable_type(part.type), GraphQLList)
                    ]
                    found += [(name, argument, key) for key in lists]
    return found


@pytest.mark.parametrize(("field", "argument", "path"), list_arguments())
async def test_every_list_that_can_be_given_is_bounded(
    api: MemoryEndpoint, field: str, argument: str, path: str
) -> None:
    core = core_schema(SCHEMA)
    is_query = core.query_type is not None and field in core.query_type.fields
    root = core.query_type if is_query else core.mutation_type
    assert root is not None
    kind = root.fields[field].args[argument].type
    selection = "{ __typename }"
    query = f"{'query' if is_query else 'mutation'} ($x: {kind}) {{ {field}({argument}: $x) {selection} }}"
    long = ["a"] * 1_001
    response = await api.post(query, {"x": {path: long} if path else long}, token="acme/admin")
    assert code(response) == "LIMIT_EXCEEDED"
    assert api.memory.sent == []


def test_there_are_lists_to_be_bounded() -> None:
    assert {("users", "userIds", ""), ("nodes", "ids", ""), ("placeOrder", "input", "lines")} <= set(list_arguments())


async def test_suggestions_are_off_in_variables_too() -> None:
    query = "mutation ($x: UpdateProductInput!) { updateProduct(input: $x) { errors { code } } }"
    wrong = {"x": {"productId": "p", "titel": "typo"}}
    assert "Did you mean" in (await MemoryEndpoint().post(query, wrong)).text
    hidden = await MemoryEndpoint(introspection=False).post(query, wrong)
    assert code(hidden) == "BAD_USER_INPUT"
    assert "Did you mean" not in hidden.text


@pytest.mark.parametrize(
    "query",
    [
        "{ ...F0 } "
        + "".join(f"fragment F{n} on Query{{...F{n + 1}}}" for n in range(550))
        + "fragment F550 on Query { __typename }",
        "{ a " * 1_600 + "}" * 1_600,
        "{ a(b: " + "[" * 2_000 + "]" * 2_000 + ") }",
        "query ($x: " + "[" * 2_000 + "ID" + "]" * 2_000 + ") { __typename }",
    ],
    ids=["a chain of fragments", "fields", "lists", "types"],
)
async def test_what_is_nested_too_deeply_to_look_at_is_refused(api: MemoryEndpoint, query: str) -> None:
    assert code(await api.post(query)) == "LIMIT_EXCEEDED"
    assert api.memory.sent == []


@pytest.mark.parametrize(
    "query",
    [
        '{ order(orderId: "1") {' + " total" * 1_000 + "} }",
        '{ order(orderId: "1") {' + " user { name }" * 400 + "} }",
        '{ order(orderId: "1") {' + " ... { total }" * 400 + "} }",
        '{ order(orderId: "1") {'
        + "".join(f" ...F{n}" for n in range(400))
        + "} }"
        + "".join(f"fragment F{n} on Order {{ total }}" for n in range(400)),
    ],
    ids=["fields", "objects", "inline fragments", "fragments"],
)
def test_what_is_compared_each_with_each_is_bounded(api: MemoryEndpoint, query: str) -> None:
    """Within every other limit, and yet its validation would take seconds."""
    assert faults(parse(query), DocumentLimits()) == []
    with counted_calls() as count:
        assert api.endpoint.documents.get(query).code == "LIMIT_EXCEEDED"
    # graphql-core by itself calls millions
    assert count["call"] < 500_000


async def test_fragments_that_clients_put_together_may_repeat_a_field(api: MemoryEndpoint) -> None:
    fragments = "".join(f"fragment F{n} on Order {{ id orderId }} " for n in range(60))
    query = f'{{ order(orderId: "o-1052") {{ {" ".join(f"...F{n}" for n in range(60))} }} }} {fragments}'
    assert (await api.ask(query))["order"]["orderId"] == "o-1052"


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("{ " + "n" * 100_000 + " }", {}),
        ("query ($s: OrderStatus!) { ordersByStatus(status: $s) { __typename } }", {"s": "N" * 100_000}),
        (
            "mutation ($c: CreateCategoryInput!) { createCategory(input: $c) { __typename } }",
            {"c": {"categoryId": "c", "title": "t", "n" * 100_000: 1}},
        ),
    ],
    ids=["a field", "a value", "a name in an input"],
)
async def test_what_is_wrong_is_not_repeated_at_any_length(
    api: MemoryEndpoint, query: str, variables: dict[str, Any]
) -> None:
    response = await api.post(query, variables, token="acme/editor")
    assert response.json()["errors"]
    assert len(response.content) < 2_000
