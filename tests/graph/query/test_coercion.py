"""Values of variables: read as graphql-core coerces them, or left to it."""

import random
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, GraphQLInputType, GraphQLNonNull, Undefined, build_schema
from graphql.utilities import coerce_input_value

from gateway.graph.query.coercion import Unusual, reader
from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA

_TYPES = [kind for kind in core_schema(SCHEMA).type_map.values() if isinstance(kind, GraphQLInputObjectType)]
_SMALL: list[Any] = [
    None, "", "a", "EUR", "REVIEW", "12.50", "2026-11-01T12:00:00Z", 0, 7, 2**31, 1.5, True, [], ["a"], [None], {},
    {"a": 1},
]  # fmt: skip


_RIGHT: dict[str, Any] = {"Int": 7, "Decimal": "12.50", "DateTime": "2026-11-01T12:00:00Z", "Boolean": True}


def _value(rng: random.Random, kind: Any) -> Any:
    """Mostly of the right form, sometimes of any."""
    if isinstance(kind, GraphQLNonNull):
        return _value(rng, kind.of_type)
    if rng.random() < 0.05:
        return rng.choice(_SMALL)
    if isinstance(kind, GraphQLInputObjectType):
        given = {name: _value(rng, field.type) for name, field in kind.fields.items() if rng.random() < 0.8}
        return given | ({"unknown": 1} if rng.random() < 0.03 else {})
    if hasattr(kind, "of_type"):
        return [_value(rng, kind.of_type) for _ in range(rng.randrange(3))]
    values = getattr(kind, "values", None)
    return rng.choice(list(values)) if values else _RIGHT.get(kind.name, "a")


def test_what_is_read_is_what_graphql_core_makes_of_it() -> None:
    rng, agreed = random.Random(7), 0
    for kind in _TYPES:
        read = reader(kind)
        assert read is not None, kind.name
        for _ in range(150):
            value = _value(rng, kind)
            try:
                found = read(value)
            except Unusual:
                continue
            expected = coerce_input_value(value, kind)
            assert found == expected, (kind.name, value)
            assert repr(found) == repr(expected), (kind.name, value)  # the order of the members, and True is not 1
            agreed += 1
    assert agreed > 20 * len(_TYPES)


@pytest.mark.parametrize("value", ["x", 5, {"id": None}, {"id": "a", "other": 1}, {}, {"id": ["a"]}])
def test_what_graphql_core_refuses_is_left_to_it(value: Any) -> None:
    kind = _type("input Given { id: ID! }")
    read = reader(GraphQLNonNull(kind))
    assert read is not None
    assert coerce_input_value(value, GraphQLNonNull(kind)) is Undefined
    with pytest.raises(Unusual):
        read(value)


@pytest.mark.parametrize(
    "declared",
    ["input Given { id: ID, again: Given }", 'input Given { id: ID = "a" }', "input Given @oneOf { id: ID, no: Int }"],
)
def test_a_type_with_more_than_values_is_left_to_graphql_core(declared: str) -> None:
    assert reader(_type(declared)) is None


def test_one_value_for_a_list_is_left_to_graphql_core() -> None:
    kind = _type("input Given { ids: [ID!] }")
    read = reader(kind)
    assert read is not None
    assert read({"ids": ["a", "b"]}) == {"ids": ["a", "b"]}
    with pytest.raises(Unusual):
        read({"ids": "a"})


def _type(declared: str) -> Any:
    kind: GraphQLInputType = build_schema(f"type Query {{ a: Int }} {declared}").type_map["Given"]  # type: ignore[assignment]
    return kind
