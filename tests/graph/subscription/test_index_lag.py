"""An index shows changes late: what a page of it lacks is reported with the page, or by a later page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.subscription import cohort as cohort_room
from gateway.graph.subscription import interest as interest_room
from gateway.store.index_lag import INDEX_LAG_SECONDS
from gateway.stream.bus import InProcessBus
from gateway.testing.notes import NotesOfMemory
from gateway.testing.services import TABLE
from tests.graph.fixtures import DEMO_SHOP
from tests.graph.subscription.shop import ACTIVE, ITEM, PLACE, Shop, shop
from tests.store.lagging_memory import LaggingMemory

PAGE = "subscription { activeOrdersChanged(first: 100) { page { nodes { orderId status } } } }"
CHANGES = "subscription { activeOrdersChanged { changes { kind nodeId node { orderId status } } } }"
LAG = 0.4  # seconds


class LateShop(Shop):
    memory: LaggingMemory

    async def delivered_late(self) -> str:
        """An order that has left the list of active orders, though the index still has it."""
        order = await self.order()
        self.memory.fall_behind()
        for status in ("SHIPPED", "DELIVERED"):
            await self.set_status(order["orderId"], status)
        return str(order["orderId"])

    def catch_up(self) -> None:
        self.memory.replica = None


@asynccontextmanager
async def late_shop(bus: InProcessBus | None = None) -> AsyncIterator[LateShop]:
    bus = bus or InProcessBus()
    memory = LaggingMemory(MODEL.table, TABLE, rows=dict(DEMO_SHOP.rows))
    memory.on_change = NotesOfMemory(MODEL.table, bus).publish
    async with shop(bus, memory) as served:
        yield LateShop(served.gateway, memory, bus, served.client, served.log, served.lines)


def _shown(event: dict[str, Any]) -> set[str]:
    return {node["orderId"] for node in event["data"]["activeOrdersChanged"]["page"]["nodes"]}


def _kinds(event: dict[str, Any]) -> list[str]:
    return [change["kind"] for change in event["data"]["activeOrdersChanged"]["changes"]]


async def test_a_change_that_the_index_does_not_show_yet_is_reported_with_the_page() -> None:
    async with late_shop() as served:
        user = (await served.order())["userId"]
        served.memory.fall_behind()
        placed = (await served.client.mutate(PLACE, {"user": user}))["placeOrder"]["order"]
        async with served.watch(ACTIVE) as events:
            first = await events.next()
            assert placed["orderId"] not in _shown(first)
            [change] = first["data"]["activeOrdersChanged"]["changes"]
            assert (change["kind"], change["nodeId"], change["node"]["status"]) == ("ADDED", placed["id"], "PENDING")
            await events.silence()


async def test_the_changes_are_read_after_the_page_and_the_page_once() -> None:
    async with late_shop() as served:
        await served.delivered_late()
        async with served.watch(ACTIVE) as events:
            before = len(served.memory.sent)
            await events.next()
            assert [operation for operation, _ in served.memory.sent[before:]] == [*["Query"] * 4, "GetItem"]


async def test_an_item_that_the_index_still_shows_is_reported_as_removed() -> None:
    async with late_shop() as served:
        order = await served.delivered_late()
        async with served.watch(ACTIVE) as events:
            first = await events.next()
            assert order in _shown(first)
            assert _kinds(first) == ["REMOVED"]


async def test_the_position_of_such_a_page_includes_its_changes() -> None:
    async with late_shop() as served:
        await served.delivered_late()
        async with served.watch(ACTIVE) as events:
            position = (await events.next())["extensions"]["position"]
        async with served.watch(ACTIVE, after=position) as events:
            await events.silence()


async def test_a_subscriber_that_selects_only_changes_receives_the_recent_ones_first() -> None:
    async with late_shop() as served:
        await served.delivered_late()
        async with served.watch(CHANGES) as events:
            assert _kinds(await events.next()) == ["REMOVED"]


async def test_changes_that_every_index_shows_by_now_are_not_repeated() -> None:
    now = [0.0]
    async with late_shop(InProcessBus(clock=lambda: now[0])) as served:
        await served.delivered_late()
        served.catch_up()
        now[0] += INDEX_LAG_SECONDS + 1
        async with served.watch(ACTIVE) as events:
            assert _kinds(await events.next()) == []


async def test_nobody_is_told_of_recent_changes_of_another_tenant() -> None:
    async with late_shop() as served:
        await served.delivered_late()
        async with served.watch(ACTIVE, tenant="globex") as events:
            assert _kinds(await events.next()) == []


async def test_a_subscriber_that_joins_later_shares_neither_the_page_nor_its_changes_but_misses_nothing() -> None:
    async with late_shop() as served, served.watch(ACTIVE) as events:
        assert _kinds(await events.next()) == []
        await served.delivered_late()
        assert _kinds(await events.next()) == ["REMOVED"]
        async with served.watch(ACTIVE) as later:
            assert _kinds(await later.next()) == ["REMOVED"]
        await events.silence()


# pages that cannot name the changes which they may lack


async def test_a_subscriber_that_selects_only_the_page_receives_it_again_once_the_index_shows_the_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cohort_room, "INDEX_LAG_SECONDS", LAG)
    async with late_shop() as served, served.watch(PAGE) as events:
        first = await events.next()
        order = await served.delivered_late()
        await asyncio.sleep(LAG / 2)
        assert order in _shown(first)
        served.catch_up()
        assert _shown(await events.next()) == _shown(first) - {order}
        await events.silence(2 * LAG)  # it was read again, and has not changed


async def test_a_subscriber_that_comes_back_from_a_page_that_may_lack_changes_gets_the_page_of_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cohort_room, "INDEX_LAG_SECONDS", LAG)
    async with late_shop() as served:
        order = await served.delivered_late()
        async with served.watch(PAGE) as events:
            first = await events.next()
            assert order in _shown(first)
        served.catch_up()
        async with served.watch(PAGE, after=first["extensions"]["position"]) as events:
            second = await events.next()
            assert order not in _shown(second)
            await events.silence(2 * LAG)
        async with served.watch(PAGE, after=second["extensions"]["position"]) as events:
            await events.silence()


async def test_more_changes_than_an_event_may_have_are_reported_by_a_later_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cohort_room, "INDEX_LAG_SECONDS", LAG)
    monkeypatch.setattr(interest_room, "MOST_CHANGES", 0)
    async with late_shop() as served:
        order = await served.delivered_late()
        async with served.watch(ACTIVE) as events:
            first = await events.next()
            assert (order in _shown(first), _kinds(first)) == (True, [])
            served.catch_up()
            assert order not in _shown(await events.next())
            await events.silence(2 * LAG)


@pytest.mark.parametrize("changed", [False, True])
async def test_a_process_that_does_not_know_the_last_changes_reports_the_page_again(
    monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    """A change of something else, which is reported in between, says nothing about the page."""
    monkeypatch.setattr(cohort_room, "INDEX_LAG_SECONDS", LAG)
    async with late_shop() as served:
        orders = (await served.client.query("{ activeOrders { nodes { orderId status } } }"))["activeOrders"]["nodes"]
        other = next(each["orderId"] for each in orders if each["status"] == "SHIPPED")
        order = await served.delivered_late()
        await served.bus.gap()  # from now on, as if this process had just connected to the bus
        async with served.watch(ACTIVE) as events:
            event = await events.next()
            assert (order in _shown(event), _kinds(event)) == (True, [])
            if changed:
                await served.set_status(other, "DELIVERED")
                event = await events.next()
                assert _kinds(event) == ["REMOVED"]
        served.catch_up()
        async with served.watch(ACTIVE, after=event["extensions"]["position"]) as events:
            assert _shown(await events.next()).isdisjoint({order, *([other] if changed else ())})


async def test_an_item_is_read_from_the_table_and_never_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cohort_room, "INDEX_LAG_SECONDS", LAG)
    async with late_shop() as served:
        order = await served.delivered_late()
        async with served.watch(ITEM, {"id": order}) as events:
            assert (await events.next())["data"]["orderChanged"]["status"] == "DELIVERED"
            await events.silence(2 * LAG)
