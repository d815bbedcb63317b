"""The change feed tells each caller the changes that it may see, and goes on from a position."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from gateway.errors import BadUserInput, GatewayError, PositionExpired
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.subscription import change_feed
from gateway.graph.subscription.change_feed import FeedChange
from gateway.model.tenant import TenantId
from tests.graph.subscription.shop import PLACE, Shop, bearer, shop

PATIENCE = 10.0


class Reading:
    def __init__(self, changes: AsyncIterator[FeedChange | str]) -> None:
        self._changes = changes
        self.position = ""

    async def next(self) -> FeedChange:
        async with asyncio.timeout(PATIENCE):
            while True:
                change = await anext(self._changes)
                if isinstance(change, FeedChange):
                    self.position = change.position
                    return change
                self.position = change

    async def until_idle(self) -> list[FeedChange]:
        """The changes until a position says that there are no more."""
        found: list[FeedChange] = []
        async with asyncio.timeout(PATIENCE):
            while isinstance(change := await anext(self._changes), FeedChange):
                found.append(change)
            self.position = change
        return found


async def _follow(
    served: Shop, tenant: str = "acme", role: str = "viewer", subject: str | None = None, after: str | None = None
) -> Any:
    token = bearer(tenant, role, subject).encode()
    lasting = await served.gateway.streaming.socket.callers.lasting(b"Bearer " + token, lambda principal: None)
    changes = served.gateway.streaming.changes.feed.follow(lasting, RequestLog("r", "t"), after, 0.3)
    return aclosing(changes)


async def _to_the_end(changes: AsyncIterator[FeedChange | str]) -> None:
    async for _ in changes:
        pass


async def test_changes_come_with_the_item_as_it_is() -> None:
    async with shop() as served, await _follow(served) as changes:
        reading = Reading(changes)
        assert await reading.until_idle() == []
        order = await served.order()
        await served.set_status(order["orderId"], "SHIPPED")
        received = await reading.until_idle()
        [change] = [each for each in received if each.type == "Order"]
        assert change.item is not None
        assert (change.kind, change.item["status"], change.item["orderId"]) == ("changed", "SHIPPED", order["orderId"])
        assert {each.type for each in received} == {"Order", "OrderEvent"}


async def test_it_resumes_after_a_position_and_sends_each_item_once() -> None:
    async with shop() as served:
        order = await served.order()
        async with await _follow(served) as changes:
            reading = Reading(changes)
            await reading.until_idle()
        await served.set_status(order["orderId"], "SHIPPED")
        await served.set_status(order["orderId"], "DELIVERED")
        async with await _follow(served, after=reading.position) as changes:
            again = Reading(changes)
            assert isinstance(await anext(changes), str)
            [change] = [each for each in await again.until_idle() if each.type == "Order"]
            assert change.item is not None
            assert change.item["status"] == "DELIVERED"
        async with await _follow(served, after=again.position) as changes:
            assert isinstance(await anext(changes), str)
            assert await Reading(changes).until_idle() == []


async def test_a_role_is_told_what_it_may_read_and_no_attribute_more() -> None:
    async with shop() as served, await _follow(served, role="support") as changes:
        reading = Reading(changes)
        await reading.until_idle()
        order = await served.order()
        await served.set_status(order["orderId"], "SHIPPED")
        [change] = [each for each in await reading.until_idle() if each.type == "Order"]
        assert change.item is not None
        assert "status" in change.item
        assert "note" not in change.item


@pytest.mark.parametrize(("subject", "expected"), [("own", True), ("u-1002", False)])
async def test_a_role_of_own_rows_receives_its_own_changes(subject: str, expected: bool) -> None:
    """`User` lies in the partition of its subject: a change of another's is not sent."""
    async with shop() as served:
        subject = "u-1001" if subject == "own" else subject
        async with await _follow(served, role="customer", subject=subject) as changes:
            reading = Reading(changes)
            await reading.until_idle()
            before = dict(served.memory.rows)
            key = ("TENANT#acme#USER#u-1001", "PROFILE")
            served.memory.rows[key] = {**before[key], "version": {"N": "99"}}
            assert served.memory.on_change is not None
            await served.memory.on_change(before, served.memory.rows)
            found = await reading.until_idle()
            assert [each.type for each in found] == (["User"] if expected else [])


