"""Commerce: users, orders and products."""

from pathlib import Path

from gateway import Demo, Domain, bulk, create, crud, update
from gateway.demo.commerce import order, product, user
from gateway.demo.commerce.ordering import ORDERING
from gateway.demo.commerce.people import PEOPLE
from gateway.demo.commerce.roles import ROLES
from gateway.demo.commerce.seeds import rows
from gateway.demo.commerce.shipping import QUERIES
from gateway.demo.commerce.stocking import OUT_OF_STOCK, REMOVE_PRODUCT, STOCKING
from gateway.demo.examples import read_examples
from gateway.demo.shops import TENANTS

_FILES = (user, order, product)

DOMAIN = Domain(
    name="commerce",
    description="Users, their orders, and the products they buy.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
    queries=QUERIES,
    mutations=(
        *PEOPLE,
        *user.ACCOUNT,
        *crud(product.CATEGORY),
        *crud(product.SUPPLIER),
        create(product.PRODUCT),
        update(product.PRODUCT),
        *bulk(create(product.PRODUCT), update(product.PRODUCT), max_items=50),
        REMOVE_PRODUCT,
        *STOCKING,
        *ORDERING,
    ),
    demo=Demo(
        tenants=TENANTS,
        rows=rows,
        examples=read_examples("commerce"),
        front_end=Path(__file__).parents[1] / "storefront",
    ),
    error_codes=(OUT_OF_STOCK,),
    roles=ROLES,
    indexes=order.INDEXES,
    watches=order.WATCHES,
)
