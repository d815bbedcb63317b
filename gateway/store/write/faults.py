"""The reasons why a change was not made, as values that a client can act on."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.errors import BadUserInput, Conflict, Internal
from gateway.model.error_code import ErrorCode, UserErrorCode
from gateway.model.keys import ItemKey
from gateway.model.model import Model


class Fault(msgspec.Struct, frozen=True):
    """One reason why a change was not made; `field` is the input field that caused it."""

    code: UserErrorCode | ErrorCode
    message: str
    field: str | None = None
    current_version: int | None = None
    # the item whose version shows what is wrong
    entity: str | None = None
    key: Mapping[str, Any] | None = None


def check_declared(model: Model, fault: Fault) -> None:
    """Clients know only the codes of the schema, so a code that no domain declares is a bug of the mutation."""
    if isinstance(fault.code, ErrorCode) and fault.code not in model.error_codes:
        raise Internal(f"the error code `{fault.code.name}` is not declared; add it to `Domain(error_codes=...)`")


class Rejected(Conflict):
    """An expected failure of a change: nothing was written."""

    def __init__(self, *faults: Fault, keys: tuple[ItemKey, ...] = ()) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults
        self.keys = keys  # of the failed writes, one for each fault


def faults_of(error: BadUserInput) -> tuple[Fault, ...]:
    """Collects all faults of an input."""
    return tuple(Fault(UserErrorCode.INVALID, other.message, other.field) for other in (error, *error.others))


def invalid(message: str, field: str | None = None) -> Rejected:
    """Returns the error to raise if the input is wrong."""
    return Rejected(Fault(UserErrorCode.INVALID, message, field))


def missing(entity: str, key: Mapping[str, Any], field: str | None = None) -> Rejected:
    """Returns the error to raise if an item that the change needs does not exist.

    `field` is the input field with its key, such as `lines.1.productId`, if it is not called like the key itself.
    """
    named = ", ".join(f"{name} `{value}`" for name, value in key.items())
    return Rejected(
        Fault(UserErrorCode.NOT_FOUND, f"there is no {entity} with {named}", field or next(iter(key), None))
    )
