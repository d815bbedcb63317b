"""One log that several processes write to: each line is whole, however long it is."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager


class WholeLines(logging.Handler):
    """Writes to a file descriptor that other processes write to as well.

    A pipe takes up to 4 KiB (PIPE_BUF) at once; a longer line may be mixed with those of others. So each process locks
    the descriptor's file while it writes. The system frees the lock when a process dies.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = memoryview(f"{self.format(record)}\n".encode(errors="backslashreplace"))
            with _locked(self._descriptor):
                while line:
                    line = line[os.write(self._descriptor, line) :]
        except Exception:
            self.handleError(record)


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
