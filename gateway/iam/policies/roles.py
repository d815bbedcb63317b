"""The gateway's roles inside a tenant, strongest first: what each may do, and whether it sees personal attributes."""

from dataclasses import dataclass
from typing import Final

READS: Final = ("BatchGetItem", "GetItem", "Query")
WRITES: Final = ("BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
RETURNING: Final = ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
"""Writes that can be told to answer with the item."""
ITEM_ACTIONS: Final = tuple(sorted((*READS, *WRITES)))
"""Everything that any policy grants of DynamoDB: each of these actions has LeadingKeys."""


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
