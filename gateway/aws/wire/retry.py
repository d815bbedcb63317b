"""Decides when a call is retried, like the standard mode of the AWS SDKs.

As in the SDKs, every operation is retried after a broken connection, a timeout or a 5xx, although a write may have been
executed by then. Reads do no harm, and transactions carry a client token that makes them idempotent; for other writes
DynamoDB offers nothing better than a condition. An error after such an attempt is marked `uncertain`, so that a failed
condition on the second attempt is not mistaken for another caller's write.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from gateway.aws.wire.errors import AwsError, ConnectionBroken, Retry
from gateway.backoff import full_jitter

# the cost of a retry in tokens, and the refund for a call without retries
_COSTS = {Retry.TRANSIENT: 5, Retry.TIMEOUT: 10, Retry.THROTTLED: 5}
_REFUND = 1
# AWS may have executed a request without a complete response
_UNANSWERED = frozenset({Retry.TRANSIENT, Retry.TIMEOUT})
# AWS may request a longer pause; we grant at most this much beyond our own
_LONGEST_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class RetryRules:
    # including the first attempt
    attempts: int = 4
    # seconds; the limit of the first pause, which doubles with each attempt
    pause: float = 0.025
    throttled_pause: float = 0.25
    longest_pause: float = 5.0
    # tokens that all calls to one target share: if most calls fail, retries stop instead of doubling the load
    budget: int = 500


class Budget:
    """The retry tokens that a target has left."""

    __slots__ = ("capacity", "tokens")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.tokens = capacity

    def spend(self, cost: int) -> bool:
        if cost > self.tokens:
            return False
        self.tokens -= cost
        return True

    def refund(self, spent: int) -> None:
        """Called after a success: returns the tokens of the call's last retry, or a small refund without one."""
        if self.tokens < self.capacity:
            self.tokens = min(self.capacity, self.tokens + (spent or _REFUND))


class Retries:
    """The retries of one call."""

    __slots__ = ("_attempts", "_budget", "_free", "_jitter", "_rules", "_uncertain", "spent")

    def __init__(self, rules: RetryRules, budget: Budget, jitter: Callable[[], float] = random.random) -> None:
        self._rules = rules
        self._budget = budget
        self._jitter = jitter
        self._attempts = 1
        # tokens that the last retry has taken from the budget
        self.spent = 0
        self._uncertain = False
        self._free: set[object] = set()

    def pause(self, error: AwsError, remaining: float) -> float | None:
        """Returns the seconds to wait before the next attempt; None if there is none and the error is final."""
        error.attempts = self._attempts
        error.uncertain = self._uncertain
        pause = self._next(error, remaining)
        if pause is not None:
            self._attempts += 1
            self._uncertain = self._uncertain or error.retry in _UNANSWERED
        return pause

    def _next(self, error: AwsError, remaining: float) -> float | None:
        # INVARIANT: a retry never begins after the deadline.
        if remaining <= 0:
            return None
        stale = isinstance(error, ConnectionBroken) and error.stale and ConnectionBroken not in self._free
        if stale or (error.retry is Retry.SKEWED and Retry.SKEWED not in self._free):
            # immediate and free of charge, but only once, because it says nothing about the health of AWS
            self._free.add(ConnectionBroken if stale else Retry.SKEWED)
            return 0.0
        cost = _COSTS.get(error.retry)
        if cost is None or self._counted >= self._rules.attempts:
            return None
        pause = self._backoff(error)
        if pause >= remaining or not self._budget.spend(cost):
            return None
        self.spent = cost
        return pause

    @property
    def _counted(self) -> int:
        return self._attempts - len(self._free)

    def _backoff(self, error: AwsError) -> float:
        """Full jitter: a random pause up to an exponentially growing limit."""
        first = self._rules.throttled_pause if error.retry is Retry.THROTTLED else self._rules.pause
        pause = full_jitter(self._counted - 1, first, self._rules.longest_pause, self._jitter)
        return max(pause, min(error.said.wait, pause + _LONGEST_WAIT))
