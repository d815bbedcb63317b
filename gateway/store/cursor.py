"""Cursors: a position in the order of a listing, opaque and bound to scope (tenant, or subject), listing and arguments.

They are encrypted as well as authenticated (AES-SIV), because a sort key can contain personal data such as an e-mail
address that the caller's role may not read. Equal positions have equal cursors, so clients can compare them.
"""

import base64
import hashlib
from binascii import b2a_base64
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Context, Decimal
from enum import Enum
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from gateway.errors import BadUserInput
from gateway.model.filters import Filter
from gateway.store.plan import Range

_VERSION = b"\x01"
_MAX_LENGTH = 4_096
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
# Decimal's default context would round to 28 digits and treat two ranges as one
_EXACT = Context(prec=100, traps=[])


class Cursors:
    def __init__(self, secret: str) -> None:
        self._cipher = AESSIV(hashlib.sha512(b"gateway cursor " + secret.encode()).digest())

    def seal(self, scope: str, listing: str, arguments: Mapping[str, Any], position: str) -> str:
        sealed = self._cipher.encrypt(position.encode(), _bound(scope, listing, arguments))
        return _text(_VERSION + sealed)

    def open(
        self, scope: str, listing: str, arguments: Mapping[str, Any], cursor: str, longest: int = _MAX_LENGTH
    ) -> str:
        """Returns the position; raises the same `BadUserInput` for forged, foreign and outdated cursors."""
        try:
            if len(cursor) > longest:
                raise ValueError(cursor[:10])
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            # only the canonical spelling: base64 has unused bits in its last character
            if raw[:1] != _VERSION or _text(raw) != cursor:
                raise ValueError(raw[:1])
            return self._cipher.decrypt(raw[1:], _bound(scope, listing, arguments)).decode()
        except (ValueError, TypeError, OverflowError, InvalidTag) as error:
            raise BadUserInput("the cursor does not belong to this list and these arguments") from error


def _text(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).translate(_URL_SAFE).rstrip(b"=").decode()


def _bound(scope: str, listing: str, arguments: Mapping[str, Any]) -> list[bytes]:
    text = b"{}"
    if arguments:
        plain_arguments = {name: _plain(value) for name, value in arguments.items() if value is not None}
        text = orjson.dumps(plain_arguments, option=orjson.OPT_SORT_KEYS)
    return [scope.encode(), listing.encode(), text]


def _plain(value: Any) -> Any:
    """Returns the same text for equal arguments, such as a price with trailing zeros or a date in another time zone."""
    match value:
        case Range(first, last):
            return [_plain(first), _plain(last)]
        case Filter(comparisons):
            return [[comparison.attribute, comparison.operator, _plain(comparison.value)] for comparison in comparisons]
        case tuple():
            return [_plain(member) for member in value]
        case Enum():
            return value.name
        case datetime():
            return value.astimezone(UTC).isoformat()
        case Decimal():
            return str(value.normalize(_EXACT))
        case None | str() | bool():
            return value
        case int():
            return str(value)
    return repr(value)  # a type that a domain has added; `AttributeType` requires a complete repr
