"""gzip in both directions: a body is unpacked only as far as it may be long, and large answers are packed."""

import gzip
import re
import zlib
from functools import lru_cache

GZIP = "gzip"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # the number by which zlib knows gzip's header
# the cheapest level: our answers shrink to a sixth by it, and the usual one takes twice the time for a tenth less
_LEVEL = 1
_ACCEPTED = re.compile(r"(?P<name>gzip|\*)\s*(?:;\s*q=(?P<quality>[01](?:\.\d{0,3})?))?", re.IGNORECASE)


class NotGzip(Exception):
    """The bytes are not one whole gzip stream."""


class TooLong(Exception):
    """It would be longer than it may be; the rest was not unpacked."""


class Unpacking:
    """Takes a packed body piece by piece; INVARIANT: it never holds more than one byte above the limit."""

    def __init__(self, limit: int) -> None:
        self._stream = zlib.decompressobj(_GZIP_WINDOW)
        self._left = limit

    def take(self, piece: bytes) -> bytes:
        try:
            # one byte more than allowed tells that it is too long; zlib takes 0 for no limit
            found = self._stream.decompress(piece, self._left + 1)
        except zlib.error as error:
            raise NotGzip from error
        self._left -= len(found)
        if self._left < 0:
            raise TooLong
        if self._stream.unused_data:
            raise NotGzip
        return found

    def end(self) -> None:
        if not self._stream.eof:
            raise NotGzip


@lru_cache(64)
def accepts_gzip(header: str | None) -> bool:
    """Whether `Accept-Encoding` allows it, by name or by a wildcard."""
    parts = (_ACCEPTED.fullmatch(part.strip()) for part in (header or "").split(","))
    weights = {part["name"].lower(): float(part["quality"] or 1) for part in parts if part}
    return weights.get(GZIP, weights.get("*", 0.0)) > 0


def packed(content: bytes) -> bytes:
    return gzip.compress(content, _LEVEL, mtime=0)
