"""Mutations of orders: an order is placed in one transaction with its lines and the stock it takes."""

from decimal import Decimal
from typing import Any

from gateway import (
    VERSION,
    Boolean,
    Change,
    EnumOf,
    Fault,
    Field,
    Id,
    Integer,
    Item,
    ListOf,
    Mutation,
    MutationResult,
    Rejected,
    Struct,
    Subject,
    Text,
    UserErrorCode,
    Writer,
    invalid,
    missing,
    new_id,
    now,
)
from gateway.demo.commerce.order import OrderStatus, moved
from gateway.demo.commerce.stocking import out_of_stock

# order, copy, event, user and idempotency record, and two writes for each line: within the 100 of a transaction
MAX_LINES = 40
MAX_QUANTITY = 10_000

_NEXT: dict[OrderStatus, tuple[OrderStatus, ...]] = {
    OrderStatus.PENDING: (OrderStatus.CONFIRMED, OrderStatus.REVIEW, OrderStatus.CANCELLED),
    OrderStatus.REVIEW: (OrderStatus.CONFIRMED, OrderStatus.CANCELLED),
    OrderStatus.CONFIRMED: (OrderStatus.SHIPPED, OrderStatus.REVIEW, OrderStatus.CANCELLED),
    OrderStatus.SHIPPED: (OrderStatus.DELIVERED,),
    OrderStatus.DELIVERED: (),
    OrderStatus.CANCELLED: (),
}

_LINE = Struct(
    "OrderLine",
    (
        Field("productId", Id(), "The product."),
        Field("quantity", Integer(min=1, max=MAX_QUANTITY), "The quantity to order."),
    ),
    "One product of a new order.",
)
_ORDER_ID = Field("orderId", Id(), "The order.")


async def place_order(writer: Writer, values: dict[str, Any]) -> MutationResult:
    lines = _checked(values["lines"])
    products = await _products(writer, list(lines))
    placed, order_id = now(), values.get("orderId") or new_id()
    total = sum((product["price"] * lines[name] for name, product in products.items()), Decimal(0))
    items: list[dict[str, Any]] = [
        {"productId": name, "quantity": lines[name], "title": product["title"], "unitPrice": product["price"]}
        for name, product in products.items()
    ]
    change = writer.change()
    order = {
        "orderId": order_id,
        "userId": values["userId"],
        "status": OrderStatus.PENDING,
        "placedAt": placed,
        "total": total,
        "currency": next(iter(products.values()))["currency"],
        "productIds": list(lines),
        "items": items,
        "note": values.get("note"),
    }
    item = change.create("Order", order)
    moved(writer, change, item)
    there = Fault(UserErrorCode.NOT_FOUND, f"there is no user `{values['userId']}`", "userId")
    change.require("User", {"userId": values["userId"]}, there)
    for number, line in enumerate(items):
        change.create("OrderLine", {"orderId": order_id, "placedAt": placed, **line})
        _take(change, line["productId"], -line["quantity"], f"lines.{number}.productId")
    return await writer.commit(change, MutationResult(item))


def _checked(ordered: list[dict[str, Any]]) -> dict[str, int]:
    if not 1 <= len(ordered) <= MAX_LINES:
        raise invalid(f"an order has 1 to {MAX_LINES} lines", "lines")
    lines = {line["productId"]: line["quantity"] for line in ordered}
    if len(lines) != len(ordered):
        raise invalid("two lines have the same product; add their quantities", "lines")
    return lines


async def _products(writer: Writer, names: list[str]) -> dict[str, Item]:
    stored = await writer.many("Product", [{"productId": name} for name in names])
    products = {name: item for name, item in zip(names, stored, strict=True) if item is not None}
    for number, name in enumerate(names):
        if name not in products:
            raise missing("Product", {"productId": name}, f"lines.{number}.productId")
    if len({item["currency"] for item in products.values()}) > 1:
        raise invalid("the products have different currencies", "lines")
    return products


def _take(change: Change, product: str, amount: int, field: str = "productId") -> None:
    fault = out_of_stock(product, field)
    change.add("Stock", {"productId": product}, {"available": amount}, fault, never_below_zero=amount < 0)


async def change_status(writer: Writer, values: dict[str, Any]) -> MutationResult:
    order = await writer.stored("Order", {"orderId": values["orderId"]}, values.get("version"))
    status, new_status = order["status"], values["status"]
    if new_status not in _NEXT[status]:
        legal = ", ".join(following.name for following in _NEXT[status]) or "nothing"
        raise invalid(
            f"`status` cannot change from {status.name} to {new_status.name}; it can change to {legal}", "status"
        )
    change = writer.change()
    item = change.update(order, {"status": new_status})
    moved(writer, change, item)
    if new_status is OrderStatus.CANCELLED:
        await _return_stock(writer, change, order)
    return await writer.commit(change, MutationResult(item))


async def _return_stock(writer: Writer, change: Change, order: Item) -> None:
    keys = [{"orderId": order["orderId"], "productId": name} for name in order["productIds"]]
    for line in await writer.many("OrderLine", keys):
        if line is not None:
            _take(change, line["productId"], line["quantity"])


async def cancel_order(writer: Writer, values: dict[str, Any]) -> MutationResult:
    return await change_status(writer, {**values, "status": OrderStatus.CANCELLED})


async def hold_order(writer: Writer, values: dict[str, Any]) -> MutationResult:
    return await change_status(writer, {**values, "status": OrderStatus.REVIEW})


async def release_order(writer: Writer, values: dict[str, Any]) -> MutationResult:
    order = await writer.stored("Order", {"orderId": values["orderId"]}, values.get("version"))
    if order["status"] is not OrderStatus.REVIEW:
        raise Rejected(Fault(UserErrorCode.INVALID, "the order is not in the review queue", "orderId"))
    status = OrderStatus.CONFIRMED if values["approve"] else OrderStatus.CANCELLED
    return await change_status(writer, {**values, "status": status})


ORDERING = (
    Mutation(
        name="placeOrder",
        description="Place an order; the order, its lines and the stock are written in one transaction.",
        returns="Order",
        input=(
            Field("userId", Id(), "The user who orders; by default the caller.", required=False, default=Subject()),
            Field("lines", ListOf(_LINE, max_items=MAX_LINES), "The products to order."),
            Field("note", Text(100_000), "A remark by the user.", required=False),
            Field("orderId", Id(), "An id of your choice; if omitted, the gateway generates one.", required=False),
        ),
        run=place_order,
        acts_as="ordering",
    ),
    Mutation(
        name="changeOrderStatus",
        description="Change the status of an order; cancelling it returns its stock.",
        returns="Order",
        input=(_ORDER_ID, Field("status", EnumOf(OrderStatus), "The new status."), VERSION),
        run=change_status,
    ),
    Mutation(
        name="cancelOrder",
        description="Cancel an order before it is shipped, and return its stock.",
        returns="Order",
        input=(_ORDER_ID, VERSION),
        run=cancel_order,
        acts_as="ordering",
    ),
    Mutation(
        name="holdOrderForReview",
        description="Add an order to the review queue.",
        returns="Order",
        input=(_ORDER_ID, VERSION),
        run=hold_order,
    ),
    Mutation(
        name="releaseOrderFromReview",
        description="Decide on an order in the review queue: confirm it, or cancel it and return its stock.",
        returns="Order",
        input=(_ORDER_ID, Field("approve", Boolean(), "Whether to confirm the order."), VERSION),
        run=release_order,
    ),
)
