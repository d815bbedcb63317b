"""Signals that stop a command: the first one lets it finish cleanly, the next one stops it immediately."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

# a shell reports a process that was ended by a signal with an exit code above this
_BY_SIGNAL = 128


@contextmanager
def on_ending_signals(handle: Callable[[int, int], None]) -> Iterator[None]:
    """`handle` gets the number of each Ctrl-C, SIGTERM and SIGHUP, and how many have arrived, including this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def received(number: int, frame: object) -> None:
        nonlocal count
        count += 1
        handle(number, count)

    before = {number: signal.signal(number, received) for number in _handled()}
    try:
        yield
    finally:
        # after a signal the process is about to exit, and a further one must not print a traceback
        if not count:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def ended_by_signals(end: Callable[[], object]) -> Iterator[None]:
    """The first signal calls `end`, the second ends the process."""

    def handle(number: int, count: int) -> None:
        if count > 1:
            end_at_once(number)
        end()

    with on_ending_signals(handle):
        yield


def end_at_once(number: int) -> NoReturn:
    os._exit(_BY_SIGNAL + number)


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def _handled() -> list[signal.Signals]:
    """Includes Ctrl-C even if a shell has disabled it, and excludes SIGHUP under `nohup`."""
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]
