"""Readers for base64url and JSON that know one spelling of a value and refuse every other."""

import binascii
import json
from typing import Any, NoReturn

# Brackets bound the depth whatever the interpreter's recursion limit is; real tokens and key sets hold far fewer.
_MAX_BRACKETS = 512

# The `base64` module does the same in three times the time, and this runs for every request.
_TO_STANDARD, _FROM_STANDARD = bytes.maketrans(b"-_", b"+/"), bytes.maketrans(b"+/", b"-_")


def base64url(text: object) -> bytes:
    """The bytes of unpadded base64url text; `ValueError` for anything but their canonical spelling."""
    if not isinstance(text, str):
        raise ValueError("not a string")
    raw = text.encode("ascii")
    decoded = binascii.a2b_base64(raw.translate(_TO_STANDARD) + b"==")
    # INVARIANT: one value has one spelling: no padding, no foreign characters, no stray bits in the last character.
    if base64url_text(decoded) != raw:
        raise ValueError("not canonical base64url")
    return decoded


def base64url_text(value: bytes) -> bytes:
    return binascii.b2a_base64(value, newline=False).translate(_FROM_STANDARD).rstrip(b"=")


def json_object(raw: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8; `ValueError` for anything else, repeated names, NaN and deep nesting included."""
    if raw.count(b"{") + raw.count(b"[") > _MAX_BRACKETS:
        raise ValueError("too many brackets")
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name occurs twice")
    return members


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
