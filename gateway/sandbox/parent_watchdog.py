"""Runs another module in this process, and ends with the parent: whoever started it holds its standard input.

`python -m gateway.sandbox.parent_watchdog <module> [argument ...]`
"""

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable

# how long the module has to end by itself
_GRACE_SECONDS = 10.0


def main(arguments: list[str]) -> None:
    threading.Thread(target=watch, args=(sys.stdin.fileno(),), name="leash", daemon=True).start()
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def watch(
    held: int,
    end: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM),
    grace: float = _GRACE_SECONDS,
    abort: Callable[[int], object] = os._exit,
) -> None:
    """Returns never, or ends the process when nobody holds the other end of the pipe any more."""
    while os.read(held, 1_024):
        pass
    end()
    time.sleep(grace)
    abort(1)


if __name__ == "__main__":
    main(sys.argv[1:])
