"""Pages of an index that lags behind the caller's own writes: read through the table, waited for, or reported."""

from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway.errors import Forbidden
from gateway.model.keys import ItemKey
from gateway.model.patterns import Lag
from gateway.model.table import Index
from gateway.model.tenant import TenantId
from gateway.store import index_lag
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.store.index_lag import LaggingIndex
from gateway.store.key_ranges import KeyRange
from gateway.store.own_writes import OwnWrites
from gateway.store.plan import QueryPartition

INDEX = Index("GSI1", "GSI1PK", "GSI1SK")
NAMES = ("PK", "SK", "GSI1SK", "title")
PLAN = QueryPartition(TenantId("acme"), INDEX, "L", KeyRange(), True, 3, frozenset())


def row(name: str, place: str = "L", **more: Any) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": "X"}, "GSI1PK": {"S": place}, "GSI1SK": {"S": name}, **more}


def key(name: str) -> ItemKey:
    return ItemKey(name, "X")


def own(*names: str, place: str | None = "L") -> OwnWrites:
    writes = [Written(key(name), (WrittenPlace("GSI1", place, name),) if place else ()) for name in names]
    return OwnWrites().plus(writes, 100)


@dataclass
class LaggingTable:
    """An index with its own rows, which it takes from the table after so many pages."""

    table: dict[ItemKey, dict[str, Any]]
    indexed: list[dict[str, Any]]
    pages_until_caught_up: int = 10**9
    calls: list[str] = field(default_factory=list)

    async def page(self, plan: QueryPartition) -> list[dict[str, Any]]:
        self.calls.append("Query")
        self.pages_until_caught_up -= 1
        rows = self.indexed if self.pages_until_caught_up >= 0 else list(self.table.values())
        here = [each for each in rows if each["GSI1PK"]["S"] == plan.partition]
        here.sort(key=lambda each: each["GSI1SK"]["S"], reverse=not plan.forward)
        return [{name: value for name, value in each.items() if name != "GSI1PK"} for each in here[: plan.limit]]

    async def items(self, keys: Set[ItemKey]) -> dict[ItemKey, dict[str, Any]]:
        self.calls.append("BatchGetItem")
        return {each: dict(self.table[each]) for each in keys if each in self.table}

    async def read(self, writes: OwnWrites, lag: Lag, plan: QueryPartition = PLAN) -> tuple[list[str], bool]:
        index = LaggingIndex(self.page, self.items, lambda each: ItemKey(each["PK"]["S"], each["SK"]["S"]), NAMES)
        rows, complete = await index.read(plan, writes, lag)
        return [each["PK"]["S"] for each in rows], complete


def lagging_table(now: list[dict[str, Any]], before: list[dict[str, Any]], caught_up: int = 10**9) -> LaggingTable:
    return LaggingTable({key(each["PK"]["S"]): each for each in now}, before, caught_up)


A, B, C, D, E = (row(name) for name in "abcde")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_lag, "_PAUSES", (0, 0, 0))


async def test_a_new_item_is_put_in_its_place() -> None:
    found = lagging_table([A, B, C], [A, C])
    assert await found.read(own("b"), "through_table") == (["a", "b", "c"], True)
    assert found.calls == ["Query", "BatchGetItem"]
    backwards = lagging_table([A, B, C], [A, C])
    assert await backwards.read(own("b"), "through_table", replace(PLAN, forward=False)) == (["c", "b", "a"], True)


async def test_what_was_removed_or_has_moved_leaves_the_page_and_the_page_stays_full() -> None:
    moved = lagging_table([row("a", "M"), C, D, E], [A, B, C, D, E])
    assert await moved.read(own("a", "b", place=None), "through_table") == (["c", "d", "e"], True)


async def test_an_item_behind_the_page_does_not_slip_onto_it() -> None:
    full = lagging_table([A, B, C, D, E], [A, B, C, D])
    assert await full.read(own("e"), "through_table") == (["a", "b", "c"], True)


async def test_a_changed_item_is_shown_as_it_is_now() -> None:
    now = row("b", title={"S": "new"})
    found = lagging_table([A, now], [A, B])
    index = LaggingIndex(found.page, found.items, lambda each: ItemKey(each["PK"]["S"], each["SK"]["S"]), NAMES)
    rows, _ = await index.read(PLAN, own("b", place=None), "through_table")
    assert rows[1]["title"] == {"S": "new"}


async def test_nothing_more_is_read_where_no_own_write_is_near() -> None:
    found = lagging_table([A, B], [A, B])
    assert await found.read(own("z", place="M"), "through_table") == (["a", "b"], True)
    assert found.calls == ["Query"]


async def test_waiting_ends_when_the_index_shows_the_item() -> None:
    found = lagging_table([A, B, C], [A, C], caught_up=2)
    assert await found.read(own("b"), "wait") == (["a", "b", "c"], True)
    assert found.calls.count("Query") == 3


async def test_waiting_is_bounded_and_then_reported() -> None:
    found = lagging_table([A, B, C], [A, C])
    assert await found.read(own("b"), "wait") == (["a", "c"], False)
    assert found.calls.count("Query") == 4


async def test_saying_so_costs_nothing() -> None:
    found = lagging_table([A, B, C], [A, C])
    assert await found.read(own("b"), "say") == (["a", "c"], False)
    assert found.calls == ["Query"]


@pytest.mark.parametrize("lag", ["through_table", "wait"])
async def test_writes_without_known_keys_are_reported(lag: Lag) -> None:
    found = lagging_table([A, B], [A])
    assert await found.read(OwnWrites().plus(None, 100), lag) == (["a"], False)


async def test_a_role_that_may_not_read_the_keys_of_the_index_is_reported() -> None:
    class Refusing(LaggingTable):
        async def items(self, keys: Set[ItemKey]) -> dict[ItemKey, dict[str, Any]]:
            raise Forbidden("not for you")

    found = Refusing({key("b"): B}, [A])
    assert await found.read(own("b"), "through_table") == (["a"], False)
