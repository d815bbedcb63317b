"""Runs a program that ends when whoever started this lets go of its standard input, however that one ends.

`python -m tests.parent_watchdog PROGRAM [ARGUMENT ...]`;
the modules of the gateway have `gateway.sandbox.parent_watchdog` for it.
"""

import os
import subprocess
import sys
import threading

_GRACE_SECONDS = 10.0


def main(command: list[str]) -> int:
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as child:
        threading.Thread(target=_watch, args=(child,), daemon=True).start()
        return child.wait()


def _watch(child: subprocess.Popen[bytes]) -> None:
    while os.read(sys.stdin.fileno(), 1_024):
        pass
    child.terminate()
    try:
        child.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
