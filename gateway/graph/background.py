"""Runs long computations in a thread that takes turns with the event loop, and lets the loop go first.

Two threads that compete for Python's interpreter lock delay every request: where they share a core, the kernel lets
each of them run for milliseconds. Here the thread runs for a slice at a time, while the loop waits for it, and only
when the loop has nothing else to do; if the loop is always busy, the thread still gets a slice now and then. While
operations run, the thread rests after each slice, so that few of their steps meet one.
"""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any, Final, ParamSpec, TypeVar

from gateway.pacer import Pacer

_SLICE: Final = 0.0005  # seconds
_IDLE: Final = 0.0003  # seconds; in a shorter turn, the loop had nothing else to do
_LONGEST_WAIT: Final = 0.003  # seconds between two slices, however busy the loop is
_REST: Final = 4  # times the length of a slice, after it, while operations run
_STOPPED: Final = 1.0  # seconds after which the thread goes on without the loop

_P = ParamSpec("_P")
_T = TypeVar("_T")
_thread: Any = threading.local()


async def in_background(pacer: Pacer, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Runs `work`, which calls `checkpoint` often, in a thread; returns its result."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, _Slices(loop, pacer).run, partial(work, *args, **kwargs))


def checkpoint() -> None:
    """Ends the slice if its time is over; does nothing on the event loop."""
    slices = getattr(_thread, "slices", None)
    if slices is not None and perf_counter() >= slices.end:
        slices.pause()


class _Slices:
    """The turns of one thread and the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pacer: Pacer) -> None:
        self.end = 0.0  # of the current slice
        self._loop = loop
        self._pacer = pacer
        self._granted: SimpleQueue[None] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._running = self._finished = False
        self._turn_began = self._slice_began = self._slice_ended = 0.0

    def run(self, work: Callable[[], _T]) -> _T:
        self._loop.call_soon_threadsafe(self._grant)
        self._wait()
        _thread.slices = self
        try:
            return work()
        finally:
            _thread.slices = None
            self._finished = True
            self._ended.put(None)

    def pause(self) -> None:
        self._ended.put(None)
        self._wait()

    def _wait(self) -> None:
        """INVARIANT: the thread never waits forever, so that a process whose loop was stopped can exit."""
        try:
            self._granted.get(timeout=_STOPPED)
        except Empty:
            self.end = perf_counter() + _SLICE

    def _grant(self) -> None:
        """Runs in every turn of the loop, until the work is finished."""
        now = perf_counter()
        idle, late = now - self._turn_began < _IDLE, now - self._slice_ended > _LONGEST_WAIT
        if not self._running and (idle or late) and not (now < self._pacer.rests_until and self._pacer.active):
            self._running = True
            self._slice_began, self.end = now, now + _SLICE
            self._granted.put(None)
        if self._running:
            self._await_end()
        if not self._finished:
            self._turn_began = perf_counter()
            self._loop.call_soon(self._grant)

    def _await_end(self) -> None:
        try:
            self._ended.get(timeout=2 * _SLICE)
        except Empty:  # it is in a function without checkpoints, which competes with the loop
            return
        self._running = False
        self._slice_ended = now = perf_counter()
        self._pacer.rests_until = now + _REST * (now - self._slice_began)
