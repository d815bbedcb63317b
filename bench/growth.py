"""Whether an access pattern costs more in a larger table: calls, capacity units and time at 10^3 to 10^5 items.

`python -m bench.growth [sizes ...]`. The engine is `bench/ordered.py`: the engines that exist for tests look at every
item of a table or an index for a Query, so their times would say nothing about a pattern. What each answers is the same
at every size, although the partitions it reads grow: a page of five. Ends with 1 where calls or units differ.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from bench.ordered import Ordered
from gateway.domains import MODEL, MUTATIONS
from gateway.domains.commerce.order import OrderStatus
from gateway.model.entity import Attribute, Entity
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import AccessPattern, Listing, Lookup, Together
from gateway.model.types import Blob, Choice, Flag, Id, Integer, KeyText, ListOf, Number, SetOf, Struct, Timestamp
from gateway.store.codec import Wire, decoder
from gateway.store.items import items_for
from gateway.store.plan import Range, Window, plan_listing, plan_lookup, plan_together
from gateway.store.writer import Writer
from tests.store.editing import editing
from tests.store.world import ACME, TABLE

SIZES = (1_000, 10_000, 100_000)
PAGE = 5
_PENDING = {"S": "PENDING"}
ROUNDS = 15
_FIRST = datetime.now(UTC).replace(microsecond=0) - timedelta(days=20)
# what many items share however many there are: partitions that grow with the table
_SHARED = frozenset({"categoryId", "category", "supplierId"})


def value(entity: Entity, attribute: Attribute, number: int) -> Any:
    """Something of the right type: ten items refer to the same one, and the last part of a key is the item's own."""
    name, last = attribute.name, entity.key_names[-1]
    match attribute.type:
        case Id():
            alone = entity.key_names == (name,)
            return f"{name}-{number if alone else number % 4 if name in _SHARED else _part(name, last, number)}"
        case KeyText():
            return f"{name} {number}" if name != "month" else "2026-01"
        case Timestamp():
            return _FIRST + timedelta(days=30 if name in ("expiresAt", "until") else 0, seconds=number % 86_400)
        case Choice(enum):
            return list(enum)[number % len(list(enum))]
        case Integer():
            return number % 10
        case Number():
            return Decimal(number % 1_000)
        case Flag():
            return number % 2 == 0
        case ListOf():
            return ["productId-1"]
        case Struct() | SetOf() | Blob():
            return None
    return f"{name} of some length, as texts have"[: attribute.type.max_length]


def _part(name: str, last: str, number: int) -> int:
    return number % 10 if name == last else number // 10


def rows(count: int) -> list[Wire]:
    """As many of every entity, about `count` rows together."""
    found: list[Wire] = []
    number = 0
    while len(found) < count:
        for entity in MODEL.entities.values():
            values = {each.name: value(entity, each, number) for each in entity.attributes}
            found += items_for(MODEL, entity, ACME, values)
        number += 1
    return found


@dataclass(frozen=True, slots=True)
class Cost:
    operations: str
    calls: int
    items: int
    units: float
    microseconds: float


Work = Callable[[Writer], Awaitable[object]]


def reading(pattern: AccessPattern, sample: dict[str, Any]) -> Work:
    given = {name: sample[name] for name in parameters(MODEL, pattern)}
    attributes = frozenset(MODEL.entities[pattern.entity].attribute)
    match pattern:
        case Lookup():
            plan = plan_lookup(MODEL, pattern, ACME, (given,), attributes)
            return lambda writer: writer.table.get(writer.access, plan)
        case Listing():
            if pattern.between is not None and MODEL.place(pattern).bucket is not None:
                given[pattern.between] = Range(sample[pattern.between], sample[pattern.between] + timedelta(hours=2))
            listed = plan_listing(MODEL, pattern, ACME, given, Window(PAGE), attributes)
            return lambda writer: writer.table.query(writer.access, listed)
        case Together():
            names = frozenset(name for entity in MODEL.entities.values() for name in entity.attribute)
            both = plan_together(MODEL, pattern, ACME, given, PAGE, names)
            return lambda writer: writer.table.query_together(writer.access, both)


