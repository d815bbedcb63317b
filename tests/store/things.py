"""Things and tags in the table, and plans to read them."""

from datetime import timedelta
from typing import Any

from gateway.model.tenant import TenantId
from gateway.store.plan import GetItems, QueryMany, Window, plan_listing, plan_lookup
from gateway.store.rows import Item
from gateway.store.write.items import items_for
from gateway.testing.memory import Memory, Row
from tests.store.fixtures import ACME, MODEL, NOW, TAG, THING

NAMES = frozenset({"thingId", "word"})


def thing(name: str, tenant: TenantId = ACME, minutes: int = 0) -> list[Row]:
    at = NOW - timedelta(minutes=minutes)
    return items_for(MODEL, THING, tenant, {"thingId": name, "kind": "k", "at": at, "rank": minutes})


def tag(word: str, seconds: int | None = None) -> list[Row]:
    until = None if seconds is None else NOW + timedelta(seconds=seconds)
    return items_for(MODEL, TAG, ACME, {"thingId": "t", "word": word, "until": until})


def lookup(*names: str, pattern: str = "thing") -> GetItems:
    return plan_lookup(MODEL, MODEL.lookup(pattern), ACME, tuple({"thingId": name} for name in names), NAMES)


def listing(name: str, window: Window, **arguments: Any) -> QueryMany:
    return plan_listing(MODEL, MODEL.listing(name), ACME, arguments, window, NAMES)


def ids(items: list[Item | None]) -> list[str | None]:
    return [None if item is None else item.values["thingId"] for item in items]


def words(items: tuple[Item, ...] | list[Item]) -> list[str]:
    return [item.values["word"] for item in items]


def operations(memory: Memory) -> list[str]:
    return [operation for operation, _ in memory.sent]
