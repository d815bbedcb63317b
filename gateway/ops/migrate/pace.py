"""How fast it may go: capacity units for each second, so that those who are served do not notice."""

import asyncio


class Pace:
    """Whoever has spent units waits until they are earned again; a second's worth may be spent at once."""

    def __init__(self, units_per_second: float) -> None:
        self._seconds_each = 1 / units_per_second
        self._paid_until = 0.0
        self.spent = 0.0

    async def spend(self, units: float) -> None:
        now = asyncio.get_running_loop().time()
        self.spent += units
        self._paid_until = max(self._paid_until, now - 1) + units * self._seconds_each
        if self._paid_until > now:
            await asyncio.sleep(self._paid_until - now)