async def test_another_tenants_changes_are_not_reported() -> None:
    async with shop() as served, await _follow(served, tenant="globex") as changes:
        reading = Reading(changes)
        await reading.until_idle()
        await served.set_status((await served.order())["orderId"], "SHIPPED")
        assert await reading.until_idle() == []


async def test_what_is_gone_is_reported_without_values() -> None:
    async with shop() as served, await _follow(served) as changes:
        reading = Reading(changes)
        await reading.until_idle()
        before = dict(served.memory.rows)
        order = await served.order()
        del served.memory.rows[f"TENANT#acme#ORDER#{order['orderId']}", "META"]
        assert served.memory.on_change is not None
        await served.memory.on_change(before, served.memory.rows)
        change = await reading.next()
        assert (change.kind, change.type, change.item) == ("removed", "Order", None)
        assert "item" not in change.line()


async def test_what_has_no_room_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "MOST_NOTES", 1)
    async with shop() as served, await _follow(served) as changes:
        reading = Reading(changes)
        await reading.until_idle()
        user = (await served.order())["userId"]
        placed = [(await served.client.mutate(PLACE, {"user": user}))["placeOrder"]["order"] for _ in range(3)]
        orders = [each.item["orderId"] for each in await reading.until_idle() if each.type == "Order" and each.item]
        assert orders == [each["orderId"] for each in placed]


@pytest.mark.parametrize("after", ["nonsense", "", "x" * 100_000])
async def test_a_forged_position_is_refused(after: str) -> None:
    async with shop() as served, await _follow(served, after=after) as changes:
        with pytest.raises(BadUserInput, match="position"):
            await anext(changes)


async def test_a_position_is_good_for_its_tenant_and_subject_alone() -> None:
    async with shop() as served:
        async with await _follow(served) as changes:
            position = await anext(changes)
        async with await _follow(served, role="customer", subject="u-1001") as changes:
            own = await anext(changes)
        strangers = [("globex", "viewer", None, position), ("acme", "customer", "u-1002", own)]
        for tenant, role, subject, after in strangers:
            async with await _follow(served, tenant, role, subject, after) as changes:
                with pytest.raises(BadUserInput, match="position"):
                    await anext(changes)


async def test_changes_that_are_no_longer_kept_end_it() -> None:
    async with shop() as served:
        async with await _follow(served) as changes:
            position = await anext(changes)
            await served.bus.gap()
            with pytest.raises(PositionExpired):
                await _to_the_end(changes)
        await served.set_status((await served.order())["orderId"], "SHIPPED")
        await served.bus.gap()
        async with await _follow(served, after=position) as changes:
            with pytest.raises(PositionExpired, match="start again without a position"):
                await anext(changes)


async def test_a_suspended_tenant_ends_it() -> None:
    async with shop() as served, await _follow(served) as changes:
        await anext(changes)
        served.gateway.sessions.suspend(TenantId("acme"))
        with pytest.raises(GatewayError, match="suspended"):
            await _to_the_end(changes)


async def test_a_role_of_own_rows_is_not_told_that_another_subjects_item_is_gone() -> None:
    async with shop() as served, await _follow(served, role="customer", subject="u-1001") as changes:
        reading = Reading(changes)
        await reading.until_idle()
        before = dict(served.memory.rows)
        for user in ("u-1001", "u-1002"):
            del served.memory.rows[f"TENANT#acme#USER#{user}", "PROFILE"]
        assert served.memory.on_change is not None
        await served.memory.on_change(before, served.memory.rows)
        assert [each.kind for each in await reading.until_idle()] == ["removed"]