def writing(engine: Ordered) -> dict[str, Work]:
    """Mutations that need nothing but what is there; each round changes another item."""
    runs = {mutation.name: mutation.run for mutation in MUTATIONS}
    pending = list(dict.fromkeys(row["orderId"]["S"] for row in engine.rows.values() if row.get("status") == _PENDING))
    turn = iter(range(10**9))

    def once(name: str, given: Callable[[int], dict[str, Any]]) -> Work:
        return lambda writer: runs[name](writer, given(next(turn)))

    lines = [{"productId": f"productId-{each}", "quantity": 1} for each in range(27, 30)]
    return {
        "placeOrder, 3 lines": once("placeOrder", lambda n: {"userId": f"userId-{n % 40}", "lines": lines}),
        "changeOrderStatus": once(
            "changeOrderStatus", lambda n: {"orderId": pending.pop(), "status": OrderStatus.CONFIRMED}
        ),
        "adjustStock": once("adjustStock", lambda n: {"productId": f"productId-{n % 40}", "by": 1}),
        "createUser": once(
            "createUser", lambda n: {"userId": f"new-{n}", "name": "n", "email": f"new-{n}@example.com"}
        ),
        "updateUser": once("updateUser", lambda n: {"userId": f"userId-{n % 40}", "name": f"name {n}"}),
        "updateProduct, price": once(
            "updateProduct", lambda n: {"productId": f"productId-{n % 40}", "price": Decimal(n)}
        ),
    }


async def measured(engine: Ordered, works: list[Work]) -> Cost:
    """The median of some rounds; every round has an item of its own."""
    spans: list[float] = []
    for work in works:
        writer = editing(engine)  # type: ignore[arg-type]  # whatever speaks to DynamoDB
        started = time.process_time()
        await work(writer)
        spans.append(time.process_time() - started)
    calls = writer.access.calls
    names = ", ".join(dict.fromkeys(call.operation for call in calls))
    return Cost(names, len(calls), sum(call.items for call in calls), writer.access.capacity, median(spans) * 1e6)


async def costs(size: int) -> dict[str, Cost]:
    engine = Ordered(MODEL.table, TABLE, rows(size))
    samples: dict[str, list[dict[str, Any]]] = {name: [] for name in MODEL.entities}
    for row in engine.rows.values():
        entity = MODEL.entities[row["EntityType"]["S"]]
        if "CopyOf" not in row and len(samples[entity.name]) < 40:
            samples[entity.name].append(
                {each.name: decoder(each.type)(row[each.name]) for each in entity.attributes if each.name in row}
            )
    found: dict[str, Cost] = {}
    for name, pattern in MODEL.patterns.items():
        chosen = samples[pattern.entity][20 : 20 + ROUNDS]
        found[name] = await measured(engine, [reading(pattern, sample) for sample in chosen])
    for name, work in writing(engine).items():
        found[name] = await measured(engine, [work] * 5)
    return found


def main() -> int:
    sizes = tuple(int(text) for text in sys.argv[1:]) or SIZES
    tables = {size: asyncio.run(costs(size)) for size in sizes}
    first, last = tables[sizes[0]], tables[sizes[-1]]
    print(
        f"{'pattern':<24}{'operations':<38}{'calls':>6}{'items':>6}  units at {' / '.join(map(str, sizes)):<24}{'time':>6}"
    )
    grown = []
    for name, cost in last.items():
        each = [tables[size][name] for size in sizes]
        units = " / ".join(f"{one.units:g}" for one in each)
        ratio = cost.microseconds / max(first[name].microseconds, 1.0)
        print(f"{name:<24}{cost.operations:<38}{cost.calls:>6}{cost.items:>6}  {units:<33}{ratio:>5.1f} x")
        if len({(one.calls, one.units) for one in each}) > 1:
            grown.append(name)
    print(f"time is that of {sizes[-1]:,} items relative to {sizes[0]:,}")
    if grown:
        print(f"costs more in a larger table: {', '.join(grown)}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
