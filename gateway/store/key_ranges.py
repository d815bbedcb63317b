"""Ranges of sort keys, and how a position splits them, so that one cursor works across many partitions.

Sort keys are unique inside a listing, so "after this position" is a range of sort keys in every shard and bucket.
"""

from dataclasses import dataclass, replace

# Above every key: DynamoDB sorts by UTF-8 bytes, which is the order of code points, and no key contains this one.
TOP = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A range that includes both ends; `prefix` is set if it contains exactly the keys that start with a text."""

    low: str | None = None
    high: str | None = None
    prefix: str | None = None

    @property
    def empty(self) -> bool:
        return self.low is not None and self.high is not None and self.low > self.high


def starting_with(prefix: str) -> KeyRange:
    return KeyRange(prefix, prefix + TOP, prefix) if prefix else KeyRange()


def exactly(text: str) -> KeyRange:
    return KeyRange(text, text)


def contains(bounds: KeyRange, sort: str) -> bool:
    return (bounds.low is None or bounds.low <= sort) and (bounds.high is None or sort <= bounds.high)


def overlap(one: KeyRange, other: KeyRange) -> bool:
    return _reaches(one, other) and _reaches(other, one)


def _reaches(one: KeyRange, other: KeyRange) -> bool:
    return one.high is None or other.low is None or one.high >= other.low


def after(bounds: KeyRange, position: str) -> KeyRange:
    """Returns the part strictly after a position."""
    low = position + "\x00"
    return replace(bounds, low=low if bounds.low is None else max(low, bounds.low), prefix=None)


def before(bounds: KeyRange, position: str) -> KeyRange:
    """Returns the part strictly before a position."""
    high = _predecessor(position)
    return replace(bounds, high=high if bounds.high is None else min(high, bounds.high), prefix=None)


def _predecessor(text: str) -> str:
    """Returns a text below `text` with no key in between: keys contain neither TOP nor control characters."""
    code = ord(text[-1]) - 1
    if 0xD800 <= code <= 0xDFFF:  # surrogates are not characters
        code = 0xD7FF
    return text[:-1] + chr(code) + TOP
