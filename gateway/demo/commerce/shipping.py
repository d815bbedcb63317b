"""Shipping: fields of the shop with code."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gateway import Boolean, CallerReader, Computed, CustomQuery, DecimalNumber, Field, Integer, Item, Loaded

_LOOKED_AT = 50


def line_total(values: Mapping[str, Any]) -> Decimal:
    total: Decimal = values["quantity"] * values["unitPrice"]
    return total


LINE_TOTAL = Computed(
    "lineTotal",
    DecimalNumber(places=2),
    "The quantity times the price of one unit.",
    needs=("quantity", "unitPrice"),
    run=line_total,
)


async def delivery_days(reader: CallerReader, rows: list[dict[str, Any]], arguments: Mapping[str, Any]) -> list[int]:
    """A stand-in for the service of a carrier, which is called once for all products."""
    fewest = 1 if arguments.get("express") else 3
    return [fewest + len(row["categoryId"]) % 3 for row in rows]


DELIVERY_DAYS = Loaded(
    "deliveryDays",
    Integer(),
    "The days until the product is delivered, as the carrier says.",
    needs=("productId", "categoryId"),
    arguments=(Field("express", Boolean(), "Whether it is sent by express.", required=False),),
    load=delivery_days,
    cost=1,
)


async def orders_to_ship(reader: CallerReader, arguments: Mapping[str, Any]) -> list[Item]:
    orders = await reader.listed("ordersByStatus", {"status": "CONFIRMED"}, first=_LOOKED_AT)
    products = sorted({product for order in orders for product in order["productIds"] or ()})
    stocks = await reader.many("Stock", [{"productId": product} for product in products])
    available = {stock["productId"] for stock in stocks if stock is not None and stock["available"] > 0}
    ready = [order for order in orders if available.issuperset(order["productIds"] or ())]
    return ready[: max(0, arguments.get("first", _LOOKED_AT))]


QUERIES = (
    CustomQuery(
        name="ordersToShip",
        description="Confirmed orders of which every product is in stock, newest first.",
        returns="Order",
        many=True,
        max_items=_LOOKED_AT,
        arguments=(Field("first", Integer(), "Return at most this many orders.", required=False),),
        run=orders_to_ship,
        cost=100,
    ),
)
