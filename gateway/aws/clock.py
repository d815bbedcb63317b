"""The time that requests are signed with: ours, moved by what AWS says its own is."""

import time

# AWS accepts signatures within 5 minutes; less than this between the clocks is not why it refused one
_NOTABLE = 60.0


class Clock:
    __slots__ = ("_offset",)

    def __init__(self) -> None:
        self._offset = 0.0

    def now(self) -> float:
        """Seconds since the epoch by the clock of AWS, as far as we know it."""
        return time.time() + self._offset

    def correct(self, date: float | None) -> bool:
        """Moves to the moment that AWS gave; false where that changes too little to be worth another attempt."""
        if date is None or abs(date - self.now()) < _NOTABLE:
            return False
        self._offset = date - time.time()
        return True
