"""Bulk writes: batches of 25, sent again until all is written, and an honest count when it is not."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any

import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.errors import Forbidden, Internal, LimitExceeded, Throttled, Unavailable
from gateway.model.tenant import partition
from gateway.store.write import items, upserts
from gateway.store.write.upserts import put_all
from gateway.testing.memory import Memory
from tests.store.editing import editing, empty
from tests.store.fixtures import GLOBEX, TABLE

START = datetime(2026, 1, 31, 22, tzinfo=UTC)


def readings(count: int) -> list[dict[str, Any]]:
    return [
        {"deviceId": "d", "recordedAt": at, "value": number, "expiresAt": START + timedelta(days=9_999)}
        for number, at in enumerate(START + timedelta(minutes=number) for number in range(count))
    ]


def sizes(memory: Memory) -> list[int]:
    return [len(body["RequestItems"][TABLE]) for operation, body in memory.sent if operation == "BatchWriteItem"]


@pytest.mark.parametrize(("count", "expected"), [(0, []), (1, [1]), (25, [25]), (26, [25, 1]), (120, [25] * 4 + [20])])
async def test_items_are_written_in_batches_of_25(count: int, expected: list[int]) -> None:
    memory = empty()
    assert await editing(memory).put_all("Reading", readings(count)) == count
    assert sizes(memory) == expected
    assert len(memory.rows) == count


async def test_a_role_that_removes_nothing_puts_items_one_by_one() -> None:
    memory = empty()
    assert await editing(memory, role="editor").put_all("Reading", readings(30)) == 30
    assert [operation for operation, _ in memory.sent] == ["PutItem"] * 30
    assert len(memory.rows) == 30


async def test_items_that_are_put_one_by_one_are_counted_when_time_is_over() -> None:
    memory = empty()
    over = asyncio.get_running_loop().time() - 1
    with pytest.raises(Throttled, match="3 of 3 items were not written"):
        await editing(memory, deadline=over, role="editor").put_all("Reading", readings(3))
    assert memory.sent == []


async def test_batches_run_side_by_side_but_not_without_bounds() -> None:
    memory = empty()
    await editing(memory).put_all("Reading", readings(250))
    assert memory.most_running == 4


async def test_the_same_item_twice_is_one() -> None:
    memory = empty()
    given = readings(3)
    assert await editing(memory).put_all("Reading", [*given, *given[:2]]) == 3
    assert sizes(memory) == [3]
    assert await editing(memory).put_all("Reading", given) == 3
    assert len(memory.rows) == 3


async def test_what_was_left_is_sent_again_until_all_is_written() -> None:
    memory = empty()
    memory.left_out = iter((6, 3, 1))
    await editing(memory).put_all("Reading", readings(9))
    assert sizes(memory) == [9, 6, 3, 1]
    assert len(memory.rows) == 9


async def test_what_is_not_written_in_time_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upserts, "_SHARE", 0.02)
    memory = empty()
    memory.left_out = repeat(1)
    writer = editing(memory, deadline=asyncio.get_running_loop().time() + 20)
    with pytest.raises(Throttled) as caught:
        await writer.put_all("Reading", readings(30))
    assert caught.value.message == "2 of 30 items were not written in time; send them again"
    assert len(memory.rows) == 28
    assert asyncio.get_running_loop().time() < (writer.access.deadline or 0), "there is time left to tell"


async def test_without_a_deadline_patience_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upserts, "_PATIENCE", 0.4)
    memory = empty()
    memory.left_out = repeat(1)
    with pytest.raises(Throttled, match=r"^1 of 2 items"):
        await editing(memory).put_all("Reading", readings(2))


@pytest.mark.parametrize("error", [ThroughputExceeded("slow down"), Unavailable("gone")])
async def test_a_batch_that_fails_counts_as_not_written_and_the_others_are(error: Exception) -> None:
    memory = empty()
    memory.script["BatchWriteItem"].append(error)
    with pytest.raises(Throttled, match=r"^25 of 30 items"):
        await editing(memory).put_all("Reading", readings(30))
    assert len(memory.rows) == 5


async def test_an_item_of_another_tenant_is_never_sent() -> None:
    memory = empty()
    writer = editing(memory)
    foreign = {"PK": {"S": partition(GLOBEX, "DEVICE#d")}, "SK": {"S": "x"}}
    with pytest.raises(Forbidden):
        await put_all(writer.table, writer.access, [foreign])
    assert memory.sent == []


async def test_what_has_copies_or_unique_values_is_not_written_in_bulk() -> None:
    for entity in ("Order", "Email"):
        with pytest.raises(Internal, match=f"{entity} has copies or unique values"):
            await editing(empty()).put_all(entity, [{}])


async def test_an_item_that_is_too_large_is_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = empty()
    monkeypatch.setattr(items, "MAX_ITEM_BYTES", 500)
    small = {"authorId": "a", "penName": "x"}
    with pytest.raises(LimitExceeded):
        await editing(memory).put_all("Author", [small, {"authorId": "b", "penName": "x" * 200, "bio": "x" * 400}])
    assert sizes(memory) == []
    assert await editing(memory).put_all("Author", [small]) == 1
    assert sizes(memory) == [1]
