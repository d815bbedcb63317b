"""Spreads the work of each tenant over turns of the event loop, so that no request waits behind another tenant's burst.

In one turn, the event loop handles everything that has arrived: all operations that a tenant sends at once, or all
responses to an operation that makes thirty calls. A request of another tenant would wait for that in each of its turns.
Here the first step of a tenant runs at once, and each further step when the loop has nothing else to do.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

_ROUND: Final = 0.0005  # seconds in which a tenant takes one step at once
_IDLE: Final = 0.0002  # seconds; in a shorter turn, the loop had nothing else to do
_LONGEST_WAIT: Final = 0.002  # seconds between two steps that have waited, however busy the loop is
_ACTIVE: Final = 0.005  # seconds after a step in which another one is likely
_SHARED: Final = 0.1  # seconds after a step of another tenant in which tenants share the loop

Take = Callable[[], bool]
"""Takes a step; returns False if it is not needed any more."""


class Pacer:
    """The steps of all tenants: the start of an operation, the response to a call, a piece of a large answer.

    INVARIANT: while steps wait, `_turn` runs once in every turn of the loop, so each of them gets its turn.
    """

    __slots__ = (
        "_clock",
        "_loop",
        "_round_began",
        "_shared_until",
        "_step_began",
        "_stepped",
        "_turn_began",
        "_waiting",
        "alone",
        "rests_until",
        "tenant",
    )

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self.tenant: str | None = None  # the one that took the last step
        self.alone = True  # whether no other tenant has taken steps for a while; then this one need not ask
        self._shared_until = 0.0
        self._stepped: set[str] = set()  # tenants that have taken a step in this round
        self._round_began = -_ACTIVE
        self._waiting: dict[str, deque[Take]] = {}  # the next tenant first
        self._loop: asyncio.AbstractEventLoop | None = None  # in which they wait
        self._turn_began = self._step_began = 0.0
        self.rests_until = 0.0  # by the same clock: until then, work in the background rests while operations run

    @property
    def active(self) -> bool:
        """Whether operations are running, or were a moment ago."""
        return bool(self._waiting) or self._clock() - self._round_began < _ACTIVE

    def waiting(self, tenant: str) -> int:
        """Returns how many steps of the tenant wait."""
        return len(self._waiting.get(tenant, ()))

    def step_at_once(self, tenant: str) -> bool:
        """Takes a step, if the tenant may do so now; returns whether it did."""
        now = self._clock()
        if now - self._round_began > _ROUND:
            self._round_began = now
            self._stepped.clear()
        if tenant != self.tenant:
            self.alone = self.tenant is None
            self.tenant, self._shared_until = tenant, now + _SHARED
        elif now > self._shared_until:
            self.alone = True
        if self.alone:
            return True
        if tenant in self._stepped or tenant in self._waiting:
            return False
        self._stepped.add(tenant)
        return True

    async def step(self, tenant: str) -> None:
        """Waits until the tenant may take a step, and takes it."""
        turn = asyncio.get_running_loop().create_future()

        def take() -> bool:
            if turn.done():  # its request was cancelled
                return False
            turn.set_result(None)
            return True

        self.wait(tenant, take)
        await turn

    def wait(self, tenant: str, take: Take) -> None:
        """Calls `take` when the tenant may take a step."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # no `_turn` is scheduled; nothing is left of a loop that has ended
            self._waiting.clear()
            self._loop, self._turn_began = loop, self._clock()
            self._step_began = self._turn_began
            loop.call_soon(self._turn, loop)
        self._waiting.setdefault(tenant, deque()).append(take)

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs in every turn of the loop in which steps wait."""
        if loop is not self._loop:
            return
        now = self._clock()
        try:
            if now - self._turn_began < _IDLE or now - self._step_began > _LONGEST_WAIT:
                self._round_began = self._step_began = now
                self._stepped.clear()
                self._step_of_next()
        finally:
            if self._waiting:
                self._turn_began = self._clock()
                loop.call_soon(self._turn, loop)
            else:
                self._loop = None

    def _step_of_next(self) -> None:
        while self._waiting:
            tenant = next(iter(self._waiting))
            steps = self._waiting.pop(tenant)
            take = steps.popleft()
            if steps:
                self._waiting[tenant] = steps  # after all others
            if take():
                self._stepped.add(tenant)
                return
