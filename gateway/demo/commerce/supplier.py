"""A supplier of products."""

from gateway import Attribute, Collection, Entity, Id, Key, KeyString, Lookup, Staleness, Text, Traffic

ENTITIES = (
    Entity(
        name="Supplier",
        description="A company that supplies products.",
        attributes=(
            Attribute("supplierId", Id(), "The supplier's id, unique in the tenant."),
            Attribute("title", Text(200), "The name of the supplier."),
            Attribute("contact", KeyString(), "The contact address.", required=False, personal=True),
        ),
        key=Key(pk="SUPPLIER#{supplierId}", sk="DETAILS"),
        cached=Staleness(300, absence_seconds=30),
        relations=(Collection(name="products", pattern="productsBySupplier", description="Products of the supplier."),),
    ),
)

PATTERNS = (Lookup(name="supplier", entity="Supplier", description="One supplier by id.", traffic=Traffic(10, 1, 300)),)
