"""Commerce: users, orders and products."""

from gateway.demo.commerce import account, category, contact, order, order_line, product, stock, supplier, user
from gateway.demo.commerce.mutations import MUTATIONS
from gateway.model.model import Domain

__all__ = ["DOMAIN", "MUTATIONS"]

_FILES = (user, contact, account, order, order_line, product, stock, category, supplier)

DOMAIN = Domain(
    name="commerce",
    description="Users, their orders, and the products they buy.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
)
