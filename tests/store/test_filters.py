"""Filters: as expressions, and as pages that skip nothing however little each of them may read."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import BadUserInput
from gateway.model.filters import FILTER, Filter, filter_of
from gateway.store.access import Access
from gateway.store.filters import Reading, Stretch, filter_expression, merged_stretches
from gateway.store.plan import Window, plan_listing
from gateway.store.read_through import Page
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.store.write.items import items_for
from gateway.testing.memory import Memory
from tests.drawn import drawn
from tests.store.fixtures import ACME, MODEL, NOW, TABLE, THING, Colour, no_renewal, session


def thing_filter(**attributes: Any) -> Filter:
    found = filter_of(attributes)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("attributes", "text", "values"),
    [
        ({"colour": {"eq": Colour.RED}}, "#f0 = :f0", [{"S": "RED"}]),
        ({"colour": {"in": [Colour.RED, Colour.BLUE]}}, "#f0 IN (:f0,:f1)", [{"S": "RED"}, {"S": "BLUE"}]),
        ({"weight": {"gt": Decimal(1), "le": Decimal(2)}}, "#f0 > :f0 AND #f0 <= :f1", [{"N": "1"}, {"N": "2"}]),
        ({"weight": {"between": {"from": Decimal(1), "to": None}}}, "#f0 >= :f0", [{"N": "1"}]),
        ({"words": {"contains": "a"}}, "contains(#f0, :f0)", [{"S": "a"}]),
        ({"open": {"eq": True}, "kind": {"eq": "k"}}, "#f0 = :f0 AND #f1 = :f1", [{"S": "k"}, {"BOOL": True}]),
    ],
)
def test_comparisons_as_an_expression(attributes: dict[str, Any], text: str, values: list[Any]) -> None:
    made = filter_expression(THING, thing_filter(**attributes), 10)
    assert (made.text, list(made.values.values()), made.reads) == (text, values, 10)
    assert set(made.names.values()) == set(attributes)


@pytest.mark.parametrize("wrong", [{"in": []}, {"in": ["k"] * 51}, {"beginsWith": ""}, {"eq": "no id"}])
def test_values_that_cannot_be_compared_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadUserInput):
        filter_expression(THING, thing_filter(kind=wrong), 10)


def test_a_filter_that_compares_nothing_is_none() -> None:
    assert filter_of({}) is None
    assert filter_of({"colour": None, "kind": {}, "open": {"eq": None}}) is None


def test_a_page_reads_twice_as_much_each_time_up_to_what_it_may() -> None:
    reading, steps = Reading(5, 30), []
    while count := reading.next():
        steps.append(count)
        reading.read(count)
    assert steps == [5, 10, 15]


def test_nothing_is_shown_beyond_the_place_that_every_shard_has_reached() -> None:
    shards = [Stretch(["a", "d"], "e"), Stretch(["b", "c", "f"], None), Stretch([], "c")]
    assert merged_stretches(shards, str, forward=True, limit=5) == (["a", "b", "c"], True, "c")
    assert merged_stretches(shards, str, forward=True, limit=2) == (["a", "b"], True, None)
    assert merged_stretches([Stretch(["a"], None)], str, forward=True, limit=1) == (["a"], False, None)


TIMESTAMPS = st.integers(0, 6).map(lambda number: NOW - timedelta(hours=number))
NAMES = st.from_regex(r"[a-z0-9]{1,3}", fullmatch=True)


@settings(max_examples=drawn(40, 10))
@given(
    st.dictionaries(NAMES, st.tuples(TIMESTAMPS, st.booleans()), max_size=25),
    st.integers(1, 5),
    st.integers(3, 12),
    st.booleans(),
    st.booleans(),
)
async def test_pages_of_a_filtered_list_are_all_that_match(
    found: dict[str, tuple[datetime, bool]], size: int, reads: int, backward: bool, reverse: bool
) -> None:
    memory = Memory(MODEL.table, TABLE)
    for name, (at, is_open) in found.items():
        memory.put(items_for(MODEL, THING, ACME, {"thingId": name, "kind": "k", "at": at, "open": is_open}))
    table = Table(memory, MODEL, no_renewal, Rows(MODEL, clock=NOW.timestamp))
    listing = replace(MODEL.listing("thingsOfKind"), max_read=reads)

    async def page(position: str | None) -> Page:
        window = Window(size, None if backward else position, position if backward else None, backward, reverse)
        arguments = {"kind": "k", FILTER: thing_filter(open={"eq": True})}
        memory.sent.clear()
        plan = plan_listing(MODEL, listing, ACME, arguments, window, frozenset({"thingId"}))
        read = await table.query(Access(session()), plan)
        assert sum(body["Limit"] for _, body in memory.sent) <= reads
        return read

    seen: list[str] = []
    position = None
    for _ in range(200):
        part = await page(position)
        names = [item.values["thingId"] for item in part.items]
        seen = names + seen if backward else seen + names
        if not part.more:
            break
        position = part.reached or part.items[0 if backward else -1].position
    else:
        raise AssertionError("the pages do not end")
    open_things = [name for name, (_, is_open) in found.items() if is_open]
    order = sorted(open_things, key=lambda name: (found[name][0], name), reverse=not reverse)
    assert seen == order
