"""What the clients do: mutations that compete for stock, orders and e-mail addresses of one tenant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gateway.model.tenant import TenantId
from gateway.sandbox.seed import CANARIES

PRODUCTS = 5
STOCK = 40
_ADDRESSES = 14
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
    "createProduct": "product { productId tags version }",
    "updateProduct": "product { productId tags version }",
}


def document(mutation: str) -> str:
    title = mutation[0].upper() + mutation[1:]
    fields = f"{RETURNS[mutation]} errors {{ code field message }}"
    return f"mutation ($input: {title}Input!, $key: String) {{ {mutation}(input: $input, idempotencyKey: $key) {{ {fields} }} }}"


@dataclass(slots=True)
class Shop:
    """One tenant as its clients know it; ids that they learned from answers."""

    tenant: TenantId
    products: list[str]
    users: list[str] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    made: int = 0

    @property
    def canary(self) -> str:
        return CANARIES[self.tenant]

    def number(self) -> int:
        self.made += 1
        return self.made

    def address(self, random: Random) -> str:
        # few addresses, so that users compete for them
        return f"box{random.randrange(_ADDRESSES)}@{self.tenant}.example"

    def next(self, random: Random) -> tuple[str, Input]:
        """A mutation and its input."""
        if len(self.users) < 3:
            return "createUser", _create_user(self, random)
        [mutation] = random.choices(list(_CHOICES), [weight for weight, _ in _CHOICES.values()])
        made = _CHOICES[mutation][1](self, random)
        return (mutation, made) if made is not None else ("placeOrder", _place_order(self, random))

    def learn(self, mutation: str, item: Input | None) -> None:
        if item is None:
            return
        if mutation == "createUser":
            self.users.append(item["userId"])
        elif mutation == "placeOrder":
            self.orders.append(item["orderId"])
        elif mutation == "createProduct":
            self.created.append(item["productId"])

    def forget(self, mutation: str, given: Input) -> None:
        """A removed user stays known now and then, so that others still try."""
        if mutation == "removeUser" and given["userId"] in self.users and self.made % 3:
            self.users.remove(given["userId"])


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
    given: Input = {"userId": random.choice(shop.users)}
    if random.random() < 0.7:
        return {**given, "email": shop.address(random)}
    return {**given, "name": f"{shop.canary} {shop.number()}"}


def _remove_user(shop: Shop, random: Random) -> Input:
    return {"userId": random.choice(shop.users)}


def _address(shop: Shop, random: Random) -> Input:
    return {"userId": random.choice(shop.users), "email": shop.address(random)}


def _create_product(shop: Shop, random: Random) -> Input:
    return {
        "productId": f"f-{shop.number()}",
        "title": shop.canary,
        "price": f"{random.randint(1, 99)}.50",
        "currency": "EUR",
        "categoryId": "fire",
        "tags": random.sample(_WORDS, 4),
    }


def _update_product(shop: Shop, random: Random) -> Input | None:
    if not shop.created:
        return None
    given: Input = {"productId": _recent(shop.created, random), "tags": random.sample(_WORDS, 3)}
    return {**given, "price": f"{random.randint(1, 99)}.25"} if random.random() < 0.5 else given


def _recent(known: list[str], random: Random) -> str:
    return random.choice(known[-12:])


_CHOICES: dict[str, tuple[int, Callable[[Shop, Random], Input | None]]] = {
    "placeOrder": (28, _place_order),
    "cancelOrder": (12, _cancel_order),
    "changeOrderStatus": (14, _change_status),
    "adjustStock": (14, _adjust_stock),
    "createUser": (8, _create_user),
    "updateUser": (10, _update_user),
    "removeUser": (4, _remove_user),
    "addEmail": (8, _address),
    "removeEmail": (8, _address),
    "createProduct": (5, _create_product),
    "updateProduct": (5, _update_product),
}
