"""How stale a cached read may be; entities and listings without a `Staleness` are never cached."""

from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 86_400.0


@dataclass(frozen=True, slots=True)
class Staleness:
    """A cached read may lag behind the table by at most `seconds`, including the time in which it is refreshed.

    The absence of an item may be cached for `absence_seconds`; 0 means never.
    """

    seconds: float
    absence_seconds: float = 0


def staleness_faults(staleness: Staleness | None) -> Iterator[str]:
    if staleness is None:
        return
    if not 0 < staleness.seconds <= _LONGEST:
        yield f"`seconds` must be more than 0 and at most {_LONGEST:g}"
    if not 0 <= staleness.absence_seconds <= staleness.seconds:
        yield "`absence_seconds` must be between 0 and `seconds`"
