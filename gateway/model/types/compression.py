"""Compression of large text and bytes; a marker before the content says which of them it is."""

import base64
import zlib

from gateway.errors import BadUserInput, Internal
from gateway.model.types.base import Wire

TEXT_MAGIC, BYTES_MAGIC = b"\x01t", b"\x01b"

_COMPRESS_FROM = 1_024  # bytes; below that, compression costs more than it saves
_MAX_INFLATED = 4_000_000


def compressed(name: str, value: str | bytes) -> Wire | None:
    """The value in its compressed form, or None if it is too short to benefit."""
    magic, raw = (TEXT_MAGIC, value.encode()) if isinstance(value, str) else (BYTES_MAGIC, value)
    return None if len(raw) < _COMPRESS_FROM else deflated(name, magic, raw)


def deflated(name: str, magic: bytes, raw: bytes) -> Wire:
    if len(raw) > _MAX_INFLATED:
        raise BadUserInput(f"`{name}` has {len(raw)} bytes, at most {_MAX_INFLATED} can be stored", name)
    return {"B": base64.b64encode(magic + zlib.compress(raw, 6)).decode()}


def inflated(raw: bytes, magic: bytes) -> bytes:
    if not raw.startswith(magic):
        raise Internal("a stored attribute has an unknown compression")
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(raw[len(magic) :], _MAX_INFLATED)
    except zlib.error as error:
        raise Internal("a stored attribute cannot be decompressed") from error
    if not inflate.eof:
        raise Internal("a stored attribute is truncated or larger than allowed")
    return content
