"""A subscriber that comes back with a position, at any process and time, misses nothing and receives nothing twice."""

import asyncio
from typing import Any

import orjson
import pytest

from gateway.graph.subscription import cohort as cohort_room
from gateway.graph.subscription.event_reader import EventReader, WatchFailed
from gateway.testing.subscriber import SubscriptionFailed
from tests.graph.subscription.shop import ITEM, LIST, shop
from tests.graph.subscription.two_processes import Processes, shard_of, two_processes
from tests.stream.streaming import until

LONG = 0.5  # seconds in which changes become one event, where a process is slow to tell its own subscribers


def _orders(processes: Processes, count: int = 2) -> tuple[str, list[tuple[str, str]]]:
    """A user, and the keys of some orders in the user's list."""
    by_user: dict[str, list[tuple[str, str]]] = {}
    for key in processes.rows:
        if key[0].startswith("TENANT#acme#USER#") and key[1].startswith("ORDER#"):
            by_user.setdefault(key[0], []).append(key)
    partition, keys = next((user, keys) for user, keys in by_user.items() if len(keys) >= count)
    return partition.rpartition("#")[2], keys[:count]


async def _set(processes: Processes, key: tuple[str, str], status: str) -> None:
    await processes.write(key, {**processes.rows[key], "status": {"S": status}})


def _changed(event: dict[str, Any]) -> list[tuple[str, str]]:
    changes = event["data"]["ordersOfUserChanged"]["changes"]
    return [(each["node"]["orderId"], each["node"]["status"]) for each in changes]


async def test_what_one_process_has_sent_the_other_does_not_send_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process has received the change too, and is about to tell the subscribers that it has."""
    async with two_processes() as processes:
        user, [key, _] = _orders(processes)
        one, other = processes.served
        async with other.watch(LIST, {"user": user}) as staying:
            await staying.next()
            async with one.watch(LIST, {"user": user}) as events:
                await events.next()
                await _set(processes, key, "PENDING")
                await processes.tell_all(0)
                event = await events.next()
            monkeypatch.setattr(cohort_room, "COALESCED_SECONDS", LONG)
            await processes.tell_all(1)
            async with other.watch(LIST, {"user": user}, after=event["extensions"]["position"]) as returned:
                assert _changed(await staying.next()) == _changed(event)
                await returned.silence()


async def test_a_process_that_does_not_know_a_change_yet_does_not_send_it_again() -> None:
    """It learns of the change later than the client; what follows is sent, and its position is after both."""
    async with two_processes() as processes:
        user, [key, other_key] = _orders(processes)
        one, other = processes.served
        async with one.watch(LIST, {"user": user}) as events:
            await events.next()
            await _set(processes, key, "PENDING")
            await processes.tell_all(0)
            event = await events.next()
        async with other.watch(LIST, {"user": user}, after=event["extensions"]["position"]) as returned:
            await until(lambda: bool(other.subscriptions.active))
            await processes.tell_all(1)
            await returned.silence()
            await _set(processes, other_key, "PENDING")
            await processes.tell_all(1)
            second = await returned.next()
            assert _changed(second) != _changed(event)
        await processes.tell_all(0)
        async with one.watch(LIST, {"user": user}, after=second["extensions"]["position"]) as again:
            await again.silence()


async def test_changes_after_the_position_are_sent_with_what_the_process_has_yet_to_send(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other process is about to report two changes in one event; the client knows the first of them."""
    async with two_processes() as processes:
        user, [key, other_key] = _orders(processes)
        one, other = processes.served
        async with other.watch(LIST, {"user": user}) as staying:
            await staying.next()
            async with one.watch(LIST, {"user": user}) as events:
                await events.next()
                await _set(processes, key, "PENDING")
                await processes.tell_all(0)
                event = await events.next()
            monkeypatch.setattr(cohort_room, "COALESCED_SECONDS", LONG)
            await _set(processes, other_key, "PENDING")
            await processes.tell_all(1)
            async with other.watch(LIST, {"user": user}, after=event["extensions"]["position"]) as returned:
                both = _changed(await staying.next())
                assert [*_changed(event), *_changed(await returned.next())] == both
                await returned.silence()


async def test_an_event_waits_for_earlier_changes_that_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its position says that the client knows them."""
    read, failing = EventReader.read, list[None]()

    async def unreliable(self: EventReader, *given: Any) -> Any:
        if not failing:
            return await read(self, *given)
        failing.pop()
        await asyncio.sleep(0.2)  # meanwhile the cohort offers its next event
        raise WatchFailed([{"message": "for now"}], passing=True)

    monkeypatch.setattr(EventReader, "read", unreliable)
    async with two_processes() as processes:
        user, [key, other_key] = _orders(processes)
        opened = await processes.open(0, LIST, {"user": user}, None)
        await opened.next()
        for each in (key, other_key):
            # two events, which become one because the client takes neither
            await _set(processes, each, "PENDING")
            await processes.tell_all(0)
            await until(lambda: not opened.cohort._pending and opened.cohort._task is None)
        failing.append(None)
        taking = asyncio.ensure_future(opened.next())
        await until(lambda: not failing)
        assert opened.position() is None  # what is being read was not sent yet
        await _set(processes, key, "CONFIRMED")
        await processes.tell_all(0)
        assert len(_changed(orjson.loads((await taking).text))) == 2
        opened.close()


async def test_the_state_of_an_item_is_not_sent_again_when_a_change_that_it_includes_becomes_known() -> None:
    """The event of the first change is read after the second one was written."""
    async with two_processes() as processes:
        key = next(key for key in processes.rows if key[0].startswith("TENANT#acme#ORDER#") and key[1] == "META")
        variables = {"id": processes.rows[key]["orderId"]["S"]}
        shard = shard_of(*key)
        one, other = processes.served
        async with one.watch(ITEM, variables) as events:
            await events.next()
            for status in ("SHIPPED", "PENDING"):
                await _set(processes, key, status)
            await processes.tell(0, shard, 1)
            event = await events.next()
            assert event["data"]["orderChanged"]["status"] == "PENDING"
        await processes.tell_all(1)
        async with other.watch(ITEM, variables, after=event["extensions"]["position"]) as returned:
            await returned.silence()
            await _set(processes, key, "SHIPPED")
            await processes.tell_all(1)
            assert (await returned.next())["data"]["orderChanged"]["status"] == "SHIPPED"


async def test_a_position_is_of_one_role() -> None:
    """A role that may not search by the arguments of a list would be told of its changes: nothing is read on resume."""
    async with shop() as served:
        variables = {"user": "u-1001"}
        async with served.watch(LIST, variables, role="admin") as events:
            position = (await events.next())["extensions"]["position"]
        with pytest.raises(SubscriptionFailed, match="the position does not belong to this subscription"):
            async with served.watch(LIST, variables, role="support", after=position) as events:
                await events.next()
        async with served.watch(LIST, variables, role="admin", after=position) as events:
            await events.silence()
