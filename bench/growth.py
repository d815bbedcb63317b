"""Whether an access pattern costs more in a larger table: calls, capacity units and time at 10^3 to 10^5 items.

`python -m bench.growth [sizes ...]`. The engine is `bench/ordered.py`: the engines that exist for tests look at every
item of a table or an index for a Query, so their times would say nothing about a pattern. What each answers is the same
at every size, although the partitions it reads grow: a page of five. Fails where calls or units differ.
"""

import asyncio
import decimal
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from statistics import median
from typing import Any

from bench.ordered import Ordered
from gateway.demo import MODEL
from gateway.demo.commerce.order import OrderStatus
from gateway.model.entity import Attribute, Entity
from gateway.model.keys import rendered
from gateway.model.patterns import AccessPattern, ItemCollection, Listing, Lookup, parameters
from gateway.model.types import (
    Boolean,
    Currency,
    DecimalNumber,
    Email,
    EnumOf,
    Id,
    Integer,
    KeyString,
    ListOf,
    Text,
    Timestamp,
    Wire,
)
from gateway.store.plan import Range, Window, plan_item_collection, plan_listing, plan_lookup
from gateway.store.write.items import items_for
from gateway.store.write.writer import Writer
from tests.store.editing import editing
from tests.store.fixtures import ACME, TABLE

SIZES = (1_000, 10_000, 100_000)
PAGE = 5
_PENDING = {"S": "PENDING"}
ROUNDS = 15
# the first items, of which the others are members: in the smallest table the third has its ten, too
_WITH_MEMBERS = 3
_FIRST = datetime.now(UTC).replace(microsecond=0) - timedelta(days=20)
# what many items share however many there are: partitions that grow with the table
_SHARED = frozenset({"categoryId", "category", "supplierId"})


def value(entity: Entity, attribute: Attribute, number: int) -> Any:  # noqa: C901  one case for each type
    """Something of the right type: ten items refer to the same one, and the last part of a key is the item's own."""
    name, last = attribute.name, entity.key_names[-1]
    match attribute.type:
        case Id():
            alone = entity.key_names == (name,)
            return f"{name}-{number if alone else number % 4 if name in _SHARED else _part(name, last, number)}"
        case Email() | Currency():
            return f"user-{number}@acme.example" if isinstance(attribute.type, Email) else "EUR"
        case KeyString():
            return f"{name} {number}" if name != "month" else "2026-01"
        case Timestamp():
            return _FIRST + timedelta(days=30 if name in ("expiresAt", "until") else 0, seconds=number % 86_400)
        case EnumOf(enum):
            return list(enum)[number % len(list(enum))]
        case Integer():
            return number % 10
        case DecimalNumber():
            return decimal.Decimal(number % 1_000)
        case Boolean():
            return number % 2 == 0
        case ListOf():
            return ["productId-1"] if name != "items" else []
        case Text(max_length):
            return f"{name} of some length, as texts have"[:max_length]
    return None


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
        case ItemCollection():
            names = frozenset(name for entity in MODEL.entities.values() for name in entity.attribute)
            both = plan_item_collection(MODEL, pattern, ACME, given, PAGE, names)
            return lambda writer: writer.table.query_item_collection(writer.access, both)


def writing(engine: Ordered) -> dict[str, Work]:
    """Mutations that need nothing but what is there; each round changes another item."""
    runs = {mutation.name: mutation.run for mutation in MODEL.mutations}
    orders = (row for row in engine.rows.values() if row["EntityType"]["S"] == "Order")
    pending = list(dict.fromkeys(row["orderId"]["S"] for row in orders if row.get("status") == _PENDING))
    turn, confirmed = count(), OrderStatus.CONFIRMED

    def once(name: str, given: Callable[[int], dict[str, Any]]) -> Work:
        return lambda writer: runs[name](writer, given(next(turn)))

    lines = [{"productId": f"productId-{each}", "quantity": 1} for each in range(27, 30)]
    return {
        "placeOrder, 3 lines": once("placeOrder", lambda n: {"userId": f"userId-{n % 40}", "lines": lines}),
        "changeOrderStatus": once("changeOrderStatus", lambda n: {"orderId": pending.pop(), "status": confirmed}),
        "adjustStock": once("adjustStock", lambda n: {"productId": f"productId-{n % 40}", "by": 1}),
        "createUser": once(
            "createUser", lambda n: {"userId": f"new-{n}", "name": "n", "email": f"new-{n}@example.com"}
        ),
        "updateUser": once("updateUser", lambda n: {"userId": f"userId-{n % 40}", "name": f"name {n}"}),
        "updateProduct, price": once(
            "updateProduct", lambda n: {"productId": f"productId-{n % 40}", "price": decimal.Decimal(n)}
        ),
    }


