"""Pauses between attempts: exponential growth up to a cap, with or without jitter."""

import random
from collections.abc import Callable

_MOST_DOUBLINGS = 32  # beyond every cap; keeps the power of two within a float


def exponential(attempt: int, first: float, cap: float) -> float:
    """The pause after the given attempt, counted from 0: `first` seconds, doubled each time, at most `cap`."""
    return min(cap, first * 2.0 ** min(attempt, _MOST_DOUBLINGS))


def full_jitter(attempt: int, first: float, cap: float, jitter: Callable[[], float] = random.random) -> float:
    """A random part of the exponential pause, so that callers who failed together do not return together."""
    return jitter() * exponential(attempt, first, cap)
