"""One call for all items that are asked for in one turn of the loop, and none once the request has ended."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.graph.query.code import LoadedCode
from gateway.graph.query.reference.reader import Reader
from gateway.model.code import Loaded
from gateway.model.types import Integer

Make = Callable[..., Awaitable[Reader]]


def code(calls: list[int]) -> LoadedCode:
    async def load(reader: Any, rows: list[Any]) -> list[Any]:
        calls.append(len(rows))
        return [KeyError("none") if row["userId"] == "bad" else len(row["userId"]) for row in rows]

    return LoadedCode("User", Loaded("size", Integer(), "", needs=("userId",), load=load))


async def test_items_of_one_turn_are_one_call_and_equal_ones_one_row(reader: Reader) -> None:
    calls: list[int] = []
    loaded = code(calls)
    jobs = [reader.derived.load(loaded, {"userId": name}, {}) for name in ("a", "bb", "a", "bad")]
    found = await asyncio.gather(*jobs, return_exceptions=True)
    assert found[:3] == [1, 2, 1]
    assert isinstance(found[3], KeyError)
    assert calls == [3]


async def test_what_is_known_is_not_loaded_again_until_something_changes(reader: Reader) -> None:
    calls: list[int] = []
    loaded = code(calls)
    for _ in range(2):
        assert await reader.derived.load(loaded, {"userId": "a"}, {}) == 1
    assert calls == [1]
    reader.changed(None)
    assert await reader.derived.load(loaded, {"userId": "a"}, {}) == 1
    assert calls == [1, 1]


async def test_a_request_that_has_ended_loads_nothing(reader: Reader) -> None:
    calls: list[int] = []
    derived = reader.derived
    reader.close()
    with pytest.raises((asyncio.CancelledError, TimeoutError)):
        await asyncio.wait_for(derived.load(code(calls), {"userId": "a"}, {}), 1)
    assert calls == []
