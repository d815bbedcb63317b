"""Writes that need not know what was there before."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.demo.publishing.like import CounterName
from gateway.errors import Internal
from gateway.model.error_code import UserErrorCode
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.upserts import discard, newest, replace, tally
from gateway.store.write.writer import MutationResult, Writer
from tests.store.editing import editing, empty

NOW = datetime(2999, 3, 1, 12, tzinfo=UTC)
SHARD = {"counter": CounterName.LIKES, "subjectId": "p", "slot": 3}
ROW = ("TENANT#acme#COUNTER#LIKES#p#03", "COUNT")
NONE = MutationResult(Item("Device", {}, ""))


def reading(minutes: int = 0, value: int = 1) -> dict[str, Any]:
    at = NOW + timedelta(minutes=minutes)
    return {"deviceId": "d", "recordedAt": at, "value": value, "expiresAt": at + timedelta(days=1)}


async def record(writer: Writer, minutes: int, value: int = 1) -> None:
    change = writer.change()
    replace(change, "Reading", reading(minutes, value))
    newest(change, "LatestReading", reading(minutes, value), by="recordedAt")
    await writer.commit(change, NONE)


async def test_an_item_is_written_whether_it_is_there_or_not() -> None:
    memory = empty()
    await record(editing(memory), 0, value=1)
    await record(editing(memory), 0, value=2)
    [row] = [row for row in memory.rows.values() if row["EntityType"]["S"] == "Reading"]
    assert (row["value"], row["version"]) == ({"N": "2"}, {"N": "1"})


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
async def test_the_newest_stays_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    memory = empty()
    for minutes in order:
        await record(editing(memory), minutes, value=minutes)
    assert memory.rows["TENANT#acme#DEVICE#d", "LATEST"]["value"] == {"N": "3"}
    assert len(memory.rows) == 4, "one that came late is written without it"


async def test_a_change_of_nothing_but_what_came_late_is_no_failure() -> None:
    memory = empty()
    writer = editing(memory)
    await record(writer, 5)
    change = writer.change()
    newest(change, "LatestReading", reading(4), by="recordedAt")
    await writer.commit(change, NONE)
    await writer.commit(writer.change(), NONE)
    assert memory.rows["TENANT#acme#DEVICE#d", "LATEST"]["recordedAt"] == {"S": "2999-03-01T12:05:00.000000Z"}


async def test_what_is_needed_stands_in_the_way_although_something_else_came_late() -> None:
    memory = empty()
    writer = editing(memory)
    await record(writer, 5)
    change = writer.change()
    newest(change, "LatestReading", reading(4), by="recordedAt")
    change.require("Device", {"deviceId": "d"}, Fault(UserErrorCode.NOT_FOUND, "there is no device"))
    with pytest.raises(Rejected, match=r"^there is no device$"):
        await writer.commit(change, NONE)


async def test_adding_makes_the_item_and_loses_nothing() -> None:
    memory = empty()

    async def like() -> None:
        writer = editing(memory)
        change = writer.change()
        tally(change, "Counter", SHARD, {"count": 1})
        await writer.commit(change, NONE)

    await asyncio.gather(*(like() for _ in range(20)))
    row = memory.rows[ROW]
    assert (row["count"], row["version"], row["slot"]) == ({"N": "20"}, {"N": "20"}, {"N": "3"})
    found = await editing(memory).find("Counter", SHARD)
    assert found is not None
    assert (found.values["count"], found.values["counter"]) == (20, CounterName.LIKES)


@pytest.mark.parametrize("entity", ["Device", "Like", "PostScore"])
def test_only_what_is_a_number_is_made_by_adding(entity: str) -> None:
    with pytest.raises(Internal, match=f"{entity} is more than a number"):
        tally(editing(empty()).change(), entity, {}, {"count": 1})


async def test_what_is_discarded_is_gone_whether_it_was_there_or_not() -> None:
    memory = empty()
    writer = editing(memory)
    for _ in range(2):
        change = writer.change()
        discard(change, "LatestReading", {"deviceId": "d"})
        await writer.commit(change, NONE)
        assert memory.rows == {}
    await record(writer, 1)


@pytest.mark.parametrize("entity", ["Order", "Post", "Email"])
def test_what_has_copies_or_unique_values_is_not_replaced_unread(entity: str) -> None:
    change = editing(empty()).change()
    with pytest.raises(Internal, match="cannot be replaced unread"):
        replace(change, entity, {})
    with pytest.raises(Internal, match="cannot be replaced unread"):
        discard(change, entity, {})


async def test_some_attributes_are_read_without_the_rest() -> None:
    memory = empty()
    writer = editing(memory)
    await record(writer, 1)
    memory.sent.clear()
    # in another request: what a request has written itself, it reads consistently
    found = await editing(memory).peek("LatestReading", {"deviceId": "d"}, "value")
    assert found is not None
    assert found.values == {"value": 1}
    assert memory.sent[0][1]["ConsistentRead"] is False
    assert await writer.peek("LatestReading", {"deviceId": "nothing"}, "value") is None
