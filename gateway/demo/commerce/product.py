"""A product of the tenant's catalogue."""

from gateway.model.entity import Attribute, Collection, Entity, Key, OnIndex, Reference
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.staleness import Staleness
from gateway.model.types import DecimalNumber, Id, SetOf, Text

# readers may see an old price for a moment; an order is placed with the current price
_CACHED = Staleness(30, absence_seconds=5)

ENTITIES = (
    Entity(
        name="Product",
        description="A product that the tenant sells.",
        attributes=(
            Attribute("productId", Id(), "The product's id, unique in the tenant."),
            Attribute("title", Text(200), "The name of the product."),
            Attribute("description", Text(200_000), "A description of the product.", required=False, compressed=True),
            Attribute("price", DecimalNumber(), "The current price."),
            Attribute("currency", Text(3), "The currency, as an ISO 4217 code."),
            Attribute("categoryId", Id(), "The category it is in."),
            Attribute("supplierId", Id(), "The supplier.", required=False),
            Attribute("tags", SetOf(Text(50)), "Search words.", required=False),
        ),
        key=Key(pk="PRODUCT#{productId}", sk="DETAILS"),
        cached=_CACHED,
        indexes=(
            OnIndex(index="GSI1", pk="CATEGORY#{categoryId}", sk="PRICE#{price:10.2}#{productId}"),
            OnIndex(index="GSI2", pk="SUPPLIER#{supplierId}", sk="PRODUCT#{productId}"),
        ),
        relations=(
            Reference(name="category", pattern="category", description="The category it is in."),
            Reference(name="supplier", pattern="supplier", description="The supplier."),
            Reference(name="stock", pattern="stock", description="The stock of the product."),
            Collection(
                name="orderLines", pattern="linesOfProduct", description="Order lines for the product, newest first."
            ),
        ),
    ),
)

PATTERNS = (
    Lookup(
        name="product",
        many="products",
        entity="Product",
        description="One product by id, or many at once.",
        traffic=Traffic(500, 1, 800),
    ),
    Listing(
        name="productsByCategory",
        entity="Product",
        index="GSI1",
        between="price",
        description="Products of a category by price, cheapest first, or in a range of prices.",
        cached=_CACHED,
        traffic=Traffic(100, 25, 800),
    ),
    Listing(
        name="productsBySupplier",
        entity="Product",
        index="GSI2",
        description="Products of a supplier.",
        cached=_CACHED,
        traffic=Traffic(5, 25, 800),
    ),
)
