"""One product in an order."""

from gateway import (
    Attribute,
    DecimalNumber,
    Entity,
    Id,
    Integer,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Text,
    Timestamp,
    Traffic,
)
from gateway.demo.commerce.shipping import LINE_TOTAL

ENTITIES = (
    Entity(
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
    ),
)

PATTERNS = (
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
)
