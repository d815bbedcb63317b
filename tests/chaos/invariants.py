"""What must hold of the table whatever happened: each check tells what is wrong, and nothing where all is well."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from gateway.demo import MODEL
from gateway.model.entity import Reference
from gateway.model.keys import ItemKey, item_key
from gateway.model.tenant import partition
from gateway.sandbox.dev.seeds import CANARY
from gateway.store.write.counters import counter_members, entered
from gateway.store.write.items import items_for
from gateway.store.write.references import referred
from tests.chaos.stored import Contents, Row, Stored, key_of, kind, tenant_of
from tests.fixtures import CANARIES

_OWN = ("Unique", "Idempotency")
_TABLE = MODEL.table


def violations(found: Contents) -> list[str]:
    checks = (
        *(foreign, derived, copies, marks, counters, records, main_addresses, negative_stock, orders, histories),
        referred_to,
    )
    return [f"{check.__name__}: {fault}" for check in checks for fault in check(found)]


def foreign(found: Contents) -> Iterator[str]:
    """Nothing of one tenant in another: prefixes of every key, and the marker of every tenant."""
    indexes = [index.pk for index in _TABLE.indexes]
    for key, row in found.rows.items():
        tenant = tenant_of(key.pk)
        if tenant not in CANARIES:
            yield f"{key} belongs to nobody"
        for name in indexes:
            if name in row and tenant_of(row[name]["S"]) != tenant:
                yield f"{key} lies in an index of another tenant: {row[name]['S']}"
        text = orjson.dumps(row).decode()
        for other, canary in CANARIES.items():
            if other != tenant and (canary in text or f"TENANT#{other}#" in text):
                yield f"{key} carries something of {other}"


def derived(found: Contents) -> Iterator[str]:
    """Every row is what its values make it: key, index entries, expiry, discriminator."""
    for key, row in found.rows.items():
        if kind(row) not in MODEL.stored and kind(row) not in _OWN:
            yield f"{key} is of an unknown kind: {kind(row)}"
    for item in found.items():
        expected = {**_expected(item)[0], **_counted(item), **_marks(item)}
        if _comparable(expected) != _comparable(item.row):
            yield f"{item.key} is not derived from its values: {_differences(expected, item.row)}"


def copies(found: Contents) -> Iterator[str]:
    """Every copy equals its original, and every original has all of its copies."""
    expected = {key_of(copy): copy for item in found.items() for copy in _expected(item)[1:]}
    there = {key: row for key, row in found.rows.items() if _TABLE.copy_of in row}
    for key, copy in expected.items():
        if key not in there:
            yield f"{key} is missing"
        elif _comparable(copy) != _comparable(there[key]):
            yield f"{key} differs from its original: {_differences(copy, there[key])}"
    for key in there.keys() - expected.keys():
        yield f"{key} has no original"


def marks(found: Contents) -> Iterator[str]:
    """Every value that must be unique is held by exactly one item, and every mark has its owner."""
    expected: dict[ItemKey, str] = {}
    for item in found.items():
        for attribute in item.entity.unique:
            if item.values.get(attribute) is None:
                continue
            mark = _mark(item, attribute)
            if mark in expected:
                yield f"{attribute} of {item.key} is also held by {expected[mark]}"
            expected[mark] = f"{item.key.pk}/{item.key.sk}"
    there = {key_of(row): row["owner"]["S"] for row in found.of("Unique")}
    for key in expected.keys() | there.keys():
        if expected.get(key) != there.get(key):
            yield f"{key} is owned by {there.get(key)}, and should be by {expected.get(key)}"


def counters(found: Contents) -> Iterator[str]:
    """Every counter is the number of items that its list has, row by row."""
    expected: Counter[ItemKey] = Counter()
    for item in found.items():
        if item.entity.name in MODEL.counted:
            for member in counter_members(MODEL, item.entity, item.tenant, None, item.values):
                expected[member.key] += 1
    names = {counter.name for counter in MODEL.counters.values()}
    there = {key_of(row): int(row[_TABLE.counted]["N"]) for row in found.of(*names)}
    for key in expected.keys() | there.keys():
        if expected[key] != there.get(key, 0):
            yield f"{key} counts {there.get(key, 0)} items, and there are {expected[key]}"


def records(found: Contents) -> Iterator[str]:
    """A record of a change names something of the model under the same tenant, and ends."""
    for row in found.of("Idempotency"):
        outcome = orjson.loads(row["outcome"]["S"])
        if outcome["entity"] not in MODEL.entities or tenant_of(outcome["key"][0]) != tenant_of(key_of(row).pk):
            yield f"{key_of(row)} tells of {outcome}"
        if not int(row[_TABLE.ttl]["N"]) or len(row["fingerprint"]["S"]) != 64:
            yield f"{key_of(row)} has no end or no fingerprint"


def main_addresses(found: Contents) -> Iterator[str]:
    """A user's main address is one of the user's addresses, and no address is left without a user."""
    for item in found.items("User"):
        for attribute, entity in (("email", "Email"), ("phone", "Phone")):
            if item.values.get(attribute) is not None:
                key = item_key(item.tenant, MODEL.entities[entity], item.values)
                if key not in found.rows:
                    yield f"{item.key} has the {attribute} `{item.values[attribute]}`, which it does not own"
    for item in found.items("Email", "Phone"):
        if item_key(item.tenant, MODEL.entities["User"], item.values) not in found.rows:
            yield f"{item.key} has no user"


def negative_stock(found: Contents) -> Iterator[str]:
    return (
        f"{item.key} has {item.values['available']}" for item in found.items("Stock") if item.values["available"] < 0
    )


def orders(found: Contents) -> Iterator[str]:
    """An order has all of its lines and costs what they cost; no line is left without its order."""
    lines: dict[tuple[str, str], list[Stored]] = {}
    for line in found.items("OrderLine"):
        lines.setdefault((line.tenant, line.values["orderId"]), []).append(line)
    for order in found.items("Order"):
        own = lines.pop((order.tenant, order.values["orderId"]), [])
        if sorted(line.values["productId"] for line in own) != sorted(order.values["productIds"]):
            yield f"{order.key} has other lines than it says"
        if sum(line.values["unitPrice"] * line.values["quantity"] for line in own) != order.values["total"]:
            yield f"{order.key} costs {order.values['total']}, its lines cost something else"
    yield from (f"order {order} of {tenant} has lines and does not exist" for tenant, order in lines)


def histories(found: Contents) -> Iterator[str]:
    """The newest event of an order has its status; no event is left without its order."""
    events = sorted(found.items("OrderEvent"), key=lambda each: each.key.sk)
    newest = {(event.tenant, event.values["orderId"]): event.values["status"] for event in events}
    for order in found.items("Order"):
        if newest.pop((order.tenant, order.values["orderId"]), None) != order.values["status"]:
            yield f"{order.key} has a status that its history does not end with"
    yield from (f"order {order} of {tenant} has a history and does not exist" for tenant, order in newest)


def referred_to(found: Contents) -> Iterator[str]:
    """What a write makes sure of stays: nobody refers to an item that is not there."""
    for item in found.items():
        for relation in item.entity.relations:
            if isinstance(relation, Reference) and relation.checked:
                target = referred(MODEL, item.entity, relation, item.values)
                if target is not None and item_key(item.tenant, target.entity, target.key) not in found.rows:
                    yield f"{item.key} refers to a {target.entity.name} that is not there: {target.key}"


def _mark(item: Stored, attribute: str) -> ItemKey:
    kind_of: Any = item.entity.attribute[attribute].type  # unique attributes fill keys
    text = kind_of.key_text(attribute, item.values[attribute])
    return ItemKey(partition(item.tenant, f"UNIQUE#{item.entity.name}#{attribute}#{text}"), "UNIQUE")


def _expected(item: Stored) -> list[Row]:
    return items_for(MODEL, item.entity, item.tenant, item.values, item.version)


def _counted(item: Stored) -> Row:
    """How often a write began to refer to the item, which its values do not tell: a number above zero.

    Only what others keep from being removed has it; `references` of the expectations compares the number.
    """
    count = item.row.get(_TABLE.references, {}).get("N", "")
    known = item.entity.name in MODEL.referrers and count.isdecimal() and int(count) > 0
    return {_TABLE.references: {"N": count}} if known else {}


def _marks(item: Stored) -> Row:
    """The lists that count the item or have counted it: a mark stays when the item leaves the list."""
    names = {listing.name for listing in MODEL.counted.get(item.entity.name, ())}
    found = frozenset(item.row.get(_TABLE.counted_by, {}).get("SS", ()))
    expected = (found & names) | entered(MODEL, item.entity, None, item.values)
    return {_TABLE.counted_by: {"SS": sorted(expected)}} if expected else {}


def _comparable(row: Row) -> Row:
    """Sets have no order; the demo rows carry a marker beside what the model declares."""
    return {name: _sorted(value) for name, value in row.items() if name != CANARY}


def _sorted(value: Row) -> Any:
    [(letter, content)] = value.items()
    return (letter, sorted(content)) if letter in ("SS", "NS", "BS") else value


def _differences(expected: Row, row: Row) -> str:
    names = sorted(name for name in {*expected, *row} - {CANARY} if expected.get(name) != row.get(name))
    return "; ".join(f"{name} is {row.get(name)}, not {expected.get(name)}" for name in names)
