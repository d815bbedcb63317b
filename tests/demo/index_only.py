"""The shop with a role that reads from indexes and nothing from the table."""

from dataclasses import replace

from gateway import Role
from gateway.demo.commerce import DOMAIN as COMMERCE

PHONE_BOOK = Role(
    name="phone-book", description="lists users", reads=("allUsers", "ordersByStatus"), hides=("address",)
)
DOMAIN = replace(COMMERCE, roles=(*COMMERCE.roles, PHONE_BOOK))
