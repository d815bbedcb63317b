"""Random histories in virtual time: writes, processes that learn of them late, slow reads, and clients that come back.

After each event, its position is opened: the event must report exactly the orders that changed between the position
before it and its own. In the end, a client that has applied all events must know the orders as they are stored. With a
list on an index, each page is read as of some time within the last seconds.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

import orjson
import pytest

from gateway.errors import Unavailable
from gateway.graph.global_id import read_global_id
from gateway.graph.http import endpoint
from gateway.graph.query.lane import lane
from gateway.graph.subscription.event_reader import EventReader, WatchFailed
from gateway.graph.subscription.subscription import Subscription
from gateway.pacer import Pacer
from gateway.store.index_lag import INDEX_LAG_SECONDS
from gateway.stream.bus import InProcessBus
from tests.drawn import drawn
from tests.graph.fixtures import DEMO_SHOP
from tests.graph.http.virtual_time import run_virtually
from tests.graph.subscription.two_processes import SHARDS, Processes, two_processes

ITEM = "subscription ($id: ID!) { orderChanged(orderId: $id) { total } }"
LIST = """subscription ($user: ID!) { ordersOfUserChanged(userId: $user, first: 100) {
  page { nodes { orderId total } } changes { kind nodeId node { orderId total } } } }"""
INDEX = """subscription { activeOrdersChanged(first: 100) {
  page { nodes { orderId total } } changes { kind nodeId node { orderId total } } } }"""
PAGES = "subscription { activeOrdersChanged(first: 100) { page { nodes { orderId total } } } }"
USER = "u-1002"  # with eight orders
STEPS = 80
PASSED = 0.2  # the share of reads and checks that fail for now
SLOWEST = 0.12  # seconds of a read, a check or a pause; changes of 0.05 seconds become one event
QUIET = 60.0  # seconds after which nothing is left to tell

Key = tuple[str, str]


@dataclass
class Client:
    """Applies what it receives, and checks it against the positions."""

    processes: Processes
    user: str
    keys: dict[str, Key]  # of the orders in the list, by their id
    random: Random
    watch: ClassVar[str] = "ordersOfUserChanged"
    position: str | None = None
    vector: dict[str, str] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    process: int = 0
    reading: "asyncio.Task[None] | None" = None

    async def connect(self, process: int) -> None:
        await self.disconnect()
        self.process = process
        self.reading = asyncio.ensure_future(self._read(process))

    async def disconnect(self) -> None:
        if self.reading is not None:
            self.reading.cancel()
            with suppress(asyncio.CancelledError):
                await self.reading  # raises what was wrong with an event

    async def _read(self, process: int) -> None:
        while True:
            with suppress(WatchFailed, Unavailable):
                opened = await self._open(process)
                try:
                    while True:
                        self._take(orjson.loads((await opened.next()).text))
                        await asyncio.sleep(self.random.choice((0, 0, self.random.uniform(0, SLOWEST))))
                finally:
                    opened.close()
            await asyncio.sleep(0.01)

    async def _open(self, process: int) -> Subscription:
        return await self.processes.open(process, LIST, {"user": self.user}, self.position)

    def _take(self, event: dict[str, Any]) -> None:
        if "errors" in event or "notice" in event["extensions"]:
            raise AssertionError(f"an unexpected event: {event}")
        before, first = self.vector, self.position is None
        self.position = event["extensions"]["position"]
        positions = self.processes.served[0].subscriptions._positions
        self.vector = positions.open("acme viewer", self.watch, self.arguments(), self.position)
        content = event["data"][self.watch]
        if content["page"] is None:
            self._check(content, before)
        elif first or self.may_repeat(before):
            self.totals = {node["orderId"]: float(node["total"]) for node in content["page"]["nodes"]}
        else:
            raise AssertionError(f"the whole list again: {content}")
        for change in content.get("changes", ()):
            if change["node"] is None:
                self.totals.pop(_order(change), None)
            else:
                self.totals[_order(change)] = float(change["node"]["total"])

    def arguments(self) -> dict[str, Any]:
        return {"userId": self.user}

    def may_repeat(self, before: dict[str, str]) -> bool:
        """Whether the page may come again after an event at this position."""
        return False

    def _check(self, content: dict[str, Any], before: dict[str, str]) -> None:
        named = [_order(change) for change in content["changes"]]
        if len(named) != len(set(named)):
            raise AssertionError(f"an order twice: {content}")
        changed = self._changed(before, self.vector)
        if again := set(named) - changed.keys():
            raise AssertionError(f"{again} did not change after {before}, and the event is at {self.vector}")
        if missing := {order for order, passing in changed.items() if not passing} - set(named):
            raise AssertionError(f"{missing} changed after {before}, and the event at {self.vector} names {named}")

    def _changed(self, after: dict[str, str], until: dict[str, str]) -> dict[str, bool]:
        """The orders with a change between two positions.

        The value says whether the event may leave the order out, because a later change removes it.
        """
        found: dict[str, bool] = {}
        for shard in SHARDS:
            if int(until[shard]) < int(after[shard]):
                raise AssertionError(f"the position goes back from {after} to {until}")
            notes = self.processes.written.notes[shard]
            for order, key in self.keys.items():
                of_order = [note for note in notes if (note.pk, note.sk) == key]
                changes = [note for note in of_order if int(after[shard]) < note.order <= int(until[shard])]
                if changes:
                    later = any(note.kind == "removed" for note in of_order if note.order > changes[-1].order)
                    found[order] = changes[-1].kind != "removed" and later
        return found


class IndexClient(Client):
    """Watches a list on an index; a page comes again only if it may have lacked changes."""

    text: ClassVar[str] = INDEX
    watch = "activeOrdersChanged"

    async def _open(self, process: int) -> Subscription:
        return await self.processes.open(process, self.text, {}, self.position)

    def arguments(self) -> dict[str, Any]:
        return {}

    def may_repeat(self, before: dict[str, str]) -> bool:
        return "lagging" in before


class PageClient(IndexClient):
    """Selects only the page, and never receives the same page twice."""

    text = PAGES

    def may_repeat(self, before: dict[str, str]) -> bool:
        return "digest" in before and before["digest"] != self.vector["digest"]


class ItemClient(Client):
    """Watches one order, and must receive each of its states at most once, in order."""

    async def _open(self, process: int) -> Subscription:
        [order] = self.keys
        return await self.processes.open(process, ITEM, {"id": order}, self.position)

    def _take(self, event: dict[str, Any]) -> None:
        [order], first = self.keys, self.position is None
        self.position = event["extensions"]["position"]
        found = event["data"]["orderChanged"]
        total, known = None if found is None else float(found["total"]), self.totals.get(order)
        if not first and (total == known or (total is not None and known is not None and total < known)):
            raise AssertionError(f"{total} is sent after {known}")
        self.totals = {} if total is None else {order: total}


def _order(change: dict[str, Any]) -> str:
    found = read_global_id("acme", change["nodeId"])
    assert found is not None
    return found[1][0]


@dataclass
class History:
    processes: Processes
    random: Random
    clients: list[Client]
    rows: dict[Key, dict[str, Any]]  # the orders of the list, as they are at first

    async def run(self) -> None:
        for number, client in enumerate(self.clients):
            await client.connect(number % 2)
        for step in range(STEPS):
            await asyncio.sleep(self.random.choice((0, 0, self.random.uniform(0, SLOWEST))))
            await self._step(step)
        for process in range(2):
            await self.processes.tell_all(process)
        for client in self.clients:
            if isinstance(client, IndexClient) and self.random.random() < 0.5:
                await client.disconnect()
                client.position = None
            await client.connect(client.process)
        await asyncio.sleep(QUIET)

    async def _step(self, step: int) -> None:
        random = self.random
        match random.randrange(8):
            case 0 | 1 | 2:
                key = random.choice([*self.rows])
                row = None if random.random() < 0.2 else {**self.rows[key], "total": {"N": str(1_000 + step)}}
                await self.processes.write(key, row)
            case 3 | 4 | 5:
                await self.processes.tell(random.randrange(2), random.choice(SHARDS), random.randint(1, 3))
            case 6:
                await random.choice(self.clients).connect(random.randrange(2))
            case _:
                await random.choice(self.clients).disconnect()


async def _history(seed: int, make: type[Client], listed: Callable[[Key], bool]) -> None:
    lags = Random(f"lags {seed}")
    async with two_processes() as processes:
        keys = {row["orderId"]["S"]: key for key, row in processes.rows.items() if listed(key)}
        clients = [make(processes, USER, keys, Random(f"{seed} {number}")) for number in range(3)]
        rows = {key: dict(processes.rows[key]) for key in keys.values()}
        processes.memory.lag = lambda: lags.uniform(0, INDEX_LAG_SECONDS)
        # at first, the processes do not know what has changed just before
        await asyncio.sleep(lags.choice((0, 2 * INDEX_LAG_SECONDS)))
        await History(processes, Random(seed), clients, rows).run()
        known = {order: processes.rows[key] for order, key in keys.items() if key in processes.rows}
        stored = {order: float(row["total"]["N"]) for order, row in known.items()}
        for client in clients:
            await client.disconnect()
            if client.totals != stored:
                raise AssertionError(f"{client.totals.items() ^ stored.items()} differ")


@pytest.mark.parametrize("seed", range(drawn(100, 3)))
def test_every_event_reports_what_changed_since_the_one_before(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    unreliable(monkeypatch, Random(f"failures {seed}"))
    partition = f"TENANT#acme#USER#{USER}"
    run_virtually(_history(seed, Client, lambda key: key[0] == partition and key[1].startswith("ORDER#")))


@pytest.mark.parametrize("seed", range(drawn(12, 1)))
@pytest.mark.parametrize("make", [IndexClient, PageClient])
def test_a_list_on_a_late_index_misses_nothing(make: type[Client], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    unreliable(monkeypatch, Random(f"failures {seed}"))
    active = {key for key, row in DEMO_SHOP.rows.items() if _is_active(row)}
    run_virtually(_history(seed, make, lambda key: key in active))


def _is_active(row: dict[str, Any]) -> bool:
    return "GSI3PK" in row and row["GSI3PK"]["S"].startswith("TENANT#acme#ACTIVE#")


@pytest.mark.parametrize("seed", range(drawn(40, 2)))
def test_no_state_of_an_item_is_sent_twice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    unreliable(monkeypatch, Random(f"failures {seed}"))
    run_virtually(_history(seed, ItemClient, lambda key: key == ("TENANT#acme#ORDER#o-1001", "META")))


def unreliable(monkeypatch: pytest.MonkeyPatch, random: Random) -> None:
    """Reads and replays take a while and sometimes fail; so do the checks whether a caller is still valid."""
    read, checked, replay = EventReader.read, Subscription._checked, InProcessBus.replay

    async def slow_read(self: EventReader, *given: Any) -> Any:
        await asyncio.sleep(random.uniform(0, SLOWEST))
        if random.random() < PASSED:
            raise WatchFailed([{"message": "for now"}], passing=True)
        payload = await read(self, *given)
        await asyncio.sleep(random.uniform(0, SLOWEST))
        return payload

    async def slow_check(self: Subscription) -> bool:
        await asyncio.sleep(random.uniform(0, SLOWEST))
        return random.random() > PASSED and await checked(self)

    async def slow_replay(self: InProcessBus, *given: Any) -> Any:
        await asyncio.sleep(random.uniform(0, SLOWEST))
        if random.random() < PASSED:
            raise Unavailable("for now")
        notes = await replay(self, *given)
        await asyncio.sleep(random.uniform(0, SLOWEST))
        return notes

    async def at_once(pacer: Pacer, work: Any, *given: Any) -> Any:
        return work(*given)

    for module in (endpoint, lane):
        monkeypatch.setattr(module, "in_background", at_once)  # a thread would take real time
    monkeypatch.setattr(EventReader, "read", slow_read)
    monkeypatch.setattr(InProcessBus, "replay", slow_replay)
    monkeypatch.setattr(Subscription, "_checked", slow_check)
