"""A simulation of overload in virtual time: callers that come, wait for as long as they care to, and leave.

`FirstInFirstOut` is the queue that the gateway had before; it is here as a contrast.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from gateway.errors import Throttled
from gateway.model.tenant import TenantId, tenant_id
from tests.graph.http.virtual_time import run_virtually

ACME = tenant_id("acme")
DEADLINE = 10.0  # seconds, as in the settings


class Queue(Protocol):
    def acquire_at_once(self) -> bool: ...

    async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None: ...

    def release(self) -> None: ...


class FirstInFirstOut:
    """One queue for each tenant, without an age; tenants take turns by count."""

    def __init__(self, concurrent: int, queued: int = 1_000) -> None:
        self._free = concurrent
        self._most = queued
        self._waiting: dict[TenantId, deque[asyncio.Future[None]]] = {}

    def acquire_at_once(self) -> bool:
        if not self._free:
            return False
        self._free -= 1
        return True

    async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
        if self.acquire_at_once():
            return
        queue = self._waiting.setdefault(tenant, deque())
        if len(queue) >= self._most:
            raise Throttled("too many operations of this tenant are waiting")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        while self._waiting:
            tenant = next(iter(self._waiting))
            queue = self._waiting.pop(tenant)
            turn = queue.popleft()
            if queue:
                self._waiting[tenant] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


@dataclass(frozen=True, slots=True)
class Arrival:
    time: float
    tenant: TenantId = ACME
    seconds: float = 0.05  # for which it runs; its cost is proportional to it
    patience: float = 1.0  # seconds after which its caller leaves


@dataclass(slots=True)
class Outcome:
    """What became of the arrivals, by tenant and second of the answer."""

    good: list[tuple[float, Arrival]] = field(default_factory=list)
    refused: list[tuple[float, Arrival]] = field(default_factory=list)
    left: list[Arrival] = field(default_factory=list)
    wasted: float = 0.0  # seconds of places, for callers who had left

    def goodput(self, since: float, until: float) -> float:
        """Seconds of work for callers who had their answer, for each second."""
        return sum(each.seconds for time, each in self.good if since <= time < until) / (until - since)

    def served(self, *tenants: TenantId) -> float:
        """The share of the operations of these tenants that were answered."""
        good = sum(arrival.tenant in tenants for _, arrival in self.good)
        other = sum(arrival.tenant in tenants for arrival in [arrival for _, arrival in self.refused] + self.left)
        return good / (good + other)


@dataclass(frozen=True, slots=True)
class Kind:
    """What happens when the caller leaves."""

    leaves_queue: bool = True
    ends_running: bool = True


QUERY, MUTATION = Kind(), Kind(ends_running=False)
OLD_MUTATION = Kind(leaves_queue=False, ends_running=False)  # kept its place for a caller who had left


def simulate(make: Callable[[], Queue], arrivals: Iterable[Arrival], kind: Kind = QUERY) -> Outcome:
    async def main() -> Outcome:
        queue, outcome = make(), Outcome()
        loop = asyncio.get_running_loop()
        tasks = []
        for arrival in arrivals:
            await asyncio.sleep(arrival.time - loop.time())
            tasks.append(asyncio.ensure_future(_caller(queue, arrival, kind, outcome)))
        await asyncio.gather(*tasks)
        return outcome

    return run_virtually(main())


async def _caller(queue: Queue, arrival: Arrival, kind: Kind, outcome: Outcome) -> None:
    loop = asyncio.get_running_loop()
    gives_up = arrival.time + arrival.patience
    try:
        async with asyncio.timeout_at(gives_up if kind.leaves_queue else None):
            await queue.acquire(arrival.tenant, arrival.seconds, arrival.time + DEADLINE)
    except TimeoutError:
        outcome.left.append(arrival)
        return
    except Throttled:
        outcome.refused.append((loop.time(), arrival))
        return
    began = loop.time()
    with suppress(TimeoutError):
        async with asyncio.timeout_at(gives_up if kind.ends_running else None):
            await asyncio.sleep(arrival.seconds)
    queue.release()
    if loop.time() < gives_up:
        outcome.good.append((loop.time(), arrival))
    else:
        outcome.left.append(arrival)
        outcome.wasted += loop.time() - began


def constant(rate: float, until: float, seed: int = 1, **more: object) -> Iterator[Arrival]:
    """Arrivals that know nothing of each other."""
    chance, time = random.Random(seed), 0.0
    while (time := time + chance.expovariate(rate)) < until:
        yield Arrival(time, **more)  # type: ignore[arg-type]  # fields of an arrival


def bursty(rate: float, until: float, period: float = 1.0, seed: int = 1, **more: object) -> Iterator[Arrival]:
    """The same number of arrivals, all in the first half of each period."""
    for each in constant(rate, until, seed, **more):
        start = each.time // period * period
        yield Arrival(start + (each.time - start) / 2, **more)  # type: ignore[arg-type]


def merged(*streams: Iterable[Arrival]) -> list[Arrival]:
    return sorted((each for stream in streams for each in stream), key=lambda each: each.time)
