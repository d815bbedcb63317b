"""A circuit breaker: after several failures in a row, a cluster gets no calls for a while, then one trial call."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gateway.backoff import exponential


@dataclass(frozen=True, slots=True)
class BreakerRules:
    failures: int = 5  # in a row
    pause: float = 1.0  # seconds; doubles with each failed trial
    longest_pause: float = 60.0


class Breaker:
    def __init__(self, rules: BreakerRules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._failures = 0
        self._trials = 0  # failed ones in a row
        self._open_until: float | None = None
        self._trying = False

    @property
    def state(self) -> Literal["closed", "open", "trying"]:
        if self._open_until is None:
            return "closed"
        return "trying" if self._trying else "open"

    def allows(self) -> bool:
        """Whether a call may be made; its outcome must be reported."""
        if self._open_until is None:
            return True
        if self._trying or self._clock() < self._open_until:
            return False
        self._trying = True
        return True

    def succeeded(self) -> None:
        self._failures = 0
        self._trials = 0
        self._open_until = None
        self._trying = False

    def failed(self) -> None:
        self._failures += 1
        if self._trying:
            self._trials += 1
        elif self._failures < self._rules.failures or self._open_until is not None:
            # calls that were in progress when it opened say nothing new
            return
        self._open_until = self._clock() + exponential(self._trials, self._rules.pause, self._rules.longest_pause)
        self._trying = False

    def left(self) -> None:
        """Reports that the call was abandoned for a reason that says nothing about the cluster."""
        self._trying = False
