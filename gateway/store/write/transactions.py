"""Runs each change as one transaction, retries conflicts and reports failed conditions as faults."""

import asyncio
import os
from collections.abc import Coroutine, Mapping
from typing import Any

from msgspec.structs import replace

from gateway.aws.wire.errors import TransactionCancelled, TransactionInProgress
from gateway.backoff import full_jitter
from gateway.errors import Conflict, DeadlineExceeded
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import item_key
from gateway.model.model import Model
from gateway.store.access import Access
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.write.change import Change
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.member import Member

_TRIES = 8
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_FAILED = "ConditionalCheckFailed"
# a conflict with another transaction, or too much traffic: a retry may succeed
_PASSING = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


class Transactions:
    def __init__(self, table: Table, model: Model) -> None:
        self._table = table
        self._model = model

    async def run(self, access: Access, change: Change) -> None:
        """Writes all members or none; raises `Rejected` with the faults of the members whose conditions failed."""
        token = _new_token()
        for attempt in range(_TRIES):
            if not change.members:
                return
            try:
                await self._table.call(access, "TransactWriteItems", _body(access, change, token))
            except TransactionCancelled as error:
                lighter = await self._lightened(access, change, error)
                # INVARIANT: while an attempt may have been executed, the next one has the same token.
                token = _new_token() if lighter or not error.uncertain else token
                if lighter:
                    continue
            except TransactionInProgress:
                pass
            else:
                for name, size in change.large:
                    self._table.sizes.was_written(access.session.tenant, name, size)
                return
            await _pause(access, attempt)
        raise Conflict("the items are being changed by others; try again")

    async def _lightened(self, access: Access, change: Change, error: TransactionCancelled) -> bool:
        """Whether only optional members failed, which are now removed from the change."""
        failed = [
            member for member, reason in zip(change.members, error.reasons, strict=False) if reason.code == _FAILED
        ]
        needed = [member for member in failed if not member.optional]
        if needed:
            faults = [await self._fault_of(access, member) for member in needed]
            raise Rejected(*faults, keys=tuple(member.key for member in needed)) from error
        if not failed and not any(reason.code in _PASSING for reason in error.reasons):
            raise error
        change.members = [member for member in change.members if member not in failed]
        return bool(failed)

    def stored(self, access: Access, entity: str, key: Mapping[str, Any]) -> Coroutine[Any, Any, Item | None]:
        """Returns the whole current item, for a change."""
        at = item_key(access.session.tenant, self._model.entities[entity], key)
        return self._table.current(access, entity, at, self._model.whole_items[entity])

    async def _fault_of(self, access: Access, member: Member) -> Fault:
        fault = member.fault or Fault(UserErrorCode.CONFLICT, "somebody else has changed it")
        if member.sums is not None:
            stored = await self.stored(access, member.sums.entity, member.sums.key)
            return member.sums.fault(self._model, stored) or fault
        if fault.code is not UserErrorCode.CONFLICT or fault.entity is None or fault.key is None:
            return fault
        current = await self.stored(access, fault.entity, fault.key)
        if current is None:
            return replace(fault, code=UserErrorCode.NOT_FOUND, message=f"this {fault.entity} does not exist any more")
        return replace(fault, current_version=current.values[self._model.table.version])


def _new_token() -> str:
    return os.urandom(16).hex()


def _body(access: Access, change: Change, token: str) -> dict[str, Any]:
    table = access.session.tenancy.table
    return {
        "TransactItems": [{member.kind: {"TableName": table, **member.body}} for member in change.members],
        "ClientRequestToken": token,
        "ReturnConsumedCapacity": "TOTAL",
    }


async def _pause(access: Access, attempt: int) -> None:
    delay = full_jitter(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
    if access.deadline is not None and asyncio.get_running_loop().time() + delay >= access.deadline:
        raise DeadlineExceeded("the change could not be made in time; nothing was written")
    await asyncio.sleep(delay)
