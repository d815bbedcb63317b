"""The history of an order: each change of its status, written in the same transaction as the order."""

from gateway import (
    Attribute,
    Change,
    Entity,
    EnumOf,
    Id,
    Item,
    Key,
    Listing,
    Lookup,
    Reference,
    Text,
    Timestamp,
    Traffic,
    Writer,
    new_id,
    now,
)
from gateway.demo.commerce.order import OrderStatus

ENTITIES = (
    Entity(
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
    ),
)

PATTERNS = (
    Lookup(name="orderEvent", entity="OrderEvent", description="One event of an order.", traffic=Traffic(1, 1, 200)),
    Listing(
        name="historyOfOrder",
        entity="OrderEvent",
        description="What happened to an order, oldest first.",
        traffic=Traffic(10, 4, 200),
    ),
)


def moved(writer: Writer, change: Change, order: Item) -> None:
    """Adds to the change that the caller has just given the order its status."""
    event = {"orderId": order.values["orderId"], "eventId": new_id(), "at": now(), "status": order.values["status"]}
    change.create("OrderEvent", {**event, "actor": writer.access.subject or "unknown"})
