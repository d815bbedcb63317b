"""What the clients do: mutations that compete for stock, orders and e-mail addresses of one tenant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from gateway.model.tenant import TenantId
from tests.fixtures import CANARIES

PRODUCTS = 5
STOCK = 10
POSTS = ("f-1", "f-2")
DEVICE = "f-device"
_CATEGORY = "f-category"
_ADDRESSES = 14
_FEW, _MANY = 3, 8
_FANS = 6
_READINGS = 40
_STATUSES = ("CONFIRMED", "REVIEW", "SHIPPED", "DELIVERED", "CANCELLED")
_WORDS = ("sturdy", "light", "blue", "small", "new", "sale", "classic", "travel")

Input = dict[str, Any]

# the field of a payload that holds its item, and what is asked of it
RETURNS = {
    "placeOrder": "order { orderId status version }",
    "cancelOrder": "order { orderId status version }",
    "changeOrderStatus": "order { orderId status version }",
    "adjustStock": "stock { productId available version }",
    "setStock": "stock { productId available version }",
    "createUser": "user { userId email version }",
    "updateUser": "user { userId email version }",
    "removeUser": "user { userId }",
    "addEmail": "email { userId email }",
    "removeEmail": "email { userId email }",
    "createCategory": "category { categoryId }",
    "createProduct": "product { productId tags version }",
    "updateProduct": "product { productId tags version }",
    "createAuthor": "author { authorId }",
    "createReader": "reader { userId }",
    "createDraft": "draft { postId }",
    "publishPost": "post { postId }",
    "likePost": "like { postId userId }",
    "unlikePost": "like { postId userId }",
    "registerDevice": "device { deviceId }",
    "recordReadings": "device { deviceId }",
}


def document(mutation: str) -> str:
    title = mutation[0].upper() + mutation[1:]
    fields = f"{RETURNS[mutation]} errors {{ code field message }}"
    return (
        f"mutation ($input: {title}Input!, $key: String) "
        f"{{ {mutation}(input: $input, idempotencyKey: $key) {{ {fields} }} }}"
    )


@dataclass(slots=True)
class Shop:
    """One tenant as its clients know it; ids that they learned from answers."""

    tenant: TenantId
    products: list[str]
    users: list[str] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    # who has which address beside the main one
    addresses: list[tuple[str, str]] = field(default_factory=list)
    made: int = 0
    opened: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(hours=1))

    @property
    def canary(self) -> str:
        return CANARIES[self.tenant]

    def number(self) -> int:
        self.made += 1
        return self.made

    def address(self, random: Random) -> str:
        # few addresses, so that users compete for them
        return f"box{random.randrange(_ADDRESSES)}@{self.tenant}.example"

    def preparations(self) -> list[tuple[str, Input]]:
        """What is there before anything fails."""
        stock = [("setStock", {"productId": product, "available": STOCK}) for product in self.products]
        post = {"authorId": "f-author", "title": self.canary, "content": self.canary, "category": "chaos"}
        return [
            *stock,
            ("createCategory", {"categoryId": _CATEGORY, "title": self.canary}),
            ("createAuthor", {"authorId": "f-author", "penName": self.canary}),
            *(("createReader", {"userId": f"fan-{fan}", "nickname": self.canary}) for fan in range(_FANS)),
            *(("createDraft", {**post, "postId": name}) for name in POSTS),
            *(("publishPost", {"postId": name}) for name in POSTS),
            ("registerDevice", {"deviceId": DEVICE, "title": self.canary}),
        ]

    def next(self, random: Random) -> tuple[str, Input]:
        """A mutation and its input; few users, so that many change the same one."""
        if not _FEW <= len(self.users) <= _MANY:
            few = len(self.users) < _FEW
            return ("createUser", _create_user(self, random)) if few else ("removeUser", _remove_user(self, random))
        [mutation] = random.choices(list(_CHOICES), [weight for weight, _ in _CHOICES.values()])
        made = _CHOICES[mutation][1](self, random)
        return (mutation, made) if made is not None else ("placeOrder", _place_order(self, random))

    def learn(self, mutation: str, given: Input, item: Input | None) -> None:
        """A removed user stays known now and then, so that others still try."""
        match mutation:
            case "createUser":
                self.users.append(given["userId"])
            case "removeUser" if given["userId"] in self.users and self.made % 5:
                self.users.remove(given["userId"])
            case "placeOrder" if item is not None:
                self.orders.append(item["orderId"])
            case "createProduct":
                self.created.append(given["productId"])
            case "addEmail":
                self.addresses.append((given["userId"], given["email"]))


def _place_order(shop: Shop, random: Random) -> Input:
    lines = [
        {"productId": product, "quantity": random.randint(1, 4)}
        for product in random.sample(shop.products, random.randint(1, 3))
    ]
    return {"userId": random.choice(shop.users), "lines": lines, "note": f"{shop.canary} {shop.number()}"}


def _cancel_order(shop: Shop, random: Random) -> Input | None:
    return {"orderId": _recent(shop.orders, random)} if shop.orders else None


def _change_status(shop: Shop, random: Random) -> Input | None:
    if not shop.orders:
        return None
    return {"orderId": _recent(shop.orders, random), "status": random.choice(_STATUSES)}


def _adjust_stock(shop: Shop, random: Random) -> Input:
    return {"productId": random.choice(shop.products), "by": random.choice((-6, -3, -1, 2, 4, 8))}


def _create_user(shop: Shop, random: Random) -> Input:
    return {"userId": f"f-{shop.number()}", "name": shop.canary, "email": shop.address(random)}


def _update_user(shop: Shop, random: Random) -> Input:
    if shop.addresses and random.random() < 0.3:
        # one of the user's own addresses becomes the main one
        return _known_address(shop, random)
    given: Input = {"userId": random.choice(shop.users)}
    if random.random() < 0.6:
        return {**given, "email": shop.address(random)}
    return {**given, "name": f"{shop.canary} {shop.number()}"}


def _remove_user(shop: Shop, random: Random) -> Input:
    return {"userId": random.choice(shop.users)}


def _add_email(shop: Shop, random: Random) -> Input:
    return {"userId": random.choice(shop.users), "email": shop.address(random)}


def _remove_email(shop: Shop, random: Random) -> Input | None:
    return _known_address(shop, random) if shop.addresses else None


def _known_address(shop: Shop, random: Random) -> Input:
    user, address = random.choice(shop.addresses[-6:])
    return {"userId": user, "email": address}


def _create_product(shop: Shop, random: Random) -> Input:
    return {
        "productId": f"f-{shop.number()}",
        "title": shop.canary,
        "price": f"{random.randint(1, 99)}.50",
        "currency": "EUR",
        "categoryId": _CATEGORY,
        "tags": random.sample(_WORDS, 4),
    }


def _update_product(shop: Shop, random: Random) -> Input | None:
    if not shop.created:
        return None
    given: Input = {"productId": _recent(shop.created, random), "tags": random.sample(_WORDS, 3)}
    return {**given, "price": f"{random.randint(1, 99)}.25"} if random.random() < 0.5 else given


def _like(shop: Shop, random: Random) -> Input:
    return {"postId": random.choice(POSTS), "userId": f"fan-{random.randrange(_FANS)}"}


def _readings(shop: Shop, random: Random) -> Input:
    """Moments that no other bulk has, and a number in each reading that tells its moment."""
    first = shop.number() * _READINGS
    return {"deviceId": DEVICE, "readings": [reading(shop, first + each) for each in range(_READINGS)]}


def reading(shop: Shop, number: int) -> Input:
    recorded = shop.opened + timedelta(milliseconds=number)
    return {"recordedAt": recorded.isoformat(), "value": str(number)}


def _recent(known: list[str], random: Random) -> str:
    return random.choice(known[-6:])


_CHOICES: dict[str, tuple[int, Callable[[Shop, Random], Input | None]]] = {
    "placeOrder": (28, _place_order),
    "cancelOrder": (12, _cancel_order),
    "changeOrderStatus": (14, _change_status),
    "adjustStock": (14, _adjust_stock),
    "createUser": (8, _create_user),
    "updateUser": (10, _update_user),
    "removeUser": (4, _remove_user),
    "addEmail": (9, _add_email),
    "removeEmail": (7, _remove_email),
    "createProduct": (6, _create_product),
    "updateProduct": (6, _update_product),
    "likePost": (7, _like),
    "unlikePost": (4, _like),
    "recordReadings": (4, _readings),
}
