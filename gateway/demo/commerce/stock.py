"""The stock of a product: an item of its own, so that a sale does not rewrite the product."""

from gateway.model.entity import Attribute, Entity, Key, Reference
from gateway.model.patterns import Lookup, Traffic
from gateway.model.types import Id, Integer, Timestamp

ENTITIES = (
    Entity(
        name="Stock",
        description="The stock of a product.",
        attributes=(
            Attribute("productId", Id(), "The product."),
            Attribute("available", Integer(), "The number of units that can be sold."),
            Attribute("updatedAt", Timestamp(), "When it last changed."),
        ),
        key=Key(pk="PRODUCT#{productId}", sk="STOCK"),
        relations=(Reference(name="product", pattern="product", description="The product."),),
    ),
)

PATTERNS = (
    Lookup(
        name="stock", entity="Stock", description="The stock of a product.", strong=True, traffic=Traffic(200, 1, 200)
    ),
)
