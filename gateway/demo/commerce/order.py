"""An order: under its own partition, and once more under its user."""

import enum

from gateway import (
    Attribute,
    Choice,
    Collection,
    Copy,
    Counter,
    Currency,
    DecimalNumber,
    Entity,
    EnumOf,
    Field,
    Id,
    Index,
    Integer,
    ItemCollection,
    Key,
    Listing,
    ListOf,
    Lookup,
    OnIndex,
    Reference,
    Shards,
    Struct,
    Subject,
    Text,
    Timestamp,
    Traffic,
    Watch,
    When,
    whole_list,
)


class OrderStatus(enum.Enum):
    """The status of an order."""

    PENDING = "placed, not yet paid"
    REVIEW = "held until a person has reviewed it"
    CONFIRMED = "paid, being packed"
    SHIPPED = "on its way"
    DELIVERED = "arrived"
    CANCELLED = "cancelled before it was shipped"


# a customer can read its orders but not the partitions of their lines, so the order itself holds what was ordered
ORDERED = Struct(
    "OrderedProduct",
    (
        Field("productId", Id(), "The product."),
        Field("title", Text(200), "Its title on the day of the order."),
        Field("quantity", Integer(), "The quantity ordered."),
        Field("unitPrice", DecimalNumber(places=2), "The price of one unit on the day of the order."),
    ),
    "One product of an order.",
)
ACTIVE = ("PENDING", "CONFIRMED", "SHIPPED")
_SHARDS = Shards(4, by="orderId")
_NEWEST = "{placedAt}#{orderId}"

ENTITIES = (
    Entity(
        name="Order",
        description="An order placed by a user.",
        attributes=(
            Attribute("orderId", Id(), "The order's id, unique in the tenant."),
            Attribute("userId", Id(), "The user who placed it."),
            Attribute("status", EnumOf(OrderStatus), "The status of the order."),
            Attribute("placedAt", Timestamp(), "When it was placed."),
            Attribute("total", DecimalNumber(places=2), "The sum of its lines."),
            Attribute("currency", Currency(digits=2), "The currency, as an ISO 4217 code."),
            Attribute("productIds", ListOf(Id(), max_items=100), "The products of its lines, in their order."),
            Attribute(
                "items",
                ListOf(ORDERED, max_items=100),
                "What was ordered, as part of the order. Use `lines` to read more, such as the product.",
                required=False,
            ),
            Attribute("note", Text(100_000), "A remark by the user.", required=False, personal=True, compressed=True),
        ),
        key=Key(pk="ORDER#{orderId}", sk="META"),
        owner="userId",
        copies=(Copy(name="byUser", pk="USER#{userId}", sk="ORDER#{placedAt}#{orderId}"),),
        indexes=(
            OnIndex(index="GSI1", name="byUserAndStatus", pk="USER#{userId}", sk="ORDER#{status}#{placedAt}#{orderId}"),
            OnIndex(index="GSI2", pk="STATUS#{status}#{shard}", sk=_NEWEST, shards=_SHARDS),
            OnIndex(
                index="GSI3",
                name="active",
                pk="ACTIVE#{shard}",
                sk=_NEWEST,
                shards=_SHARDS,
                when=When("status", ACTIVE),
            ),
            OnIndex(
                index="GSI3",
                name="review",
                pk="REVIEW",
                sk=_NEWEST,
                when=When("status", ("REVIEW",)),
                low_cardinality_reason="it holds only orders that still need a review",
            ),
            whole_list("GSI5", "ORDERS", sort="{placedAt}", by="orderId"),
        ),
        relations=(
            Reference(name="user", pattern="user", description="The user who placed it."),
            Collection(name="lines", pattern="orderLine", each="productIds", description="The lines of the order."),
            Collection(name="history", pattern="historyOfOrder", description="What happened to it, oldest first."),
        ),
    ),
)

INDEXES = (Index("GSI5"),)

PATTERNS = (
    Lookup(
        name="order",
        many="orders",
        entity="Order",
        description="One order by id, or many at once.",
        consistent=True,
        traffic=Traffic(100, 1, 680),
    ),
    ItemCollection(
        name="orderWithLines",
        entity="Order",
        collection="lines",
        description="An order and its lines in one Query.",
        traffic=Traffic(100, 4, 400),
    ),
    Listing(
        name="ordersOfUser",
        entity="Order",
        index="byUser",
        defaults={"userId": Subject()},
        between="placedAt",
        newest_first=True,
        reversible=True,
        filter=("total",),
        consistent=True,
        description="Orders of a user, newest first; optionally in a range of dates.",
        traffic=Traffic(100, 10, 600),
    ),
    Listing(
        name="ordersOfUserByStatus",
        entity="Order",
        index="byUserAndStatus",
        where=("status",),
        defaults={"userId": Subject()},
        between="placedAt",
        newest_first=True,
        reversible=True,
        filter=("total",),
        description="Orders of a user in one status, newest first; optionally in a range of dates.",
        traffic=Traffic(10, 10, 600),
    ),
    Choice(
        name="ordersOfUser",
        patterns=("ordersOfUser", "ordersOfUserByStatus"),
        description="Orders of a user, newest first.",
    ),
    Listing(
        name="allOrders",
        entity="Order",
        index="all",
        between="placedAt",
        newest_first=True,
        reversible=True,
        filter=("status", "total", "userId"),
        description="All orders, newest first; read from all shards in parallel.",
        traffic=Traffic(1, 25, 600),
    ),
    Listing(
        name="ordersByStatus",
        entity="Order",
        index="GSI2",
        between="placedAt",
        newest_first=True,
        reversible=True,
        filter=("total", "userId"),
        description="Orders in one status, newest first; read from all shards in parallel.",
        traffic=Traffic(20, 25, 600),
    ),
    Listing(
        name="activeOrders",
        entity="Order",
        index="active",
        between="placedAt",
        newest_first=True,
        reversible=True,
        filter=("status", "total", "userId"),
        counter=Counter(),
        description="Active orders, newest first; an order leaves this list when it is delivered or cancelled.",
        traffic=Traffic(20, 25, 600),
    ),
    Listing(
        name="reviewQueue",
        entity="Order",
        index="review",
        between="placedAt",
        reversible=True,
        description="Orders that wait for a review, oldest first.",
        traffic=Traffic(1, 10, 600),
    ),
)

WATCHES = (
    Watch(
        name="orderChanged",
        pattern="order",
        description="The order now and after every change of it; null while it does not exist.",
    ),
    Watch(
        name="ordersOfUserChanged",
        pattern="ordersOfUser",
        description="The orders of a user, newest first, and every change in that list.",
    ),
    Watch(
        name="activeOrdersChanged",
        pattern="activeOrders",
        description="The active orders, newest first, and every change in that list.",
    ),
)
