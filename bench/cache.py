"""What the read cache saves, and what a hit costs: a Zipf workload of 200 tenants on the shipped model and policies.

The table is `bench/ordered.py`, in this process: a call to DynamoDB costs more than it does, so real savings are
larger. What expires does so by a simulated clock; what something costs is measured.
"""

import asyncio
import gc
import random
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import accumulate

from bench.ordered import Ordered
from bench.wire import ours, stub
from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.graph.query.lane.items import ItemsRead
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.lane.rows import RowType
from gateway.graph.query.lane.source import LaneTable
from gateway.graph.query.tree import AttributeField, ItemSelection
from gateway.iam.policies.policies import generated
from gateway.model.tenant import TenantId, tenant_id
from gateway.model.types import Wire
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.keeper import CacheRules, Clocks
from gateway.store.cursor import Cursors
from gateway.store.plan import GetItems, QueryMany, ReadLimits, Window, plan_listing, plan_lookup
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.store.write.items import items_for
from tests.store.fixtures import TABLE, tenancy

TENANTS, PRODUCTS, CATEGORIES = 200, 60, 2
REQUESTS, PER_SECOND = 8_000, 1_000
ROUNDS, TIMED = 9, 60
NAMES = frozenset({"productId", "title", "price", "currency", "categoryId"})

_permissions = permissions_for(generated(MODEL), MODEL)
_PLACE = tenancy(table=TABLE)
_CURSORS, _READS = Cursors("any"), ReadLimits()
ALL = [tenant_id(f"tenant-{number:03}") for number in range(TENANTS)]


async def no_renewal(session: Session) -> Session:
    raise AssertionError("nothing expires here")


def session(tenant: TenantId, role: str = "viewer") -> Session:
    return Session(tenant, role, Credentials("AKID", "secret"), _PLACE, _permissions(_PLACE, tenant, role))


def rows(tenant: TenantId) -> list[Wire]:
    product = MODEL.entities["Product"]
    return [
        items_for(
            MODEL,
            product,
            tenant,
            {
                "productId": f"p-{number}",
                "title": f"Product {number} of a catalogue",
                "description": "What it is good for. " * 12,
                "price": Decimal(number % 90 + 1),
                "currency": "EUR",
                "categoryId": f"c-{number % CATEGORIES}",
            },
        )[0]
        for number in range(PRODUCTS)
    ]


def one(tenant: TenantId, number: int) -> GetItems:
    return plan_lookup(MODEL, MODEL.lookup("product"), tenant, ({"productId": f"p-{number}"},), NAMES)


def many(tenant: TenantId, numbers: list[int]) -> GetItems:
    keys = tuple({"productId": f"p-{number}"} for number in numbers)
    return plan_lookup(MODEL, MODEL.lookup("product"), tenant, keys, NAMES)


def page(tenant: TenantId, number: int) -> QueryMany:
    arguments = {"categoryId": f"c-{number % CATEGORIES}"}
    return plan_listing(MODEL, MODEL.listing("productsByCategory"), tenant, arguments, Window(20), NAMES)


class Zipf:
    """Numbers below `size`, the first ones much more often."""

    def __init__(self, size: int, chance: random.Random) -> None:
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(size)))
        self._size = size
        self._chance = chance

    def draw(self) -> int:
        return self._chance.choices(range(self._size), cum_weights=self._weights)[0]


@dataclass
class Run:
    hit_ratio: float
    calls: int
    units: float
    saved: float
    evictions: int


async def workload(table: Table, cache: ReadCache | None, clock: list[float]) -> Run:
    chance = random.Random(7)
    tenants, products = Zipf(TENANTS, chance), Zipf(PRODUCTS, chance)
    sessions = {tenant: session(tenant) for tenant in ALL}
    calls, units = 0, 0.0
    for _ in range(REQUESTS):
        clock[0] += 1 / PER_SECOND
        tenant, number, kind = ALL[tenants.draw()], products.draw(), chance.random()
        access = Access(sessions[tenant])
        if kind < 0.6:
            await table.get(access, one(tenant, number))
        elif kind < 0.8:
            await table.get(access, many(tenant, [products.draw() for _ in range(5)]))
        else:
            await table.query(access, page(tenant, number))
        calls += sum(call.source == "table" for call in access.calls)
        units += access.capacity
    if cache is None:
        return Run(0.0, calls, units, 0.0, 0)
    await asyncio.sleep(0)
    total = cache.stats().total
    answered = total.hits + total.stale + total.shared
    hit_ratio = answered / (answered + total.misses)
    return Run(hit_ratio, calls + total.renewals, units + total.renewal_units, total.units, total.evictions)


def new_cache(clock: list[float], room: int = 64_000_000) -> ReadCache:
    return ReadCache(MODEL, CacheRules(bytes=room), clocks=Clocks(now=lambda: clock[0]))


async def savings(engine: Ordered) -> None:
    clock = [0.0]
    off = await workload(Table(engine, MODEL, no_renewal), None, clock)
    print(f"{REQUESTS:,} requests of {TENANTS} tenants, {PER_SECOND:,} a second, from an empty cache on;")
    print("Zipf over tenants and products: 60 % one item, 20 % five items, 20 % a page of 20")
    print(
        f"{'cache':<22}{'answered':>10}{'calls':>10}{'units':>12}{'calls saved':>13}{'units saved':>13}{'evicted':>10}"
    )
    print(f"{'off':<22}{'':>10}{off.calls:>10,}{off.units:>12,.0f}")
    for title, room in (("64 MB", 64_000_000), ("4 MB", 4_000_000)):
        clock = [0.0]
        cache = new_cache(clock, room)
        run = await workload(Table(engine, MODEL, no_renewal, cache=cache), cache, clock)
        await cache.close()
        print(
            f"{title:<22}{run.hit_ratio:>10.1%}{run.calls:>10,}{run.units:>12,.0f}"
            f"{1 - run.calls / off.calls:>13.1%}{1 - run.units / off.units:>13.1%}{run.evictions:>10,}"
        )


