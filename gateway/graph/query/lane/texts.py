"""Parts of the texts of DynamoDB requests: what stands between their slots, and what is put into a slot."""

import re
from typing import Any

import msgspec
import orjson

# what JSON writes as it is
is_plain = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*').fullmatch


def escaped(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return text if is_plain(text) is not None else orjson.dumps(text)[1:-1].decode()


def compact(raw: msgspec.Raw) -> str:
    """A part of an answer in the form in which we send it."""
    return orjson.dumps(orjson.loads(bytes(raw))).decode()


def pieces(body: dict[str, Any], *marks: str) -> list[str]:
    """The text of a request, cut at the marks."""
    text, parts = orjson.dumps(body).decode(), []
    for mark in marks:
        before, found, text = text.partition(mark)
        assert found  # noqa: S101  the marks are ours
        parts.append(before)
    return [*parts, text]
