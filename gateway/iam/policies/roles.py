"""The roles inside a tenant, strongest first: their actions, and whether they see personal attributes."""

from dataclasses import dataclass
from typing import Final

READS: Final = ("BatchGetItem", "GetItem", "Query")
WRITES: Final = ("BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
RETURNING: Final = ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
"""Writes that can return the item."""
ITEM_ACTIONS: Final = tuple(sorted((*READS, *WRITES)))
"""All DynamoDB actions that any policy grants; each of them has LeadingKeys."""


@dataclass(frozen=True, slots=True)
class GatewayRole:
    name: str
    description: str
    actions: tuple[str, ...]
    sees_personal: bool = True


ROLES: Final = (
    GatewayRole("admin", "reads and writes everything of the tenant", ITEM_ACTIONS),
    GatewayRole("editor", "reads and writes the tenant's items", ITEM_ACTIONS),
    GatewayRole("support", "reads, but no attribute that the model marks as personal", READS, sees_personal=False),
    GatewayRole("viewer", "reads the tenant's items", READS),
)
ROLE_NAMES: Final = tuple(role.name for role in ROLES)
