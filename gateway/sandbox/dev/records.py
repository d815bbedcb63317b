"""The demo rows of a shop. They are the same at every start; only dates follow the clock."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from gateway.demo import MODEL
from gateway.model.model import Model
from gateway.sandbox.dev.feeds import measured, published
from gateway.sandbox.dev.shops import FAMILY_NAMES, GIVEN_NAMES, NOTES, QUALITIES, SHOPS, STREETS, Shop
from gateway.store.write.change import created

_USERS = 25
_SHARED_USERS = 2
_SIGNED_IN = 8
_PRODUCTS_EACH = 8
_ORDERS = 60
_DAYS = 60
_CENTS = (Decimal("0.00"), Decimal("0.50"), Decimal("0.95"), Decimal("0.99"))
# the status of an order by its age in days: the first entry that is not older than the order applies
_STATUSES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (20, ("DELIVERED", "DELIVERED", "DELIVERED", "CANCELLED")),
    (7, ("DELIVERED", "SHIPPED", "SHIPPED", "CANCELLED")),
    (2, ("SHIPPED", "CONFIRMED", "REVIEW")),
    (0, ("PENDING", "CONFIRMED", "REVIEW")),
)

Values = dict[str, Any]
Record = tuple[str, Values]


@dataclass(frozen=True, slots=True)
class _Clock:
    now: datetime

    def ago(self, days: float) -> datetime:
        return (self.now - timedelta(days=days)).replace(microsecond=0)


def records(shop: Shop, now: datetime) -> Iterator[Record]:
    # not for secrets: every start must produce the same rows
    random = Random(shop.tenant)  # noqa: S311
    clock = _Clock(now)
    for number, title in enumerate(shop.suppliers, 1):
        yield "Supplier", {"supplierId": f"s-{number}", "title": title, "contact": f"sales{number}@supplier.example"}
    for category, wares in shop.ranges.items():
        yield "Category", {"categoryId": category, "title": wares.title}
    users = [_user(shop, random, clock, number) for number in range(_USERS)]
    for user in users:
        yield from _contacts(user, random)
    for user in users[:_SIGNED_IN]:
        yield from _account(user, random, clock)
    products = list(_products(shop, random))
    for product in products:
        yield "Product", product
        # the first product is always in stock, so that it can be ordered
        available = 120 if product is products[0] else random.choice((0, 3, 12, 40, 75, 120))
        moved = clock.ago(random.uniform(0, 5))
        yield "Stock", {"productId": product["productId"], "available": available, "updatedAt": moved}
    for number in range(_ORDERS):
        yield from _order(shop, random, clock, number, (users, products))
    yield from measured(shop, clock.ago(0))
    yield from published(shop, users, clock.ago(0))


def _user(shop: Shop, random: Random, clock: _Clock, number: int) -> Values:
    given = GIVEN_NAMES[number % len(GIVEN_NAMES)]
    family = FAMILY_NAMES[number % len(FAMILY_NAMES)] if number < _SHARED_USERS else random.choice(FAMILY_NAMES)
    suffix = str(number) if number >= len(GIVEN_NAMES) else ""
    # a few people are customers of every shop, with the same address in each
    domain = "example.com" if number < _SHARED_USERS else f"{shop.tenant}.example"
    return {
        "userId": f"u-{shop.first + number}",
        "name": f"{given} {family}",
        "email": f"{given}.{family}{suffix}@{domain}".lower(),
        "phone": f"+1-555-{100 + number:04}" if number % 4 != 3 else None,
        "address": {
            "street": f"{random.choice(STREETS)} {random.randint(1, 120)}",
            "city": random.choice(shop.cities),
            "postalCode": str(random.randint(10_000, 99_999)),
            "country": shop.country,
        },
        "createdAt": clock.ago(_DAYS + random.uniform(1, 700)),
    }


def _contacts(user: Values, random: Random) -> Iterator[Record]:
    yield "User", user
    contact = {"userId": user["userId"], "verified": True, "addedAt": user["createdAt"]}
    yield "Email", {**contact, "email": user["email"]}
    if random.random() < 0.4:
        yield "Email", {**contact, "verified": False, "email": f"work.{user['email']}"}
    if user["phone"]:
        yield "Phone", {**contact, "phone": user["phone"]}


def _account(user: Values, random: Random, clock: _Clock) -> Iterator[Record]:
    owner, number = {"userId": user["userId"]}, user["userId"].removeprefix("u-")
    since = clock.ago(random.uniform(0.1, 3))
    device = random.choice(("Firefox on Linux", "Safari on a phone", "Chrome on a tablet"))
    session = {"sessionId": f"sess-{number}", "device": device, "expiresAt": since + timedelta(days=14)}
    yield "Session", {**owner, **session, "createdAt": since}
    for position, text in enumerate(("Your order is on its way.", "Something you like costs less today.")):
        note = {"notificationId": f"n-{number}-{position}", "text": text, "read": position == 0}
        yield "Notification", {**owner, **note, "createdAt": clock.ago(random.uniform(0.1, 20))}
    subscription = {"subscriptionId": f"sub-{number}", "topic": "Offers of the week"}
    yield "UserSubscription", {**owner, **subscription, "createdAt": user["createdAt"]}


def _products(shop: Shop, random: Random) -> Iterator[Values]:
    number = shop.first
    for category, wares in shop.ranges.items():
        names = [*wares.products, *(f"{random.choice(QUALITIES)} {word.lower()}" for word in wares.products)]
        for name in names[:_PRODUCTS_EACH]:
            supplier = random.randint(1, len(shop.suppliers))
            yield {
                "productId": f"p-{number}",
                "title": name,
                "description": f"{name} from {shop.suppliers[supplier - 1]}, as in the {shop.catalogue}.",
                "price": random.randint(wares.lowest, wares.highest) + random.choice(_CENTS),
                "currency": shop.currency,
                "categoryId": category,
                "supplierId": f"s-{supplier}",
                "tags": {category, random.choice(("new", "sale", "favourite", "last pieces"))},
            }
            number += 1


def _order(
    shop: Shop, random: Random, clock: _Clock, number: int, wares: tuple[list[Values], list[Values]]
) -> Iterator[Record]:
    users, products = wares
    # oldest first; most orders are recent, the newest a few hours old
    age = _DAYS * (1 - (number + 1) / _ORDERS) ** 1.7 + random.uniform(0, 0.2)
    choices = next(statuses for days, statuses in _STATUSES if age >= days)
    # few users buy often
    user = users[min(int(random.expovariate(0.15)), len(users) - 1)]
    head = {"orderId": f"o-{shop.first + number}", "placedAt": clock.ago(age)}
    lines = [
        {
            **head,
            "productId": product["productId"],
            "title": product["title"],
            "quantity": random.randint(1, 4),
            "unitPrice": product["price"],
        }
        for product in random.sample(products, random.randint(1, 4))
    ]
    yield (
        "Order",
        {
            **head,
            "userId": user["userId"],
            "status": choices[number % len(choices)],
            "total": sum((line["unitPrice"] * line["quantity"] for line in lines), Decimal(0)),
            "currency": shop.currency,
            "productIds": [line["productId"] for line in lines],
            "note": f"{random.choice(NOTES)} Seen in the {shop.catalogue}.",
        },
    )
    for line in lines:
        yield "OrderLine", line


# Demo rows for three tenants, encoded as the gateway writes them, each with the canary of its tenant.

CANARY = "canary"
CANARIES: Mapping[str, str] = {shop.tenant: shop.canary for shop in SHOPS}
CATALOGUES: Mapping[str, str] = {shop.tenant: shop.catalogue for shop in SHOPS}


def demo_items(model: Model, now: datetime, shops: Iterable[Shop] = SHOPS) -> list[dict[str, Any]]:
    """The rows of all demo tenants in DynamoDB JSON, for those entities of the shipped model that the model has."""
    return [{**item, CANARY: {"S": shop.canary}} for shop in shops for item in _rows(model, shop, now)]


def _rows(model: Model, shop: Shop, now: datetime) -> Iterator[dict[str, Any]]:
    shipped = {name for name, entity in model.entities.items() if MODEL.entities.get(name) == entity}
    for entity, values in records(shop, now):
        # another domain may have a different entity of the same name
        if entity in shipped:
            # the item, its copies, and its uniqueness markers
            yield from created(model, entity, shop.tenant, values)
