"""A category of products."""

from gateway import Attribute, Collection, Entity, Id, Key, Listing, Lookup, OnIndex, Staleness, Text, Traffic

_CACHED = Staleness(300, absence_seconds=30)  # it changes a few times a month

ENTITIES = (
    Entity(
        name="Category",
        description="A category of products.",
        attributes=(
            Attribute("categoryId", Id(), "The category's id, unique in the tenant."),
            Attribute("title", Text(200), "The name of the category."),
        ),
        key=Key(pk="CATEGORY#{categoryId}", sk="DETAILS"),
        cached=_CACHED,
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
    ),
)

PATTERNS = (
    Lookup(name="category", entity="Category", description="One category by id.", traffic=Traffic(50, 1, 200)),
    Listing(
        name="categories",
        entity="Category",
        index="GSI1",
        description="All categories of the tenant.",
        cached=_CACHED,
        traffic=Traffic(50, 30, 200),
    ),
)
