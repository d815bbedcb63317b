"""A cohort is kept, and tells everybody everything, while subscribers come and go at any moment."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from gateway.graph.subscription import cohort as cohort_room
from gateway.graph.subscription.event_reader import EventReader
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from tests.graph.subscription.shop import ITEM, LIST, shop


class HeldReplays(InProcessBus):
    """Answers replays on demand, as a bus that is slow to come back."""

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Event()
        self.released = asyncio.Event()

    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        self.held.set()
        await self.released.wait()
        return await super().replay(tenant, after)


async def test_a_subscriber_that_joins_while_the_last_member_leaves_receives_changes() -> None:
    bus = HeldReplays()
    async with shop(bus) as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with AsyncExitStack() as staying:
            events = await staying.enter_async_context(served.watch(ITEM, variables))
            position = (await events.next())["extensions"]["position"]
            async with served.watch(ITEM, variables, after=position) as returning:
                next_event = asyncio.ensure_future(returning.next())
                await bus.held.wait()
                await staying.aclose()
                bus.released.set()
                await served.set_status(order["orderId"], "SHIPPED")
                assert (await next_event)["data"]["orderChanged"]["status"] == "SHIPPED"
    assert served.subscriptions.cohorts == 0


async def test_a_subscriber_that_gives_up_does_not_take_the_cohort_from_one_that_joins() -> None:
    bus = HeldReplays()
    async with shop(bus) as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with served.watch(ITEM, variables) as events:
            position = (await events.next())["extensions"]["position"]
        async with AsyncExitStack() as impatient:
            await impatient.enter_async_context(served.watch(ITEM, variables, after=position))
            await bus.held.wait()
            bus.held.clear()
            async with served.watch(ITEM, variables, after=position) as patient:
                next_event = asyncio.ensure_future(patient.next())
                await bus.held.wait()
                await impatient.aclose()
                bus.released.set()
                await served.set_status(order["orderId"], "SHIPPED")
                assert (await next_event)["data"]["orderChanged"]["status"] == "SHIPPED"


async def test_a_first_value_is_not_shared_once_a_later_change_was_reported(monkeypatch: Any) -> None:
    """The newcomer would have neither: the read began before the change, and the event went to the others."""
    whole, slow, begun = EventReader.read, asyncio.Event(), list[None]()

    async def read(self: EventReader, *given: Any) -> Any:
        payload = await whole(self, *given)
        begun.append(None)
        if len(begun) == 2:  # the present state, which is read for nobody yet
            await slow.wait()
        return payload

    monkeypatch.setattr(EventReader, "read", read)
    async with shop() as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with served.watch(ITEM, variables) as events:
            await events.next()
            [cohort] = served.subscriptions._cohorts.values()
            shared = asyncio.ensure_future(cohort.present())
            await asyncio.sleep(0)
            await served.set_status(order["orderId"], "SHIPPED")
            assert (await events.next())["data"]["orderChanged"]["status"] == "SHIPPED"
            async with served.watch(ITEM, variables) as newcomer:
                slow_to_come = asyncio.ensure_future(newcomer.next())
                await asyncio.sleep(0.05)
                slow.set()
                assert (await slow_to_come)["data"]["orderChanged"]["status"] == "SHIPPED"
            await shared


async def test_changes_during_a_replay_reach_the_subscriber_that_comes_back() -> None:
    """The others receive it at once; a subscriber that waits for the bus must not miss it."""
    bus = HeldReplays()
    async with shop(bus) as served:
        order = await served.order()
        variables = {"user": order["userId"]}
        async with served.watch(LIST, variables) as staying:
            position = (await staying.next())["extensions"]["position"]
            async with served.watch(LIST, variables, after=position) as returning:
                next_event = asyncio.ensure_future(returning.next())
                await bus.held.wait()
                await served.set_status(order["orderId"], "SHIPPED")
                [change] = (await staying.next())["data"]["ordersOfUserChanged"]["changes"]
                bus.released.set()
                assert (await next_event)["data"]["ordersOfUserChanged"]["changes"] == [change]
                assert change["node"]["status"] == "SHIPPED"


async def test_a_subscriber_that_comes_back_while_a_change_waits_receives_it_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(cohort_room, "COALESCED_SECONDS", 0.2)
    async with shop() as served:
        order = await served.order()
        variables = {"user": order["userId"]}
        async with served.watch(LIST, variables) as staying:
            position = (await staying.next())["extensions"]["position"]
            await served.set_status(order["orderId"], "SHIPPED")
            async with served.watch(LIST, variables, after=position) as returning:
                [change] = (await returning.next())["data"]["ordersOfUserChanged"]["changes"]
                assert change["node"]["status"] == "SHIPPED"
                await returning.silence(0.5)


async def test_a_subscriber_that_gives_up_while_a_position_is_replayed_leaves_nothing_behind() -> None:
    bus = HeldReplays()
    async with shop(bus) as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with served.watch(ITEM, variables) as events:
            position = (await events.next())["extensions"]["position"]
        async with served.watch(ITEM, variables, after=position):
            await bus.held.wait()
        assert (served.subscriptions.active, served.subscriptions.cohorts) == (0, 0)
