"""The resolvers of fields with code, by themselves: they read what they need of an item, and raise what it holds."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.errors import Forbidden, Internal
from gateway.graph.query.reference.code_resolvers import computed, custom_query
from gateway.graph.query.reference.reader import Reader
from gateway.model.code import Computed, CustomQuery
from gateway.model.types import Integer, SetOf, Text
from gateway.store.rows import Item
from tests.model.build import thing


def item(**values: Any) -> Item:
    return Item("Thing", values, "META")


def test_a_computed_field_gets_exactly_what_it_needs() -> None:
    got: list[Any] = []

    def run(values: Any) -> int:
        got.append(values)
        return 3

    field = Computed("size", Integer(), "", needs=("label", "nick"), run=run)
    assert computed(thing(), field)(item(label="a", count=7), None) == 3
    assert got == [{"label": "a", "nick": None}]


def test_an_attribute_that_is_refused_refuses_the_field() -> None:
    field = Computed("size", Integer(), "", needs=("label",), run=lambda values: 3)
    with pytest.raises(Forbidden):
        computed(thing(), field)(item(label=Forbidden("no")), None)


def test_a_set_is_a_sorted_list() -> None:
    field = Computed("words", SetOf(Text()), "", needs=("label",), run=lambda values: {"b", "a"})
    assert computed(thing(), field)(item(label="a"), None) == ["a", "b"]


async def test_a_query_that_returns_no_list_is_a_fault_of_ours(reader: Reader) -> None:
    async def run(reader: Any, arguments: Any) -> Any:
        return "word"

    query = CustomQuery(name="words", description="", returns=Text(), many=True, run=run, cost=0)
    field = SimpleNamespace(arguments=SimpleNamespace(values=lambda variables: {}))
    context = SimpleNamespace(reader=reader, variables={}, field=lambda info: field)
    with pytest.raises(Internal, match="did not return a list"):
        await custom_query(query)(None, SimpleNamespace(context=context))
