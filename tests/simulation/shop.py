"""One seed: callers of two tenants read and write through two processes while everything goes wrong."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import inf
from random import Random
from typing import Any

from gateway.demo import MODEL
from gateway.demo.commerce.stocking import OUT_OF_STOCK
from gateway.errors import GatewayError, IsolationBreach
from gateway.model.role_reach import IDEMPOTENCY
from gateway.model.tenant import TenantId, partition
from gateway.store.access import Access
from gateway.store.plan import Window, plan_listing, plan_lookup
from gateway.store.rows import Item
from gateway.store.write.change import created
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.idempotency import once
from gateway.store.write.writer import MutationResult, Writer
from tests.simulation.history import STOCK, TENANTS, History, Looked
from tests.simulation.network import LAG, BadNetwork, RowKey, State
from tests.simulation.process import BadSts, Crashed, Process
from tests.store.fixtures import TABLE

CALLERS, ROUNDS, ATTEMPTS = 3, 12, 12
PRODUCTS, CATEGORIES, ROLES = ("p", "q"), ("c", "d"), ("admin", "viewer")
_LESS = Fault(OUT_OF_STOCK, "there is not enough")
_STOCK = {"productId": "p"}
_NAMES = frozenset(("productId", "title"))
# a history is a busy one, a slow one, or any; so is its network
_PAUSES = ((0.0, 0.1, 1.0, 2.0), (0.0, 0.1, 1.0, 6.0, 15.0, 35.0), (3.0, 6.0, 9.0))


@dataclass(frozen=True, slots=True)
class Broken:
    """What a test takes away."""

    repeats_with_key: bool = True
    remembers_tokens: bool = True


class Shop:
    def __init__(self, seed: int, broken: Broken = Broken()) -> None:  # noqa: B008  frozen
        self.random = Random(seed)
        self.history = History()
        self.client = BadNetwork(MODEL.table, TABLE, random=self.random, remembers_tokens=broken.remembers_tokens)
        self.client.slow = self.random.choice((1.0, 1.0, 10.0, 60.0))
        self._pauses = self.random.choice(_PAUSES)
        self.sts = BadSts(self.client, self.random)
        self._repeats_with_key = broken.repeats_with_key

    async def run(self) -> History:
        self.processes = [self._process(), self._process()]
        for tenant in TENANTS:
            self._stocked(tenant)
        trouble = asyncio.ensure_future(self._trouble())
        await asyncio.gather(*(self._caller(tenant, name) for tenant in TENANTS for name in range(CALLERS)))
        trouble.cancel()
        await asyncio.wait((trouble,))
        while self.client.late:
            await asyncio.wait(tuple(self.client.late))
        for process in self.processes:
            total = process.cache.stats().total
            self.history.cached += total.hits + total.stale + total.shared
            await process.die()
        for tenant in TENANTS:
            self._count(tenant)
        self.history.faults += self.client.foreign
        return self.history

    def _count(self, tenant: TenantId) -> None:
        self.history.left[tenant] = self._available(tenant)
        prefix = f"TENANT#{tenant}#{IDEMPOTENCY}#"
        self.history.records[tenant] = sum(pk.startswith(prefix) for pk, _ in self.client.rows)
        for product in PRODUCTS:
            rows = (row for _, row in self._states(tenant, product))
            self.history.edits[tenant] += [None if row is None else row["title"]["S"] for row in rows]

    def _process(self) -> Process:
        return Process(self.client, self.sts, self.random, self.history.faults)

    def _stocked(self, tenant: TenantId) -> None:
        """What products refer to is there before the start; the products themselves come and go."""
        updated = datetime(2026, 3, 1, tzinfo=UTC)
        items: list[tuple[str, dict[str, Any]]] = [
            *(("Category", {"categoryId": each, "title": each}) for each in CATEGORIES),
            ("Stock", {**_STOCK, "available": STOCK, "updatedAt": updated}),
        ]
        for entity, values in items:
            for row in created(MODEL, entity, tenant, values):
                key = row[MODEL.table.pk]["S"], row[MODEL.table.sk]["S"]
                self.client.rows[key] = row
                self.client.states[key].append((-inf, row))

    async def _trouble(self) -> None:
        """What operators and machines do meanwhile."""
        while True:
            await asyncio.sleep(self.random.expovariate(1 / 12))
            at, tenant = self.random.randrange(len(self.processes)), self.random.choice(TENANTS)
            match self.random.randrange(4):
                case 0:
                    self._tell(f"process {at} dies")
                    dead, self.processes[at] = self.processes[at], self._process()
                    await dead.die()
                case 1:
                    process = self.processes[at]
                    self._tell(f"{tenant} is suspended in process {at}")
                    process.suspend(tenant)
                    await asyncio.sleep(self.random.expovariate(1))
                    process.resume(tenant)
                case 2:
                    self._tell("sts is down")
                    self.sts.down = True
                    await asyncio.sleep(self.random.choice((1, 30, 150)))
                    self.sts.down = False
                case _:
                    self.client.revoked.update(self.client.tenants)

    async def _caller(self, tenant: TenantId, name: int) -> None:
        home = TENANTS.index(tenant)
        for number in range(ROUNDS):
            at = home if self.random.random() < 0.8 else self.random.randrange(len(self.processes))
            looks = [self._looked(tenant, at) for _ in range(self.random.randint(1, 5))]
            if self.random.random() < 0.5:
                looks.insert(self.random.randrange(2), self._changed(tenant, f"{tenant} {name}-{number}", at))
            if self.random.random() < 0.5:
                await asyncio.gather(*looks)
            else:
                for look in looks:
                    await look
            await asyncio.sleep(self.random.choice(self._pauses))

    # changes

    async def _changed(self, tenant: TenantId, key: str, at: int) -> None:
        self.history.sent[tenant].add(key)
        edits = self.random.random() < 0.6
        product = self.random.choice(PRODUCTS)
        for attempt in range(ATTEMPTS):
            used = key if self._repeats_with_key else f"{key}-{attempt}"
            work = _Edit(self.random, product, used) if edits else _Take()
            if await self._tried(tenant, at, used, work):
                self.history.acknowledged[tenant].add(key)
                return
            await asyncio.sleep(self.random.expovariate(2))

    async def _tried(self, tenant: TenantId, at: int, key: str, work: "_Edit | _Take") -> bool:
        """One request: it may be given up at any moment, and the next one knows nothing but the key."""
        process = self.processes[at]

        async def request() -> None:
            access = Access(await process.session(tenant, "admin"))
            await Writer(MODEL, process.table, access).run(work, once(key, "change", {}))

        try:
            async with asyncio.timeout(self.random.choice((0.02, 0.1, 1.0, 10.0))):
                await process.run(request())
        except IsolationBreach as breach:
            self.history.faults.append(f"{tenant}: {breach.message}")
        except (TimeoutError, GatewayError, Rejected, Crashed):
            return False
        if isinstance(work, _Edit) and work.made:
            self._acknowledged(process, tenant, work)
        self._tell(f"{tenant} {key} acknowledged by process {at}: {work}")
        return True

    def _acknowledged(self, process: Process, tenant: TenantId, work: "_Edit") -> None:
        """From now on the process owes its readers this state, or a newer one."""
        states = self._states(tenant, work.product)
        titles = [None if row is None else row["title"]["S"] for _, row in states]
        if work.title is not None:
            self.history.edits_told[tenant].add(work.title)
        found = work.title if work.title is not None else work.removed
        if found not in titles:
            return  # lost, which the history tells
        state = titles.index(found) + (work.title is None)
        key = _row(tenant, work.product)
        if state >= process.own.get(key, (-1, 0.0))[0]:
            process.own[key] = (state, asyncio.get_running_loop().time())

    # reads

    async def _looked(self, tenant: TenantId, at: int) -> None:
        process = self.processes[at]
        role = self.random.choice(ROLES)
        look = self.random.choice((self._item, self._page, self._stock))
        try:
            async with asyncio.timeout(30):
                await process.run(look(process, tenant, role))
        except IsolationBreach as breach:
            self.history.faults.append(f"{tenant}: {breach.message}")
        except (TimeoutError, GatewayError, Crashed):
            return
        self.history.reads += 1

    async def _item(self, process: Process, tenant: TenantId, role: str) -> None:
        access = Access(await process.session(tenant, role))
        products = self.random.choice((PRODUCTS, PRODUCTS[:1], PRODUCTS[1:]))
        keys = tuple({"productId": each} for each in products)
        plan = plan_lookup(MODEL, MODEL.lookup("product"), tenant, keys, _NAMES)
        owed = self._owed(process, tenant)
        for product, item in zip(products, await process.table.get(access, plan), strict=True):
            seen = None if item is None else item.values["title"]
            self._check(tenant, owed[product].of_item, product, seen)

    async def _page(self, process: Process, tenant: TenantId, role: str) -> None:
        access = Access(await process.session(tenant, role))
        category = self.random.choice(CATEGORIES)
        listing = MODEL.listing("productsByCategory")
        plan = plan_listing(MODEL, listing, tenant, {"categoryId": category}, Window(10), _NAMES)
        owed = self._owed(process, tenant)
        items = (await process.table.query(access, plan)).items
        titles = {item.values["productId"]: item.values["title"] for item in items}
        for product in PRODUCTS:
            self._check(tenant, owed[product].of_page, product, titles.get(product), category, empty=not titles)

    def _owed(self, process: Process, tenant: TenantId) -> dict[str, Looked]:
        """As the read begins; `answered` is asked for when it has been."""
        now, dropped = asyncio.get_running_loop().time(), process.dropped.get(tenant, -inf)
        return {each: Looked(now, process.own.get(_row(tenant, each)), dropped) for each in PRODUCTS}

    def _check(self, tenant: TenantId, check: Any, product: str, seen: str | None, *page: Any, **more: Any) -> None:
        now = asyncio.get_running_loop().time()
        fault = check(self._states(tenant, product), now, seen, *page, **more)
        if seen is not None and not seen.startswith(f"{tenant} "):
            fault = f"a row of another tenant was read: {seen}"
        self._tell(f"{tenant} sees {product} as {seen}")
        if fault is not None:
            self.history.faults.append(f"{tenant}: {fault} ({product}, at {now:.3f} s)")

    async def _stock(self, process: Process, tenant: TenantId, role: str) -> None:
        """A strong read sees what was acknowledged, and one without a cache is behind by no more than replicas are."""
        writer = Writer(MODEL, process.table, Access(await process.session(tenant, role)))
        taken = self._taken(tenant)
        seen = (await writer.stored("Stock", _STOCK)).values["available"]
        if seen > STOCK - taken:
            self.history.faults.append(f"{tenant}: {taken} were taken, a strong read sees {STOCK - seen}")
        begun = asyncio.get_running_loop().time()
        item = await writer.peek("Stock", _STOCK, "available")
        states = self.client.states[_row(tenant, "p", "STOCK")]
        oldest = [row for since, row in states if since <= begun - LAG][-1:] or [states[0][1]]
        most = int((oldest[0] or {})["available"]["N"])
        if item is None or not self._available(tenant) <= item.values["available"] <= most:
            self.history.faults.append(f"{tenant}: a read was more than {LAG} s behind")

    def _taken(self, tenant: TenantId) -> int:
        return STOCK - self._available(tenant)

    def _available(self, tenant: TenantId) -> int:
        return int(self.client.rows[_row(tenant, "p", "STOCK")]["available"]["N"])

    def _states(self, tenant: TenantId, product: str) -> list[State]:
        return self.client.states[_row(tenant, product)]

    def _tell(self, event: str) -> None:
        self.history.events.append(f"{asyncio.get_running_loop().time():10.3f} {event}")


def _row(tenant: TenantId, product: str, kind: str = "DETAILS") -> RowKey:
    return partition(tenant, f"PRODUCT#{product}"), kind


class _Take:
    """One piece less in stock, without reading it."""

    async def __call__(self, writer: Writer) -> MutationResult:
        change = writer.change()
        change.add("Stock", _STOCK, {"available": -1}, _LESS, never_below_zero=True)
        return await writer.commit(change, MutationResult(Item("Stock", dict(_STOCK), "")))

    def __str__(self) -> str:
        return "one taken"


class _Edit:
    """A product with a new title: created, changed, moved to another category, or removed.

    `title` is None where it was removed, and `removed` the title that it had; `made` tells that this very request has
    made the change, and has not only found it made.
    """

    def __init__(self, random: Random, product: str, title: str) -> None:
        self.product = product
        self.title: str | None = title
        self.removed: str | None = None
        self.made = False
        self._removes = random.random() < 0.2
        self._category = random.choice(CATEGORIES)
        self._price = Decimal(random.randint(1, 99))

    async def __call__(self, writer: Writer) -> MutationResult:
        change = writer.change()
        values = {"title": self.title, "price": self._price, "categoryId": self._category}
        found = await writer.find("Product", {"productId": self.product})
        if found is None:
            made = change.create("Product", {"productId": self.product, "currency": "EUR", **values})
        elif self._removes:
            self.title, self.removed = None, found.values["title"]
            made = change.remove(found)
        else:
            made = change.update(found, values)
        outcome = await writer.commit(change, MutationResult(made))
        self.made = True
        return outcome

    def __str__(self) -> str:
        return f"{self.product} is {self.title}" if self.made else "made before"
