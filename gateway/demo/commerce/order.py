"""Orders: under their own partition and once more under their user, with their lines and their history."""

import enum

from gateway import (
    Attribute,
    Change,
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
    Item,
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
    Writer,
    new_id,
    now,
    whole_list,
)
from gateway.demo.commerce.shipping import LINE_TOTAL


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

ORDER = Entity(
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
)

ORDER_LINE = Entity(
    name="OrderLine",
    description="One product in an order, with its price on the day of the order.",
    attributes=(
        Attribute("orderId", Id(), "The order it belongs to."),
        Attribute("productId", Id(), "The product."),
        Attribute("placedAt", Timestamp(), "When the order was placed."),
        Attribute("title", Text(200), "The product's title on the day of the order."),
        Attribute("quantity", Integer(), "The quantity ordered."),
        Attribute("unitPrice", DecimalNumber(places=2), "The price of one unit on the day of the order."),
    ),
    key=Key(pk="ORDER#{orderId}", sk="ITEM#{productId}"),
    indexes=(OnIndex(index="GSI1", pk="PRODUCT#{productId}", sk="ORDER#{placedAt}#{orderId}"),),
    computed=(LINE_TOTAL,),
    relations=(
        Reference(name="order", pattern="order", description="The order it belongs to."),
        Reference(name="product", pattern="product", description="The product as it is today."),
    ),
)

ORDER_EVENT = Entity(
    name="OrderEvent",
    description="One step in the history of an order: its new status, the time, and who changed it.",
    attributes=(
        Attribute("orderId", Id(), "The order."),
        Attribute("eventId", Id(), "The event's id; ids sort by time."),
        Attribute("at", Timestamp(), "When it happened."),
        Attribute("status", EnumOf(OrderStatus), "The new status of the order."),
        Attribute("actor", Text(256), "Who changed it: the subject of the token.", personal=True),
    ),
    # before the lines and the order itself, which one Query reads
    key=Key(pk="ORDER#{orderId}", sk="HISTORY#{eventId}"),
    relations=(Reference(name="order", pattern="order", description="The order."),),
)


def moved(writer: Writer, change: Change, order: Item) -> None:
    """Adds to the change that the caller has just given the order its status."""
    event = {"orderId": order.values["orderId"], "eventId": new_id(), "at": now(), "status": order.values["status"]}
    change.create("OrderEvent", {**event, "actor": writer.access.subject or "unknown"})


ENTITIES = (ORDER, ORDER_LINE, ORDER_EVENT)

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
    Lookup(name="orderLine", entity="OrderLine", description="One line of an order.", traffic=Traffic(10)),
    Listing(
        name="linesOfProduct",
        entity="OrderLine",
        index="GSI1",
        between="placedAt",
        newest_first=True,
        description="Order lines for a product, newest first.",
        traffic=Traffic(10, 25, 300),
    ),
    Lookup(name="orderEvent", entity="OrderEvent", description="One event of an order.", traffic=Traffic(1, 1, 200)),
    Listing(
        name="historyOfOrder",
        entity="OrderEvent",
        description="What happened to an order, oldest first.",
        traffic=Traffic(10, 4, 200),
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