async def once_more(engine: Ordered, work: Work) -> Cost:
    writer = editing(engine)  # type: ignore[arg-type]  # whatever speaks to DynamoDB
    started = time.process_time()
    await work(writer)
    spent = time.process_time() - started
    calls = writer.access.calls
    names = ", ".join(dict.fromkeys(call.operation for call in calls))
    return Cost(names, len(calls), sum(call.items for call in calls), writer.access.capacity, spent * 1e6)


def samples(engine: Ordered) -> dict[str, list[dict[str, Any]]]:
    """Some items of every entity, by their values."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in MODEL.entities}
    for row in engine.rows.values():
        entity = MODEL.entities[row["EntityType"]["S"]]
        if "CopyOf" not in row and len(found[entity.name]) < _WITH_MEMBERS:
            values = {each.name: each.type.decoder()(row[each.name]) for each in entity.attributes if each.name in row}
            found[entity.name].append(values)
    return found


def works(engine: Ordered) -> dict[str, list[Work]]:
    """Every pattern and some changes, each round with another item."""
    known, found = samples(engine), dict[str, list[Work]]()
    for name, pattern in MODEL.patterns.items():
        entity = MODEL.entities[pattern.entity]
        place = MODEL.place(pattern) if isinstance(pattern, Listing) else entity.primary
        fitting = [values for values in known[entity.name] if rendered(entity, place, values) is not None]
        found[name] = [reading(pattern, values) for values in (fitting * ROUNDS)[-ROUNDS:]]
    return found | {name: [work] * 5 for name, work in writing(engine).items()}


async def compared(engines: dict[int, Ordered]) -> dict[str, dict[int, Cost]]:
    """By pattern and size. The sizes take turns, so that what else the machine does falls on all of them."""
    todo = {size: works(engine) for size, engine in engines.items()}
    found: dict[str, dict[int, Cost]] = {}
    for name, rounds in todo[min(engines)].items():
        costs: dict[int, list[Cost]] = {size: [] for size in engines}
        for turn in range(len(rounds)):
            for size, engine in engines.items():
                costs[size].append(await once_more(engine, todo[size][name][turn]))
        found[name] = {
            size: replace(each[-1], microseconds=median(cost.microseconds for cost in each))
            for size, each in costs.items()
        }
    return found


def differ(found: dict[int, Cost]) -> bool:
    """In the smallest table some shards have less than a page."""
    items = {cost.items for size, cost in found.items() if size > min(found)}
    return len({(cost.calls, cost.units) for cost in found.values()}) > 1 or len(items) > 1


def main() -> None:
    sizes = tuple(int(text) for text in sys.argv[1:]) or SIZES
    engines = {size: Ordered(MODEL.table, TABLE, rows(size)) for size in sizes}
    gc.collect()
    gc.freeze()
    gc.disable()
    costs = asyncio.run(compared(engines))
    gc.enable()
    head = f"units at {' / '.join(map(str, sizes))}"
    print(f"{'pattern':<24}{'operations':<38}{'calls':>6}{'items':>6}  {head:<33}{'time':>7}")
    for name, found in costs.items():
        cost, units = found[sizes[-1]], " / ".join(f"{found[size].units:g}" for size in sizes)
        ratio = cost.microseconds / max(found[sizes[0]].microseconds, 1.0)
        print(f"{name:<24}{cost.operations:<38}{cost.calls:>6}{cost.items:>6}  {units:<33}{ratio:>5.1f} x")
    print(f"time is CPU at {sizes[-1]:,} items relative to {sizes[0]:,}")
    grown = [name for name, found in costs.items() if differ(found)]
    if grown:
        sys.exit(f"costs more in a larger table: {', '.join(grown)}")


if __name__ == "__main__":
    main()
