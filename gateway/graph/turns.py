"""Whose turn it is: so many operations run at a time, and of those that wait each tenant's next one in turn.

So who sends a thousand at once waits for itself, and not everybody else for it.
"""

import asyncio
from collections import deque

from gateway.errors import Throttled
from gateway.model.tenant import TenantId


class Turns:
    """`running` at a time for all tenants; `waiting` at the most for each of them."""

    def __init__(self, running: int = 64, waiting: int = 1_000) -> None:
        self._limit = self._free = running
        self._most = waiting
        # the tenant whose turn is next comes first
        self._waiting: dict[TenantId, deque[asyncio.Future[None]]] = {}

    @property
    def running(self) -> int:
        return self._limit - self._free

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def enter(self, tenant: TenantId) -> None:
        """Returns when it is this one's turn, which `leave` then ends."""
        if self._free:
            self._free -= 1
            return
        queue = self._waiting.setdefault(tenant, deque())
        if len(queue) >= self._most:
            raise Throttled("too many operations of this tenant are waiting; try again later")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._give_up(tenant, turn)
            else:
                # it came too late for this one, so the next one has it
                self.leave()
            raise

    def leave(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        tenant = next(iter(self._waiting))
        queue = self._waiting.pop(tenant)
        turn = queue.popleft()
        if queue:
            self._waiting[tenant] = queue
        if turn.cancelled():
            self.leave()
        else:
            turn.set_result(None)

    def _give_up(self, tenant: TenantId, turn: "asyncio.Future[None]") -> None:
        queue = self._waiting.get(tenant)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[tenant]
