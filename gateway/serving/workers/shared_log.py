"""A log that several processes write to; every line stays whole, however long it is."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


class SharedLog:
    """A file descriptor that several processes write to, in whole lines.

    A pipe takes up to 4 KiB (PIPE_BUF) atomically; longer writes may be mixed with those of other processes. So each
    process locks the descriptor's file while it writes. The system releases the lock when a process dies.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, content: bytes, /) -> int:
        rest = memoryview(content)
        with _locked(self._descriptor):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        return len(content)

    def flush(self) -> None:
        """Does nothing, because nothing is buffered."""


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
    except OSError:
        # not every system locks pipes; lines up to PIPE_BUF are whole without it
        yield
        return
    try:
        yield
    finally:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)
