"""A product of the tenant's catalogue."""

from gateway.model.entity import Attribute, Collection, Entity, Key, OnIndex, Reference
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.staleness import Staleness
from gateway.model.types import DecimalNumber, Id, SetOf, Text

# a price may be seen a little late; an order is placed with the price as it is
_CACHED = Staleness(30, absence_seconds=5)

ENTITIES = (
    Entity(
        name="Product",
        description="Something the tenant sells.",
        attributes=(
            Attribute("productId", Id(), "The product's id, unique in the tenant."),
            Attribute("title", Text(200), "What it is called."),
            Attribute("description", Text(200_000), "What it is.", required=False, compressed=True),
            Attribute("price", DecimalNumber(), "Price today, in the tenant's currency."),
            Attribute("currency", Text(3), "Currency by ISO 4217."),
            Attribute("categoryId", Id(), "The category it is in."),
            Attribute("supplierId", Id(), "Who supplies it.", required=False),
            Attribute("tags", SetOf(Text(50)), "Words to find it by.", required=False),
        ),
        key=Key(pk="PRODUCT#{productId}", sk="DETAILS"),
        cached=_CACHED,
        indexes=(
            OnIndex(index="GSI1", pk="CATEGORY#{categoryId}", sk="PRICE#{price:10.2}#{productId}"),
            OnIndex(index="GSI2", pk="SUPPLIER#{supplierId}", sk="PRODUCT#{productId}"),
        ),
        relations=(
            Reference(name="category", pattern="category", description="The category it is in."),
            Reference(name="supplier", pattern="supplier", description="Who supplies it."),
            Reference(name="stock", pattern="stock", description="How many are left."),
            Collection(name="orderLines", pattern="linesOfProduct", description="Who bought it, newest first."),
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
