"""The time that requests are signed with: ours, moved by what AWS says its own is."""

import time

# AWS accepts signatures within 5 minutes; less than this between the clocks is not why it refused one
_NOTABLE = 60.0


class Clock:
    __slots__ = ("offset",)

    def __init__(self) -> None:
        self.offset = 0.0

    def now(self) -> float:
        """Seconds since the epoch by the clock of AWS, as far as we know it."""
        return time.time() + self.offset

    def correct(self, date: float | None, signed_with: float) -> bool:
        """Moves to the moment that AWS gave; false where that does not explain why it refused a signature.

        `signed_with` is the offset of the refused request: another call may have moved the clock since.
        """
        if date is None:
            return False
        offset = date - time.time()
        if abs(offset - self.offset) >= _NOTABLE:
            self.offset = offset
        return abs(self.offset - signed_with) >= _NOTABLE
