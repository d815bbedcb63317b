"""gzip in both directions: a body is unpacked only as far as it may be long, and large answers are packed."""

import gzip
import re
import zlib
from functools import lru_cache

GZIP = "gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # the number by which zlib knows gzip's header
# the cheapest level: our answers shrink to a sixth by it, and the usual one takes twice the time for a tenth less
_LEVEL = 1
_LONGEST_HEADER = 2_000  # characters
_ACCEPTED = re.compile(r"(?P<name>gzip|\*)\s*(?:;\s*q=(?P<quality>[01](?:\.\d{0,3})?))?", re.IGNORECASE)


class NotGzip(Exception):
    """The bytes are not one whole gzip stream."""


class TooLong(Exception):
    """It would be longer than it may be; the rest was not unpacked."""


def unpacked(body: bytes, limit: int) -> bytes:
    """INVARIANT: it never holds more than one byte above the limit."""
    stream = zlib.decompressobj(_GZIP_WINDOW)
    try:
        # one byte more than allowed tells that it is too long
        found = stream.decompress(body, limit + 1)
    except zlib.error as error:
        raise NotGzip from error
    if len(found) > limit:
        raise TooLong
    if not stream.eof or stream.unused_data:
        raise NotGzip
    return found


@lru_cache(64)
def accepts_gzip(header: str | None) -> bool:
    """Whether `Accept-Encoding` allows it, by name or by a wildcard; an absurdly long one is not read."""
    if header is not None and len(header) > _LONGEST_HEADER:
        return False
    parts = (_ACCEPTED.fullmatch(part.strip()) for part in (header or "").split(","))
    weights = {part["name"].lower(): float(part["quality"] or 1) for part in parts if part}
    return weights.get(GZIP, weights.get("*", 0.0)) > 0


def compressed(content: bytes) -> bytes:
    return gzip.compress(content, _LEVEL, mtime=0)
