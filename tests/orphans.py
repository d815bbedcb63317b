"""Ends whatever tests have started when pytest ends, however it ends: `with orphans_ended():`.

Every process that a test starts inherits a mark in its environment. A process beside pytest waits until pytest is gone,
and ends all that have the mark. Linux alone tells the environment of a process; elsewhere nothing is done.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "STARTED_BY_TESTS"
_GRACE_SECONDS = 10.0


@contextmanager
def orphans_ended() -> Iterator[int]:
    """Gives the process that waits."""
    mark = secrets.token_hex(8)
    with subprocess.Popen([sys.executable, "-ISB", __file__, mark], stdin=subprocess.PIPE) as waiting:
        os.environ[MARK] = mark
        try:
            yield waiting.pid
        finally:
            del os.environ[MARK]


def marked(mark: str) -> list[int]:
    variable, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def main(mark: str) -> None:
    while os.read(sys.stdin.fileno(), 1_024):
        pass
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in marked(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        end = time.monotonic() + _GRACE_SECONDS
        while marked(mark) and time.monotonic() < end:
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1])
