"""Authorizes DynamoDB requests with the gateway's evaluator and the policies of the sandbox account."""

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.verdict import Allow, Deny
from gateway.sandbox.aws.account import Account, KeyHolder
from gateway.sandbox.aws.engine import Engine, call_engine
from gateway.sandbox.aws.responses import AwsFault

_log = logging.getLogger(__name__)
_LAYERS = {
    "identity": ("identity-based policy", "an identity-based policy"),
    "session": ("session policy", "a session policy"),
    "boundary": ("permissions boundary", "a permissions boundary"),
}
_RESHAPING = frozenset(("CreateTable", "DeleteTable", "UpdateTable"))


class Authorizer:
    def __init__(self, account: Account, engine: Engine) -> None:
        self._account = account
        self._engine = engine
        self._place: TableRegistry | None = None

    async def check(self, caller: KeyHolder, operation: str, body: Mapping[str, Any]) -> None:
        """Raises AWS's `AccessDeniedException` unless the caller may do this."""
        if caller.policies is None:
            return
        place = self._place or await self._read_key_schemas()
        verdict = Permissions(caller.policies, caller.principal, place).check(operation, body)
        # INVARIANT: only an `Allow` lets a request through.
        if not isinstance(verdict, Allow):
            _log_denial(caller, operation, verdict)
            raise denied(caller, f"dynamodb:{operation}", verdict)

    def forget(self, operation: str) -> None:
        """Forgets the key schemas of the tables if this operation can change them."""
        if operation in _RESHAPING:
            self._place = None

    async def _read_key_schemas(self) -> TableRegistry:
        """Reads the key schema of every table: without them the partition that a request names is unknown."""
        tables: dict[str, KeySchema] = {}
        async for name in _table_names(self._engine):
            table = (await call_engine(self._engine, "DescribeTable", {"TableName": name}))["Table"]
            tables[name] = _keys(table)
        self._place = TableRegistry(self._account.region, self._account.number, tables=tables)
        return self._place


async def _table_names(engine: Engine) -> AsyncIterator[str]:
    start: dict[str, str] = {}
    while True:
        page = await call_engine(engine, "ListTables", start)
        for name in page.get("TableNames", ()):
            yield name
        if not page.get("LastEvaluatedTableName"):
            return
        start = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}


def denied(caller: KeyHolder, action: str, verdict: Deny) -> AwsFault:
    """The message of AWS: it names the action and the resource, never the key of an item."""
    action = verdict.action or action
    resource = f" on resource: {verdict.resource}" if verdict.resource else ""
    return AwsFault(
        "AccessDeniedException",
        f"User: {caller.arn} is not authorized to perform: {action}{resource}{_because(verdict, action)}",
    )


def _because(verdict: Deny, action: str) -> str:
    names = _LAYERS.get(verdict.layer)
    if names is None:
        return ""
    if verdict.explicit:
        return f" with an explicit deny in {names[1]}"
    return f" because no {names[0]} allows the {action} action"


def _log_denial(caller: KeyHolder, operation: str, verdict: Deny) -> None:
    policies = caller.policies.fingerprint[:12] if caller.policies else ""
    _log.info("denied %s to %s: %s (policies %s)", operation, caller.arn, verdict.reason, policies)


def _keys(table: Mapping[str, Any]) -> KeySchema:
    indexes = (*table.get("GlobalSecondaryIndexes", ()), *table.get("LocalSecondaryIndexes", ()))
    return KeySchema(_hash(table)[0], {index["IndexName"]: _hash(index) for index in indexes})


def _hash(part: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(key["AttributeName"] for key in part["KeySchema"] if key["KeyType"] == "HASH")
