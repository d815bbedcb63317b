"""`make simulate`: callers of two tenants take from a stock over a bad network; every history must be right."""

import asyncio
import random as global_random
import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random

from gateway.aws.credentials import Credentials
from gateway.aws.sessions import Session
from gateway.domains import MODEL
from gateway.errors import GatewayError
from gateway.model.tenant import TenantId, tenant_id
from gateway.store.access import Access
from gateway.store.faults import Fault, Rejected, UserErrorCode
from gateway.store.idempotency import IDEMPOTENCY, once
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.writer import Outcome, Writer
from tests.simulation.loop import simulate
from tests.simulation.network import LAG, BadNetwork
from tests.store.editing import editing
from tests.store.world import TABLE

TENANTS = tuple(tenant_id(name) for name in ("acme", "acme2"))
STOCK = 1_000
CALLERS, CHANGES = 3, 5
_LESS = Fault(UserErrorCode.OUT_OF_STOCK, "there is not enough")
_KEY = {"productId": "p"}


@dataclass
class History:
    """What each tenant's callers were told, and what the table holds at the end."""

    acknowledged: dict[str, set[str]] = field(default_factory=lambda: {tenant: set() for tenant in TENANTS})
    asked: dict[str, set[str]] = field(default_factory=lambda: {tenant: set() for tenant in TENANTS})
    faults: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)

    def check(self) -> list[str]:
        """What is wrong: something lost, something doubled, a read that is too old, a row of another tenant."""
        found = list(self.faults)
        for tenant in TENANTS:
            made, records = STOCK - self.left[tenant], self.records[tenant]
            if made != records:
                found.append(f"{tenant}: {made} changes were made, {records} are recorded")
            if records < len(self.acknowledged[tenant]):
                found.append(f"{tenant}: {len(self.acknowledged[tenant])} acknowledged, {records} made")
            if records > len(self.asked[tenant]):
                found.append(f"{tenant}: {len(self.asked[tenant])} asked for, {records} made")
        return found


class Shop:
    """One seed's world."""

    def __init__(self, seed: int, *, repeats_with_key: bool = True, remembers_tokens: bool = True) -> None:
        self.random = Random(seed)
        self.client = BadNetwork(MODEL.table, TABLE, random=self.random, remembers_tokens=remembers_tokens)
        self.history = History()
        self._repeats_with_key = repeats_with_key
        self._sessions = 0

    async def run(self) -> History:
        for tenant in TENANTS:
            await self._stocked(tenant)
        await asyncio.gather(*(self._caller(tenant, name) for tenant in TENANTS for name in range(CALLERS)))
        await asyncio.gather(*self.client.late)
        for tenant in TENANTS:
            self.history.left[tenant] = self._available(tenant)
            prefix = f"TENANT#{tenant}#{IDEMPOTENCY}#"
            self.history.records[tenant] = sum(pk.startswith(prefix) for pk, _ in self.client.rows)
        self.history.faults += self.client.foreign
        return self.history

    async def _stocked(self, tenant: TenantId) -> None:
        quiet = BadNetwork(MODEL.table, TABLE, rows=self.client.rows)
        quiet.random.random = lambda: 0.5  # type: ignore[method-assign]  # nothing goes wrong before the start
        quiet.tenants = {"AKID": tenant}
        writer = editing(quiet, tenant)
        change = writer.change()
        change.create("Stock", {**_KEY, "available": STOCK, "updatedAt": datetime(2026, 3, 1, tzinfo=UTC)})
        await writer.commit(change, Outcome(Item("Stock", {}, "")))

    async def _caller(self, tenant: TenantId, name: int) -> None:
        for number in range(CHANGES):
            key = f"{name}-{number}"
            self.history.asked[tenant].add(key)
            for attempt in range(12):
                used = key if self._repeats_with_key else f"{key}-{attempt}"
                if await self._tried(tenant, used):
                    self.history.acknowledged[tenant].add(key)
                    await self._look(tenant)
                    break
                await asyncio.sleep(self.random.expovariate(2))

    async def _tried(self, tenant: TenantId, key: str) -> bool:
        """One process: it may die at any moment, and the next one knows nothing but the key."""
        writer = self._writer(tenant)
        patience = self.random.choice((0.02, 0.1, 1.0, 10.0))
        try:
            async with asyncio.timeout(patience):
                await writer.run(_take, once(key, "take", {}))
        except (TimeoutError, GatewayError, Rejected):
            return False
        return True

    async def _look(self, tenant: TenantId) -> None:
        """A strong read after an acknowledgement, and one that may be behind."""
        loop = asyncio.get_running_loop()
        told = len(self.history.acknowledged[tenant])
        try:
            seen = (await self._writer(tenant).stored("Stock", _KEY)).values["available"]
            if seen > STOCK - told:
                self.history.faults.append(f"{tenant}: {told} were acknowledged, a strong read sees {STOCK - seen}")
            oldest = self._oldest(tenant, loop.time())
            item = await self._writer(tenant).peek("Stock", _KEY, "available")
        except GatewayError:
            return
        if item is None or not self._available(tenant) <= item.values["available"] <= oldest:
            self.history.faults.append(f"{tenant}: a read was more than {LAG} s behind")

    def _oldest(self, tenant: TenantId, now: float) -> int:
        """The stock in the oldest state that a read from now on may see; it only ever becomes less."""
        states = [rows for moment, rows in self.client.past if moment >= now - LAG]
        return self._available(tenant, states[0] if states else None)

    def _available(self, tenant: TenantId, rows: object = None) -> int:
        found = self.client.rows if rows is None else rows
        return int(found[f"TENANT#{tenant}#PRODUCT#p", "STOCK"]["available"]["N"])  # type: ignore[index]

    def _writer(self, tenant: TenantId) -> Writer:
        session = self._session(editing(self.client, tenant).access.session)

        async def renew(refused: Session) -> Session:
            await asyncio.sleep(self.random.expovariate(20))
            return self._session(refused)

        return Writer(MODEL, Table(self.client, MODEL, renew), Access(session, None))

    def _session(self, given: Session) -> Session:
        self._sessions += 1
        access_key = f"AKID{self._sessions}"
        self.client.tenants[access_key] = given.tenant
        return replace(given, credentials=Credentials(access_key, "secret"))


async def _take(writer: Writer) -> Outcome:
    change = writer.change()
    change.add("Stock", _KEY, {"available": -1}, _LESS, never_below_zero=True)
    return await writer.commit(change, Outcome(Item("Stock", dict(_KEY), "")))


def one(seed: int, **broken: bool) -> tuple[History, int]:
    global_random.seed(seed)  # the store's own pauses
    return simulate(seed, Shop(seed, **broken).run())


def main(wanted: int) -> int:
    steps = seed = 0
    while steps < wanted:
        history, taken = one(seed)
        if faults := history.check():
            print(f"seed {seed} is wrong; put it into tests/simulation/test_run.py:", *faults, sep="\n  ")
            return 1
        steps += taken
        seed += 1
    print(f"{steps:,} steps in {seed:,} histories: nothing lost, nothing doubled, no read too old, no foreign row")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
