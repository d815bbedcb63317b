"""Demo rows of commerce. They are the same at every start; only dates follow the clock."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from gateway import SeedRow
from gateway.demo.shops import BY_TENANT, FAMILY_NAMES, GIVEN_NAMES, NOTES, QUALITIES, STREETS, USERS, Shop

_SHARED_USERS = 2
_SIGNED_IN = 8
_PRODUCTS_EACH = 8
_ITEM = ("productId", "title", "quantity", "unitPrice")
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
# the earlier statuses of an order
_STEPS = {
    "PENDING": ("PENDING",),
    "REVIEW": ("PENDING", "REVIEW"),
    "CONFIRMED": ("PENDING", "CONFIRMED"),
    "SHIPPED": ("PENDING", "CONFIRMED", "SHIPPED"),
    "DELIVERED": ("PENDING", "CONFIRMED", "SHIPPED", "DELIVERED"),
    "CANCELLED": ("PENDING", "CANCELLED"),
}

Values = dict[str, Any]


def rows(tenant: str, now: datetime) -> Iterator[SeedRow]:
    shop = BY_TENANT[tenant]
    # not for secrets: every start must produce the same rows
    random = Random(shop.tenant)  # noqa: S311
    for number, title in enumerate(shop.suppliers, 1):
        yield "Supplier", {"supplierId": f"s-{number}", "title": title, "contact": f"sales{number}@supplier.example"}
    for category, wares in shop.ranges.items():
        yield "Category", {"categoryId": category, "title": wares.title}
    users = [_user(shop, random, now, number) for number in range(USERS)]
    for user in users:
        yield from _contacts(user, random)
    for user in users[:_SIGNED_IN]:
        yield from _account(user, random, now)
    products = list(_products(shop, random))
    for product in products:
        yield "Product", product
        # the first product is always in stock, so that it can be ordered
        available = 120 if product is products[0] else random.choice((0, 3, 12, 40, 75, 120))
        moved = _ago(now, random.uniform(0, 5))
        yield "Stock", {"productId": product["productId"], "available": available, "updatedAt": moved}
    for number in range(_ORDERS):
        yield from _order(shop, random, now, number, (users, products))


def _ago(now: datetime, days: float) -> datetime:
    return (now - timedelta(days=days)).replace(microsecond=0)


def _user(shop: Shop, random: Random, now: datetime, number: int) -> Values:
    given_name = GIVEN_NAMES[number % len(GIVEN_NAMES)]
    family = FAMILY_NAMES[number % len(FAMILY_NAMES)] if number < _SHARED_USERS else random.choice(FAMILY_NAMES)
    suffix = str(number) if number >= len(GIVEN_NAMES) else ""
    # a few people are customers of every shop, with the same address in each
    domain = "example.com" if number < _SHARED_USERS else f"{shop.tenant}.example"
    return {
        "userId": f"u-{shop.first + number}",
        "name": f"{given_name} {family}",
        "email": f"{given_name}.{family}{suffix}@{domain}".lower(),
        "phone": f"+1-555-{100 + number:04}" if number % 4 != 3 else None,
        "address": {
            "street": f"{random.choice(STREETS)} {random.randint(1, 120)}",
            "city": random.choice(shop.cities),
            "postalCode": str(random.randint(10_000, 99_999)),
            "country": shop.country,
        },
        "createdAt": _ago(now, _DAYS + random.uniform(1, 700)),
    }


def _contacts(user: Values, random: Random) -> Iterator[SeedRow]:
    yield "User", user
    contact = {"userId": user["userId"], "verified": True, "addedAt": user["createdAt"]}
    yield "Email", {**contact, "email": user["email"]}
    if random.random() < 0.4:
        yield "Email", {**contact, "verified": False, "email": f"work.{user['email']}"}
    if user["phone"]:
        yield "Phone", {**contact, "phone": user["phone"]}


def _account(user: Values, random: Random, now: datetime) -> Iterator[SeedRow]:
    owner, number = {"userId": user["userId"]}, user["userId"].removeprefix("u-")
    since = _ago(now, random.uniform(0.1, 3))
    device = random.choice(("Firefox on Linux", "Safari on a phone", "Chrome on a tablet"))
    session = {"sessionId": f"sess-{number}", "device": device, "expiresAt": since + timedelta(days=14)}
    yield "Session", {**owner, **session, "createdAt": since}
    for position, text in enumerate(("Your order is on its way.", "Something you like costs less today.")):
        note = {"notificationId": f"n-{number}-{position}", "text": text, "read": position == 0}
        yield "Notification", {**owner, **note, "createdAt": _ago(now, random.uniform(0.1, 20))}
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
    shop: Shop, random: Random, now: datetime, number: int, wares: tuple[list[Values], list[Values]]
) -> Iterator[SeedRow]:
    users, products = wares
    # oldest first; most orders are recent, the newest a few hours old
    age = _DAYS * (1 - (number + 1) / _ORDERS) ** 1.7 + random.uniform(0, 0.2)
    choices = next(statuses for days, statuses in _STATUSES if age >= days)
    # few users buy often
    user = users[min(int(random.expovariate(0.15)), len(users) - 1)]
    head = {"orderId": f"o-{shop.first + number}", "placedAt": _ago(now, age)}
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
    status = choices[number % len(choices)]
    yield (
        "Order",
        {
            **head,
            "userId": user["userId"],
            "status": status,
            "total": sum((line["unitPrice"] * line["quantity"] for line in lines), Decimal(0)),
            "currency": shop.currency,
            "productIds": [line["productId"] for line in lines],
            "items": [{name: line[name] for name in _ITEM} for line in lines],
            "note": f"{random.choice(NOTES)} Seen in the {shop.catalogue}.",
        },
    )
    for line in lines:
        yield "OrderLine", line
    yield from _history(head, status, (user["userId"], f"desk@{shop.tenant}.example"), now)


def _history(head: Values, status: str, actors: tuple[str, str], now: datetime) -> Iterator[SeedRow]:
    """The user places it, and the staff moves it on."""
    steps, placed = _STEPS[status], head["placedAt"]
    for number, step in enumerate(steps):
        at = (placed + (now - placed) * number / len(steps)).replace(microsecond=0)
        # like the start of `new_id`, so that later events are listed later
        event_id = f"{int(at.timestamp() * 1_000):011x}{number:016x}"
        event = {"orderId": head["orderId"], "eventId": event_id, "at": at, "status": step}
        yield "OrderEvent", {**event, "actor": actors[min(number, 1)]}
