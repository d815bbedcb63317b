"""What the ledger says the table must hold: every acknowledged change exactly once, every refused one not at all."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gateway.demo import MODEL
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId, partition
from tests.chaos.ledger import Entry, Ledger
from tests.chaos.stored import Contents, Stored
from tests.chaos.updates import miscounted
from tests.chaos.workload import DEVICE, POSTS, STOCK, Shop


def contradictions(found: Contents, ledger: Ledger, shops: list[Shop]) -> list[str]:
    faults = [f"surprise: {surprise}" for surprise in ledger.surprises]
    faults += [f"outcomes: {fault}" for fault in outcomes(found, ledger)]
    made = Ledger([entry for entry in ledger.entries if applied(found, entry)])
    for shop in shops:
        for check in (stock, placed, moved, people, products, references, likes, readings):
            faults += [f"{check.__name__}: {shop.tenant}: {fault}" for fault in check(found, made, shop)]
    return faults


def applied(found: Contents, entry: Entry) -> bool:
    """Whether the change was made. Only where a refusal followed an attempt without a result, its record tells."""
    return entry.acknowledged or (bool(entry.uncertain) and entry.record in found.rows)


def outcomes(found: Contents, ledger: Ledger) -> Iterator[str]:
    """A change and its record are one: there is a record for each change that was made, and for nothing else."""
    for entry in ledger.entries:
        if not entry.settled:
            yield f"{entry.mutation} {entry.key} never got a result"
        if entry.acknowledged and entry.record not in found.rows:
            yield f"{entry.mutation} {entry.key} was acknowledged and left no record"
        if entry.refused and not entry.acknowledged and not entry.uncertain and entry.record in found.rows:
            yield f"{entry.mutation} {entry.key} was refused ({entry.refused}) and left a record"
    known = {entry.record for entry in ledger.entries}
    strange = sum(ItemKey(row["PK"]["S"], row["SK"]["S"]) not in known for row in found.of("Idempotency"))
    if strange:
        yield f"{strange} records belong to nobody"


def stock(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """What was there, less what was ordered, with what came back and what was counted in."""
    expected = Counter(dict.fromkeys(shop.products, STOCK))
    lines = {order: entry.input["lines"] for entry in _orders(made, shop.tenant) for order in [_order_of(found, entry)]}
    for ordered in lines.values():
        expected.subtract({line["productId"]: line["quantity"] for line in ordered})
    for entry in made.of(shop.tenant, "cancelOrder", "changeOrderStatus"):
        if entry.mutation == "cancelOrder" or entry.input["status"] == "CANCELLED":
            expected.update({line["productId"]: line["quantity"] for line in lines[entry.input["orderId"]]})
    for entry in made.of(shop.tenant, "adjustStock"):
        expected[entry.input["productId"]] += entry.input["by"]
    for item in _of(found, shop.tenant, "Stock"):
        product, available = item.values["productId"], item.values["available"]
        if product in expected and available != expected[product]:
            yield f"{product} has {available}, the acknowledged changes add up to {expected[product]}"


def placed(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """Every order that was placed is there once, and no other one is."""
    notes = Counter(item.values.get("note") for item in _of(found, shop.tenant, "Order") if _ours(item))
    expected = Counter(entry.input["note"] for entry in _orders(made, shop.tenant))
    for note in notes.keys() | expected.keys():
        if notes[note] != expected[note]:
            yield f"order `{note}` is there {notes[note]} times, not {expected[note]}"


def moved(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """Every step of an order was taken once: its version counts them, and its history has each."""
    steps = Counter(entry.input["orderId"] for entry in made.of(shop.tenant, "cancelOrder", "changeOrderStatus"))
    events = Counter(event.values["orderId"] for event in _of(found, shop.tenant, "OrderEvent"))
    for item in _of(found, shop.tenant, "Order"):
        order = item.values["orderId"]
        if _ours(item) and not item.version == events[order] == 1 + steps[order]:
            yield f"{item.key} has version {item.version} and {events[order]} events after {steps[order]} changes"


def people(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """Users that were created and not removed are there; their versions count what was changed."""
    removed = {entry.input["userId"] for entry in made.of(shop.tenant, "removeUser")}
    created = {entry.input["userId"] for entry in made.of(shop.tenant, "createUser")}
    there = {
        item.values["userId"]: item for item in _of(found, shop.tenant, "User") if item.values["userId"][:2] == "f-"
    }
    for user in (created - removed) ^ there.keys():
        yield f"user {user} {'is there and should not be' if user in there else 'is missing'}"
    changes = _by(made.of(shop.tenant, "createUser", "updateUser", "addEmail"), "userId")
    for user, item in there.items():
        yield from miscounted(found, item, changes.get(user, []))


def products(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    there = {item.values["productId"]: item for item in _of(found, shop.tenant, "Product")}
    for product, changes in _by(made.of(shop.tenant, "createProduct", "updateProduct"), "productId").items():
        if product not in there:
            yield f"product {product} is missing"
        else:
            yield from miscounted(found, there[product], changes)


def references(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """What cannot be removed while others refer to it counts those that began to since the start; nothing else does."""
    began = Counter(("Author", entry.input["authorId"]) for entry in made.of(shop.tenant, "createDraft"))
    began.update(("Category", entry.input["categoryId"]) for entry in made.of(shop.tenant, "createProduct"))
    for item in _of(found, shop.tenant, *MODEL.entities):
        counted = item.row.get(MODEL.table.references, {"N": "0"})["N"]
        expected = began.pop((item.entity.name, item.values[item.entity.key_names[0]]), 0)
        if counted != str(expected):
            yield f"{item.key} counts {counted} references, and {expected} began"
    yield from (
        f"{entity} {name} is missing, and {count} began to refer to it" for (entity, name), count in began.items()
    )


def likes(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """Who likes what is what was liked and not unliked since, and every shard counts just its own likes."""
    there = Counter[tuple[str, str]]()
    shards = Counter[tuple[str, int]]()
    for item in _of(found, shop.tenant, "Like"):
        if item.values["postId"] in POSTS:
            there[item.values["postId"], item.values["userId"]] += 1
            shards[item.values["postId"], item.values["slot"]] += 1
    balance = Counter((entry.input["postId"], entry.input["userId"]) for entry in made.of(shop.tenant, "likePost"))
    balance.subtract((entry.input["postId"], entry.input["userId"]) for entry in made.of(shop.tenant, "unlikePost"))
    for like in balance.keys() | there.keys():
        if balance[like] != there[like]:
            yield f"like {like} is there {there[like]} times, the acknowledged changes add up to {balance[like]}"
    for item in _of(found, shop.tenant, "Counter"):
        shard = item.values["subjectId"], item.values["slot"]
        if shard[0] in POSTS and item.values["count"] != shards[shard]:
            yield f"shard {shard} counts {item.values['count']}, and has {shards[shard]} likes"


def readings(found: Contents, made: Ledger, shop: Shop) -> Iterator[str]:
    """A bulk is no transaction: all of an acknowledged one is there, and the latest reading is not older than that."""
    bulks = [reading for entry in made.of(shop.tenant, "recordReadings") for reading in entry.input["readings"]]
    there = {
        item.values["recordedAt"].isoformat(): str(item.values["value"])
        for item in _of(found, shop.tenant, "Reading")
        if item.values["deviceId"] == DEVICE
    }
    missing = [each for each in bulks if there.get(each["recordedAt"]) != each["value"]]
    if missing:
        yield f"{len(missing)} of {len(bulks)} readings are missing or wrong"
    for item in _of(found, shop.tenant, "LatestReading"):
        newest = item.values["recordedAt"].isoformat()
        if item.values["deviceId"] != DEVICE or not bulks:
            continue
        if newest not in there or newest < max(each["recordedAt"] for each in bulks):
            yield f"the latest reading is of {newest}, which is not the newest"


def _orders(made: Ledger, tenant: TenantId) -> Iterator[Entry]:
    return made.of(tenant, "placeOrder")


def _order_of(found: Contents, entry: Entry) -> str:
    """From the answer, or from the record where the answer never came."""
    if entry.item is not None:
        return str(entry.item["orderId"])
    outcome = found.rows[entry.record]["outcome"]["S"]
    prefix = partition(entry.tenant, "ORDER#")
    return str(outcome.partition(prefix)[2].partition('"')[0])


def _of(found: Contents, tenant: TenantId, *entities: str) -> Iterator[Stored]:
    return (item for item in found.items(*entities) if item.tenant == tenant)


def _by(entries: Iterable[Entry], name: str) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.input[name], []).append(entry)
    return found


def _ours(item: Stored) -> bool:
    """The demo rows have orders of their own, whose notes are not only the marker and a number."""
    return str(item.values.get("note", "")).startswith("canary-")
