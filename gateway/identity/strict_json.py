"""Parsers for base64url and JSON that accept one spelling of a value and refuse every other."""

import base64
import json
from typing import Any, NoReturn

# Counting brackets limits the depth whatever the recursion limit is; real tokens and key sets have far fewer.
_MAX_BRACKETS = 512


def base64url(text: object) -> bytes:
    """The bytes of unpadded base64url text; `ValueError` for any other spelling."""
    if not isinstance(text, str):
        raise ValueError("not a string")
    raw = text.encode("ascii")
    decoded = base64.urlsafe_b64decode(raw + b"=" * (-len(raw) % 4))
    # INVARIANT: one value has one spelling: no padding, no foreign characters, no stray bits in the last character.
    if base64url_text(decoded) != raw:
        raise ValueError("not canonical base64url")
    return decoded


def base64url_text(value: bytes) -> bytes:
    return base64.urlsafe_b64encode(value).rstrip(b"=")


def json_object(raw: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8; `ValueError` for anything else, including repeated names, NaN and deep nesting."""
    if raw.count(b"{") + raw.count(b"[") > _MAX_BRACKETS:
        raise ValueError("too many brackets")
    try:
        value = DECODER.decode(raw.decode("utf-8"))
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


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
"""Refuses repeated names and NaN with a `ValueError`."""
