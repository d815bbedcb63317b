"""The catalogue: products with their stock, categories and suppliers."""

from gateway import (
    Attribute,
    Collection,
    Currency,
    DecimalNumber,
    Entity,
    Id,
    Integer,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    SetOf,
    Staleness,
    Text,
    Timestamp,
    Traffic,
    whole_list,
)
from gateway.demo.commerce.shipping import DELIVERY_DAYS

# readers may briefly see an old price; an order is placed with the current price
_CACHED = Staleness(30, absence_seconds=5)

PRODUCT = Entity(
    name="Product",
    description="A product that the tenant sells.",
    attributes=(
        Attribute("productId", Id(), "The product's id, unique in the tenant."),
        Attribute("title", Text(200), "The name of the product."),
        Attribute("description", Text(200_000), "A description of the product.", required=False, compressed=True),
        Attribute("price", DecimalNumber(min=0, places=2), "The current price."),
        Attribute("currency", Currency(digits=2), "The currency, as an ISO 4217 code."),
        Attribute("categoryId", Id(), "The category it is in."),
        Attribute("supplierId", Id(), "The supplier.", required=False),
        Attribute("tags", SetOf(Text(50)), "Search words.", required=False),
    ),
    key=Key(pk="PRODUCT#{productId}", sk="DETAILS"),
    cached=_CACHED,
    indexes=(
        OnIndex(index="GSI1", pk="CATEGORY#{categoryId}", sk="PRICE#{price:10.2}#{productId}"),
        whole_list("GSI3", "PRODUCTS", sort="{price:10.2}", by="productId"),
        OnIndex(index="GSI2", pk="SUPPLIER#{supplierId}", sk="PRODUCT#{productId}"),
    ),
    loaded=(DELIVERY_DAYS,),
    relations=(
        Reference(
            name="category",
            pattern="category",
            description="The category it is in.",
            required=True,
            on_remove="restrict",
        ),
        Reference(
            name="supplier", pattern="supplier", description="The supplier.", required=True, on_remove="restrict"
        ),
        Reference(name="stock", pattern="stock", description="The stock of the product."),
        Collection(
            name="orderLines", pattern="linesOfProduct", description="Order lines for the product, newest first."
        ),
    ),
)

STOCK = Entity(
    name="Stock",
    description="The stock of a product.",
    attributes=(
        Attribute("productId", Id(), "The product."),
        Attribute("available", Integer(min=0), "The number of units that can be sold."),
        Attribute("updatedAt", Timestamp(), "When it last changed."),
    ),
    key=Key(pk="PRODUCT#{productId}", sk="STOCK"),
    relations=(Reference(name="product", pattern="product", description="The product.", required=True),),
)

_RARELY_CHANGED = Staleness(300, absence_seconds=30)  # a few times a month

CATEGORY = Entity(
    name="Category",
    description="A category of products.",
    attributes=(
        Attribute("categoryId", Id(), "The category's id, unique in the tenant."),
        Attribute("title", Text(200), "The name of the category."),
    ),
    key=Key(pk="CATEGORY#{categoryId}", sk="DETAILS"),
    cached=_RARELY_CHANGED,
    indexes=(
        OnIndex(
            index="GSI1",
            # the word of the products' lists, so that a role has one rule for both; sort keys tell them apart
            pk="CATEGORY#ALL",
            sk="CATEGORY#{categoryId}",
            low_cardinality_reason="a catalogue has tens to a few hundred categories",
        ),
    ),
    relations=(
        Collection(
            name="products", pattern="productsByCategory", description="Products of the category, cheapest first."
        ),
    ),
)

SUPPLIER = Entity(
    name="Supplier",
    description="A company that supplies products.",
    attributes=(
        Attribute("supplierId", Id(), "The supplier's id, unique in the tenant."),
        Attribute("title", Text(200), "The name of the supplier."),
        Attribute("contact", KeyString(), "The contact address.", required=False, personal=True),
    ),
    key=Key(pk="SUPPLIER#{supplierId}", sk="DETAILS"),
    cached=_RARELY_CHANGED,
    relations=(Collection(name="products", pattern="productsBySupplier", description="Products of the supplier."),),
)

ENTITIES = (PRODUCT, STOCK, CATEGORY, SUPPLIER)

PATTERNS = (
    Lookup(
        name="product",
        many="products",
        entity="Product",
        description="One product by id, or many at once.",
        consistent=True,
        traffic=Traffic(500, 1, 800),
    ),
    Listing(
        name="allProducts",
        entity="Product",
        index="all",
        between="price",
        filter=("title", "tags"),
        description="All products by price, cheapest first, or in a range of prices.",
        cached=_CACHED,
        traffic=Traffic(1, 25, 800),
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
        lag="say",
        cached=_CACHED,
        traffic=Traffic(5, 25, 800),
    ),
    Lookup(
        name="stock", entity="Stock", description="The stock of a product.", strong=True, traffic=Traffic(200, 1, 200)
    ),
    Lookup(name="category", entity="Category", description="One category by id.", traffic=Traffic(50, 1, 200)),
    Listing(
        name="categories",
        entity="Category",
        index="GSI1",
        description="All categories of the tenant.",
        cached=_RARELY_CHANGED,
        traffic=Traffic(50, 30, 200),
    ),
    Lookup(name="supplier", entity="Supplier", description="One supplier by id.", traffic=Traffic(10, 1, 300)),
)
