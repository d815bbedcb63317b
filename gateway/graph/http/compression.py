"""gzip in both directions: decompresses request bodies up to a limit, and compresses large responses."""

import re
import zlib
from functools import lru_cache

from isal import isal_zlib

from gateway.graph.background import checkpoint

GZIP = "gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # tells zlib to expect or write a gzip header
# a page shrinks to less than a quarter; zlib takes 1.6 to 3.3 times as long for it (`python -m bench compression`)
_LEVEL = 1
_PIECE = 64_000  # bytes
_LONGEST_HEADER = 2_000  # characters
_ACCEPTED = re.compile(r"(?P<name>gzip|\*)\s*(?:;\s*q=(?P<quality>[01](?:\.\d{0,3})?))?", re.IGNORECASE)


class NotGzip(Exception):
    """The bytes are not exactly one complete gzip stream."""


class TooLong(Exception):
    """The decompressed body exceeds the limit; the rest was not decompressed."""


def unpacked(body: bytes, limit: int) -> bytes:
    """INVARIANT: it never holds more than one byte above the limit."""
    stream, pieces, room = zlib.decompressobj(_GZIP_WINDOW), [b""], limit + 1
    try:
        while not stream.eof and room:
            piece = stream.decompress(body, min(room, _PIECE))
            if not piece:
                break  # the stream ends too early
            pieces.append(piece)
            # one byte above the limit shows that the body is too long
            body, room = stream.unconsumed_tail, room - len(piece)
            checkpoint()
    except zlib.error as error:
        raise NotGzip from error
    if not room:
        raise TooLong
    if not stream.eof or stream.unused_data:
        raise NotGzip
    return b"".join(pieces)


@lru_cache(64)
def accepts_gzip(header: str | None) -> bool:
    """Whether `Accept-Encoding` allows gzip, by name or by a wildcard; overlong headers are ignored."""
    if header is not None and len(header) > _LONGEST_HEADER:
        return False
    parts = (_ACCEPTED.fullmatch(part.strip()) for part in (header or "").split(","))
    weights = {part["name"].lower(): float(part["quality"] or 1) for part in parts if part}
    return weights.get(GZIP, weights.get("*", 0.0)) > 0


def compressed(content: bytes) -> bytes:
    return isal_zlib.compress(content, _LEVEL, _GZIP_WINDOW)
