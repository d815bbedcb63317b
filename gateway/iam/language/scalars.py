"""Reads texts as the types that condition operators compare: numbers, dates, booleans, bytes, addresses."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

# Python's parsers accept more than IAM: `NaN`, `1_000`, blanks and digits of other scripts
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_EPOCH = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?")
_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))?)?)?"
)


def number(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def timestamp(text: str) -> Decimal | None:
    """Returns seconds since 1970 from a W3C date or epoch seconds; four digits alone are a year."""
    match = _DATE.fullmatch(text)
    if not match:
        return Decimal(text) if _EPOCH.fullmatch(text) else None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        whole = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
        shift = _offset(zone or "Z").utcoffset(None)
    except ValueError:
        return None
    seconds = (whole - datetime(1970, 1, 1, tzinfo=UTC) - shift) // timedelta(seconds=1)
    return Decimal(seconds) + Decimal(fraction or 0)


def boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def octets(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def network(text: str) -> IPv4Network | IPv6Network | None:
    """Returns a CIDR block; a bare address is a block of one."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def ascii_folded(text: str) -> str:
    """Lower-cases A to Z only: AWS does not document how it treats other letters, so they stay distinct."""
    return text.lower() if text.isascii() else "".join(char.lower() if char.isascii() else char for char in text)


def _offset(zone: str) -> timezone:
    if zone == "Z":
        return UTC
    span = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    return timezone(-span if zone[0] == "-" else span)
