"""The authorisations that AWS checks for a DynamoDB request in its wire form."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from gateway.iam.dynamodb import reads, writes
from gateway.iam.dynamodb.control_plane import CONTROL, control
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_schemas import TableRegistry
from gateway.iam.dynamodb.wire import Body
from gateway.iam.language.verdict import Authorisation

Reader = Callable[[Body, TableRegistry], tuple[Authorisation, ...]]

_VERB = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+\"?([A-Za-z0-9_.-]{3,255})", re.IGNORECASE)


def authorisations(operation: str, body: Mapping[str, Any], place: TableRegistry) -> tuple[Authorisation, ...]:
    """All of them must be allowed. Raises `NotUnderstood` for a request that must be denied."""
    reader = OPERATIONS.get(operation)
    if reader is None:
        raise NotUnderstood(f"unknown operation `{operation}`")
    if not _is_object(body):
        raise NotUnderstood("a request must be an object", f"dynamodb:{operation}")
    try:
        needed = reader(body, place)
    except NotUnderstood as error:
        raise NotUnderstood(error.message, error.action or f"dynamodb:{operation}", error.resource) from error
    # INVARIANT: a request without authorisations is refused, because "all of none are allowed" would be true.
    if not needed:
        raise NotUnderstood("the request needs no authorisation", f"dynamodb:{operation}")
    return needed


def _is_object(body: object) -> bool:
    return isinstance(body, Mapping)


def _partiql(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """Always refused: its actions have LeadingKeys, and the gateway does not parse PartiQL to find them."""
    members = body.get("Statements") or body.get("TransactStatements") or [body]
    text = str(members[0].get("Statement")) if isinstance(members, list) and isinstance(members[0], Mapping) else ""
    verb, table = _VERB.match(text), _TABLE.search(text)
    # A guess that only affects the text of the denial.
    action = f"dynamodb:PartiQL{verb.group(1).capitalize() if verb else 'Select'}"
    resource = place.table_arn(table.group(1)) if table else "*"
    raise NotUnderstood("the partition keys are not read from PartiQL", action, resource)


OPERATIONS: Final[Mapping[str, Reader]] = {
    "GetItem": reads.get_item,
    "BatchGetItem": reads.batch_get_item,
    "TransactGetItems": reads.transact_get_items,
    "Query": reads.query,
    "Scan": reads.scan,
    **{operation: partial(writes.single_write, operation) for operation in sorted(writes.SINGLE_WRITES)},
    "BatchWriteItem": writes.batch_write_item,
    "TransactWriteItems": writes.transact_write_items,
    "ExecuteStatement": _partiql,
    "BatchExecuteStatement": _partiql,
    "ExecuteTransaction": _partiql,
    **{operation: partial(control, operation) for operation in CONTROL},
}
