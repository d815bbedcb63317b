"""Idempotency: a change and its record are written in one transaction, so that a repeat changes nothing.

The record stays under the tenant's own prefix for 24 hours. Only a completed change leaves one: after a refusal, the
same key may be used again.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.errors import BadUserInput
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.role_reach import IDEMPOTENCY
from gateway.model.tenant import TenantId, partition
from gateway.model.types import Wire
from gateway.store.access import Access
from gateway.store.table import Table
from gateway.store.wire import get_item, key_of
from gateway.store.write.change import Change
from gateway.store.write.faults import Fault, Rejected

KEPT_SECONDS = 24 * 3_600
_MAX_LENGTH = 256


@dataclass(frozen=True, slots=True)
class Once:
    """A caller's key for one mutation with given arguments.

    A mutation that is written in several transactions has a record in each; `part` is its number.
    """

    key: str
    fingerprint: str
    part: int = 0


def once(key: str, mutation: str, arguments: Mapping[str, Any]) -> Once:
    if not 1 <= len(key) <= _MAX_LENGTH:
        raise BadUserInput(f"an idempotency key has 1 to {_MAX_LENGTH} characters")
    content = orjson.dumps([mutation, arguments], default=_plain, option=orjson.OPT_SORT_KEYS)
    return Once(key, hashlib.sha256(content).hexdigest())


def _plain(value: Any) -> Any:
    # the order of a set differs between processes, and the repeat may reach another one
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


class Records:
    def __init__(self, table: Table, model: Model, clock: Callable[[], float] = time.time) -> None:
        self._table = table
        self._model = model
        self._clock = clock

    async def find(self, access: Access, wanted: Once) -> dict[str, Any] | None:
        """Returns what was stored with the key; raises `Rejected` if it was used for a different request."""
        key = self._key(access.session.tenant, access.session.subject, wanted)
        names = ("fingerprint", "outcome", self._model.table.pk, self._model.table.ttl)
        body = get_item(self._model.table, access.session.tenancy.table, key, names, strong=True)
        record = (await self._table.call(access, "GetItem", body)).get("Item")
        if not record or int(record[self._model.table.ttl]["N"]) <= self._clock():
            return None
        if record["fingerprint"]["S"] != wanted.fingerprint:
            message = "this idempotency key was used for another change"
            raise Rejected(Fault(UserErrorCode.INVALID, message, "idempotencyKey"))
        outcome: dict[str, Any] = orjson.loads(record["outcome"]["S"])
        return outcome

    def write(self, change: Change, wanted: Once, outcome: Mapping[str, Any]) -> ItemKey:
        """Adds the record to the change and returns its key; of two concurrent requests, one fails on it."""
        table, now = self._model.table, int(self._clock())
        key = self._key(change.tenant, change.subject, wanted)
        item: Wire = {
            **key_of(table, key),
            table.entity_type: {"S": "Idempotency"},
            table.ttl: {"N": str(now + KEPT_SECONDS)},
            "fingerprint": {"S": wanted.fingerprint},
            "outcome": {"S": orjson.dumps(outcome, default=str).decode()},
        }
        # DynamoDB deletes late, so an expired record counts as missing
        names, values = {"#pk": table.pk, "#ttl": table.ttl}, {":now": {"N": str(now)}}
        fault = Fault(UserErrorCode.CONFLICT, "the same change is being made by another request", "idempotencyKey")
        change.put_raw(item, "attribute_not_exists(#pk) OR #ttl <= :now", names, values, fault)
        return key

    def _key(self, tenant: TenantId, subject: str | None, wanted: Once) -> ItemKey:
        # hashed, so that any text can be a key and none can imitate another item's
        digest = hashlib.sha256(wanted.key.encode("utf-8", "surrogatepass")).hexdigest()
        # INVARIANT: a record of an own-rows session belongs to its subject; no subject has a '#'.
        path = digest if subject is None else f"{subject}#{digest}"
        sort = f"{IDEMPOTENCY}#{wanted.part}" if wanted.part else IDEMPOTENCY
        return ItemKey(partition(tenant, f"{IDEMPOTENCY}#{path}"), sort)
