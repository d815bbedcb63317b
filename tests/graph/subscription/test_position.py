"""A change feed that is cut after any line goes on at any process: no change is missing, and none is reported twice."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from gateway.graph.http.log_lines import RequestLog
from gateway.graph.subscription import change_feed
from gateway.graph.subscription.change_feed import FeedChange
from tests.drawn import drawn
from tests.graph.http.virtual_time import run_virtually
from tests.graph.subscription.shop import bearer
from tests.graph.subscription.two_processes import SHARDS, Processes, shard_of, two_processes

IDLE = 5.0  # seconds without a change, after which a position comes
STEPS = 40

Feed = AsyncGenerator[FeedChange | str]


async def _follow(processes: Processes, process: int, after: str | None) -> Feed:
    streaming = processes.served[process].gateway.streaming
    lasting = await streaming.socket.callers.lasting(f"Bearer {bearer()}".encode(), lambda principal: None)
    return streaming.changes.feed.follow(lasting, RequestLog("r", "t"), after, IDLE)


def _order(processes: Processes, order: str, total: int) -> tuple[tuple[str, str], dict[str, Any]]:
    row = processes.rows["TENANT#acme#ORDER#o-1001", "META"]
    key = f"TENANT#acme#ORDER#{order}"
    return (key, "META"), {**row, "PK": {"S": key}, "orderId": {"S": order}, "total": {"N": str(total)}}


@dataclass
class Consumer:
    """Applies what it receives. After each line it may be cut off, and go on from the position of that line."""

    processes: Processes
    random: Random
    position: str | None = None
    totals: dict[str, str | None] = field(default_factory=dict)  # by global id; None if it was removed
    changes: list[str] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        while True:
            feed = await _follow(self.processes, self.random.randrange(2), self.position)
            async for change in feed:
                self._take(change)
                self.ready.set()
                await asyncio.sleep(self.random.choice((0, self.random.uniform(0, 0.1))))
                if self.random.random() < 0.3:
                    break
            await feed.aclose()

    def _take(self, change: FeedChange | str) -> None:
        if isinstance(change, str):
            self.position = change
            return
        self.position = change.position
        self.changes.append(change.change)
        if change.item is None:
            self.totals[change.id] = None
        elif change.id not in self.totals and change.kind != "created":
            raise AssertionError(f"an item that is not known is reported as {change.kind}")
        else:
            self.totals[change.id] = change.item["total"]


async def _history(seed: int) -> None:
    """Each order is created, changes, and may be removed once."""
    random = Random(seed)
    async with two_processes() as processes:
        consumer = Consumer(processes, Random(f"consumer {seed}"))
        running = asyncio.ensure_future(consumer.run())
        await consumer.ready.wait()
        stored: dict[str, str | None] = {}
        for step in range(STEPS):
            await asyncio.sleep(random.choice((0, 0, random.uniform(0, 0.1))))
            if random.random() < 0.5:
                await processes.tell(random.randrange(2), random.choice(SHARDS), random.randint(1, 8))
                continue
            order = f"o-{random.randrange(8)}"
            if order in stored and stored[order] is None:
                continue
            key, row = _order(processes, order, step)
            removed = order in stored and random.random() < 0.1
            stored[order] = None if removed else f"{step}.00"
            await processes.write(key, None if removed else row)
        for process in range(2):
            await processes.tell_all(process)
        await asyncio.sleep(20 * IDLE)
        if running.done():
            running.result()
        running.cancel()
    assert len(consumer.changes) == len(set(consumer.changes))
    assert sorted(map(str, consumer.totals.values())) == sorted(map(str, stored.values()))


@pytest.mark.parametrize("seed", range(drawn(30, 8)))
def test_random_histories_are_reported_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "MOST_ITEMS", 1 + seed % 7)
    run_virtually(_history(seed))


async def test_an_item_is_reported_as_created_after_a_cut_before_its_newest_change() -> None:
    async with two_processes() as processes:
        feed = await _follow(processes, 0, None)
        position = await anext(feed)
        await feed.aclose()
        assert isinstance(position, str)
        # the second order is on the same shard, and is reported first, since the first one changes again
        first, other = "o-a", next(name for name in ("o-b", "o-c") if _shard(name) == _shard("o-a"))
        for order, total in ((first, 1), (other, 2), (first, 3)):
            await processes.write(*_order(processes, order, total))
        for process in range(2):
            await processes.tell_all(process)
        changes = list[FeedChange]()
        for process in (0, 1):
            feed = await _follow(processes, process, position)
            assert isinstance(await anext(feed), str)
            change = await anext(feed)
            assert isinstance(change, FeedChange)
            changes.append(change)
            position = change.position
            await feed.aclose()
        found = [(each.kind, each.item["orderId"], each.item["total"]) for each in changes if each.item is not None]
        assert found == [("created", other, "2.00"), ("created", first, "3.00")]


def _shard(order: str) -> str:
    return shard_of(f"TENANT#acme#ORDER#{order}", "META")


async def test_a_process_that_does_not_know_a_change_yet_does_not_report_it_again() -> None:
    async with two_processes() as processes:
        feed = await _follow(processes, 0, None)
        await anext(feed)
        taking = asyncio.ensure_future(anext(feed))
        await processes.write(*_order(processes, "o-a", 1))
        await processes.tell_all(0)
        first = await taking
        await feed.aclose()
        assert isinstance(first, FeedChange)
        feed = await _follow(processes, 1, first.position)
        await anext(feed)
        taking = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0.05)  # it waits for changes
        await processes.tell_all(1)
        await asyncio.sleep(0.05)
        await processes.write(*_order(processes, "o-a", 2))
        await processes.tell_all(1)
        second = await taking
        await feed.aclose()
        assert isinstance(second, FeedChange)
        assert second.item is not None
        assert (second.kind, second.item["total"]) == ("changed", "2.00")
