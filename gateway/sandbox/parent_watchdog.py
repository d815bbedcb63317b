"""Runs another module in this process and ends it when the parent ends, which closes our standard input.

`python -m gateway.sandbox.parent_watchdog <module> [argument ...]`
"""

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable

# how long the module has to end on its own
_GRACE_SECONDS = 10.0


def main(arguments: list[str]) -> None:
    threading.Thread(target=watch, args=(sys.stdin.fileno(),), name="parent-watchdog", daemon=True).start()
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def watch(
    pipe: int,
    end: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM),
    grace: float = _GRACE_SECONDS,
    abort: Callable[[int], object] = os._exit,
) -> None:
    """Waits until the other end of the pipe is closed, then ends the process."""
    while os.read(pipe, 1_024):
        pass
    end()
    time.sleep(grace)
    abort(1)


if __name__ == "__main__":
    main(sys.argv[1:])
