"""Two processes over one table: each receives the same changes, at its own pace."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.demo import MODEL
from gateway.errors import Unavailable
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import graphql_request
from gateway.graph.subscription.subscription import Subscription
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.testing.memory import Answer, Memory, Row
from gateway.testing.notes import NotesOfMemory
from gateway.testing.services import TABLE
from tests.graph.fixtures import DEMO_SHOP
from tests.graph.subscription.shop import Shop, bearer, shop

SHARDS = ("s0", "s1")


def shard_of(pk: str, sk: str) -> str:
    return SHARDS[sum((pk + sk).encode()) % len(SHARDS)]


@dataclass
class LateIndexes(Memory):
    """Indexes show the rows of a while ago: each query of one asks `lag` how many seconds."""

    lag: Callable[[], float] = lambda: 0.0
    past: list[tuple[float, dict[tuple[str, str], Row]]] = field(default_factory=list)

    def _operations(self) -> dict[str, Callable[[Row], Answer]]:
        operations = super()._operations()
        query = operations["Query"]

        def late(body: Row) -> Answer:
            since = asyncio.get_running_loop().time() - self.lag()
            rows, old = self.rows, [rows for at, rows in self.past if at > since]
            if "IndexName" not in body or not old:
                return query(body)
            self.rows = old[0]
            try:
                return query(body)
            finally:
                self.rows = rows

        return {**operations, "Query": late}


class _Written(InProcessBus):
    """Keeps what was written, for the processes to receive later; each item belongs to one shard."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, list[ChangeNote]] = {shard: [] for shard in SHARDS}

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        for note in notes:
            shard = shard_of(note.pk, note.sk)
            self.notes[shard].append(replace(note, shard=shard, sequence=str(len(self.notes[shard]) + 1)))


@dataclass
class Processes:
    served: tuple[Shop, Shop]
    memory: LateIndexes
    written: _Written
    delivered: list[dict[str, int]] = field(default_factory=lambda: [dict.fromkeys(SHARDS, 0) for _ in range(2)])

    @property
    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        return self.memory.rows

    async def write(self, key: tuple[str, str], row: dict[str, Any] | None) -> None:
        before = dict(self.rows)
        self.memory.past.append((asyncio.get_running_loop().time(), before))
        if row is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = row
        assert self.memory.on_change is not None
        await self.memory.on_change(before, self.rows)

    def waiting(self, process: int, shard: str) -> int:
        """How many changes of the shard the process has not received."""
        return len(self.written.notes[shard]) - self.delivered[process][shard]

    async def tell(self, process: int, shard: str, most: int = 1_000_000) -> None:
        first = self.delivered[process][shard]
        notes = self.written.notes[shard][first : first + most]
        self.delivered[process][shard] += len(notes)
        await self.served[process].bus.publish(notes)

    async def tell_all(self, process: int) -> None:
        for shard in SHARDS:
            await self.tell(process, shard)

    async def open(self, process: int, text: str, variables: dict[str, Any], after: str | None) -> Subscription:
        """A subscription whose events are taken by the test, as slowly as it likes; raises `Unavailable`."""
        socket = self.served[process].gateway.streaming.socket
        lasting = await socket.callers.lasting(f"Bearer {bearer()}".encode(), lambda principal: None)
        extensions = {} if after is None else {"after": after}
        request = graphql_request({"query": text, "variables": variables, "extensions": extensions})
        started = await socket.operations.begin(lasting, request, RequestLog("r", "t"))
        if not isinstance(started, Subscription):
            assert started.codes == [Unavailable.code]
            raise Unavailable("connect again")
        return started


@asynccontextmanager
async def two_processes() -> AsyncIterator[Processes]:
    written = _Written()
    memory = LateIndexes(MODEL.table, TABLE, rows=dict(DEMO_SHOP.rows))
    memory.on_change = NotesOfMemory(MODEL.table, written).publish
    clock = asyncio.get_running_loop().time
    buses = InProcessBus(clock=clock), InProcessBus(clock=clock)
    for bus in buses:
        for shard in SHARDS:
            bus.begin(shard, "0")
    async with shop(buses[0], memory) as one, shop(buses[1], memory) as other:
        yield Processes((one, other), memory, written)
