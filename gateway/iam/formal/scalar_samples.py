"""Texts that stand for all others where a policy compares numbers, dates, addresses, booleans or bytes.

Such a comparison depends only on where a value lies between the values of the policy. One text on each of them, one in
each gap and one that cannot be read are therefore all that a solver has to try.
"""

import base64
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from gateway.iam.formal.errors import NotProvable
from gateway.iam.language import scalars

_UNREADABLE: Final = "?"
_DIGITS: Final = 9
_LARGE: Final = Decimal(10) ** 15
_TINY: Final = Decimal("0.000000001")
"""AWS's dates have at most nine digits behind the point, so no value lies nearer to another one."""


def samples(operator: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """For one row of a condition; the samples of a key are those of all its rows together."""
    if operator.startswith("Numeric"):
        found = [text for value in values for text in _around(scalars.number(value))]
    elif operator.startswith("Date"):
        found = [text for value in values for text in _around(scalars.moment(value))]
    elif operator == "Bool":
        found = ["true", "false"]
    elif operator == "BinaryEquals":
        found = [*values, base64.b64encode(max(map(_octets, values), key=len) + b"x").decode()]
    else:
        found = [text for value in values for text in _borders(scalars.network(value))]
    return (*dict.fromkeys(found), _UNREADABLE)


def _around(value: Decimal | None) -> list[str]:
    if value is None:
        return []
    if value != round(value, _DIGITS) or abs(value) >= _LARGE:
        raise NotProvable(f"`{value}` is too long a number to be proved about")
    # A point in every text: four bare digits would be read as a year.
    return [f"{each:.{_DIGITS}f}" for each in (value - _TINY, value, value + _TINY)]


def _octets(text: str) -> bytes:
    return scalars.octets(text) or b""


def _borders(block: IPv4Network | IPv6Network | None) -> list[str]:
    if block is None:
        return []
    first, last = block[0], block[-1]
    inside = {first, last}
    outside = {first - 1} if int(first) else set()
    if int(last) < 2**block.max_prefixlen - 1:
        outside.add(last + 1)
    return [str(each) for each in sorted(inside | outside, key=int)]
