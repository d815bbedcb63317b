"""The condition keys that DynamoDB sets for each action."""

from collections.abc import Mapping
from typing import Final

_LEADING: Final = (
    *("dynamodb:LeadingKeys", "dynamodb:FirstPartitionKeyValues", "dynamodb:SecondPartitionKeyValues"),
    *("dynamodb:ThirdPartitionKeyValues", "dynamodb:FourthPartitionKeyValues"),
)
_READ: Final = (*_LEADING, "dynamodb:Attributes", "dynamodb:Select", "dynamodb:ReturnConsumedCapacity")
_WRITE: Final = (*_LEADING, "dynamodb:Attributes", "dynamodb:ReturnValues", "dynamodb:ReturnConsumedCapacity")
_ENCLOSING: Final = "dynamodb:EnclosingOperation"
_PARTIQL: Final = (*_LEADING, "dynamodb:Attributes", _ENCLOSING)

MULTIVALUED: Final = frozenset((*_LEADING, "dynamodb:Attributes", "aws:TagKeys", "sts:TransitiveTagKeys"))

KEYS: Final[Mapping[str, frozenset[str]]] = {
    action: frozenset(keys)
    for action, keys in {
        "GetItem": (*_READ, _ENCLOSING),
        "BatchGetItem": _READ,
        "Query": (*_READ, "dynamodb:ReturnValues"),
        "Scan": tuple(key for key in _READ if key not in _LEADING),
        "PutItem": (*_WRITE, _ENCLOSING),
        "UpdateItem": (*_WRITE, _ENCLOSING),
        "DeleteItem": (*_WRITE, _ENCLOSING),
        "ConditionCheckItem": (*_WRITE, _ENCLOSING),
        "BatchWriteItem": tuple(key for key in _WRITE if key != "dynamodb:ReturnValues"),
        "PartiQLSelect": (*_PARTIQL, "dynamodb:Select", "dynamodb:FullTableScan"),
        "PartiQLInsert": _PARTIQL,
        "PartiQLUpdate": (*_PARTIQL, "dynamodb:ReturnValues"),
        "PartiQLDelete": (*_PARTIQL, "dynamodb:ReturnValues"),
    }.items()
}
"""Actions that are missing here have no DynamoDB condition key."""

KEYED: Final = frozenset(action for action, keys in KEYS.items() if "dynamodb:LeadingKeys" in keys)
"""Actions for which LeadingKeys can separate the rows of tenants."""


TENANT_TAG: Final = "TenantId"
ROLE_TAG: Final = "GatewayRole"
SUBJECT_TAG: Final = "Subject"
PRINCIPAL_TENANT: Final = f"aws:PrincipalTag/{TENANT_TAG}"
PRINCIPAL_SUBJECT: Final = f"aws:PrincipalTag/{SUBJECT_TAG}"
LEADING_KEYS: Final = "dynamodb:LeadingKeys"
