"""One log that several processes write to: each line is whole, however long it is."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


class SharedLog:
    """A file descriptor that other processes write to as well; what is written at once is whole lines.

    A pipe takes up to 4 KiB (PIPE_BUF) at once; what is longer may be mixed with what others write. So each process
    locks the descriptor's file while it writes. The system frees the lock when a process dies.
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
        """Nothing is held back."""


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