async def timed(works: dict[str, Callable[[], Awaitable[object]]]) -> dict[str, float]:
    """Microseconds of CPU of each, the least of its rounds; rounds take turns, so that all meet the same noise."""
    spans = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            started = time.process_time()
            for _ in range(TIMED):
                await work()
            spans[name] = min(spans[name], (time.process_time() - started) / TIMED * 1e6)
    return spans


async def costs(engine: Ordered) -> None:
    cache, rows_of, tenant = new_cache([0.0]), Rows(MODEL), ALL[0]
    off = Table(engine, MODEL, no_renewal, rows_of)
    on = Table(engine, MODEL, no_renewal, rows_of, cache)
    access = Access(session(tenant))
    items = {"GetItem": one(tenant, 1), "BatchGetItem of 20": many(tenant, list(range(20)))}
    listing = page(tenant, 1)
    works: dict[str, Callable[[], Awaitable[object]]] = {}
    for name, plan in items.items():
        works[f"{name}, off"] = partial(_get, off, access, plan)
        works[f"{name}, on but not declared"] = partial(_get, on, access, replace(plan, fresh=True))
        works[f"{name}, hit"] = partial(_get, on, access, plan)
        works[f"{name}, hit in a lane"] = partial(_get_in_lane, in_lane(on, access.session), on, access, plan)
    works["Query of 20, off"] = partial(_query, off, access, listing)
    works["Query of 20, on but not declared"] = partial(_query, on, access, replace(listing, cached=None))
    works["Query of 20, hit"] = partial(_query, on, access, listing)
    body = {"TableName": TABLE, "Key": {"PK": {"S": items["GetItem"].keys[0].pk}, "SK": {"S": "DETAILS"}}}
    works["authorising a GetItem"] = partial(_check, access, body)
    with stub() as url:
        async with ours(url) as calls:
            works["what a GetItem costs beside, over a connection"] = calls["GetItem"]
            await _print_times(works)
    await cache.close()


async def _print_times(works: dict[str, Callable[[], Awaitable[object]]]) -> None:
    print(f"\n{'CPU, where the table itself costs next to nothing':<52}{'us':>8}{'off':>8}")
    spans = await timed(works)
    for name, span in spans.items():
        before = spans.get(f"{name.partition(',')[0]}, off")
        print(f"{name:<52}{span:>8.1f}" + (f"{span / before:>7.2f}x" if before else ""))


async def _get(table: Table, access: Access, plan: GetItems) -> None:
    access.calls.clear()
    await table.get(access, plan)


async def _get_in_lane(items: ItemsRead, table: Table, access: Access, plan: GetItems) -> None:
    access.calls.clear()
    request = LaneRequest(access, {}, table, _CURSORS, _READS)
    if len(plan.keys) == 1:
        await items.one(request, plan.keys[0])
    else:
        await items.read(request, plan.keys)


def in_lane(table: Table, given: Session) -> ItemsRead:
    entity = MODEL.entities["Product"]
    fields = tuple(AttributeField(name, entity.attribute[name], ()) for name in sorted(NAMES))
    selection = ItemSelection(entity, NAMES, fields)
    rows = RowType(MODEL, [selection], MODEL.table.sk, also={}, denied=frozenset())
    return ItemsRead(LaneTable(table, given), entity, rows, NAMES, strong=False)


async def _query(table: Table, access: Access, plan: QueryMany) -> None:
    access.calls.clear()
    await table.query(access, plan)


async def _check(access: Access, body: Wire) -> None:
    access.session.permissions.check("GetItem", body)


async def memory(engine: Ordered) -> None:
    """What an entry really takes, against what it is counted as."""
    print(f"\n{'memory of an entry':<22}{'taken':>10}{'counted':>10}")
    for title, read in (("an item", _items), ("a page of 20", _pages)):
        clock = [0.0]
        cache = new_cache(clock)
        table = Table(engine, MODEL, no_renewal, cache=cache)
        sessions = [session(tenant) for tenant in ALL[:60]]
        await read(table, session(ALL[-1]))
        gc.collect()
        tracemalloc.start()
        before, entries, counted = tracemalloc.get_traced_memory()[0], cache.stats().entries, cache.stats().bytes
        for each in sessions:
            await read(table, each)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        made = cache.stats().entries - entries
        share = (cache.stats().bytes - counted) / made
        print(f"{title:<22}{taken / made:>10,.0f}{share:>10,.0f}   bytes, {made:,} entries")
        await cache.close()


async def _items(table: Table, given: Session) -> None:
    await table.get(Access(given), many(given.tenant, list(range(PRODUCTS))))


async def _pages(table: Table, given: Session) -> None:
    for number in range(CATEGORIES):
        await table.query(Access(given), page(given.tenant, number))


async def main() -> None:
    engine = Ordered(MODEL.table, TABLE, [row for tenant in ALL for row in rows(tenant)])
    gc.freeze()
    await savings(engine)
    await costs(engine)
    await memory(engine)


if __name__ == "__main__":
    asyncio.run(main())
