"""How stale an answer may be: what the read caches go by. What declares nothing is read from the table every time."""

from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 86_400.0


@dataclass(frozen=True, slots=True)
class Staleness:
    """`seconds` is the most that an answer may lag behind the table, stale answers while one is renewed included.

    That there is nothing may be remembered for `absence_seconds`; 0 asks again each time.
    """

    seconds: float
    absence_seconds: float = 0


def staleness_faults(staleness: Staleness | None) -> Iterator[str]:
    if staleness is None:
        return
    if not 0 < staleness.seconds <= _LONGEST:
        yield f"an answer may be stale for more than 0 and up to {_LONGEST:g} seconds"
    if not 0 <= staleness.absence_seconds <= staleness.seconds:
        yield "that there is nothing may be remembered for 0 seconds up to as long as what there is"
