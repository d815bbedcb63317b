"""pytest is killed in the middle of a test; what the test has started ends."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.orphans import MARK, marked

PATIENCE = 120.0
TEST = """
import subprocess, sys, time
from tests.orphans import orphans_ended

with orphans_ended():
    # neither it nor its own child would notice that pytest is gone
    child = "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    child += "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
    time.sleep(600)
"""


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux tells the environment of a process")
def test_what_a_killed_pytest_has_started_ends() -> None:
    killed = subprocess.Popen([sys.executable, "-c", TEST], cwd=Path(__file__).parents[1])
    children = Path(f"/proc/{killed.pid}/task/{killed.pid}/children")
    mark = ""

    def started() -> bool:
        nonlocal mark
        for pid in children.read_text().split():
            found = re.findall(rf"\0{MARK}=(\w+)", f"\0{Path(f'/proc/{pid}/environ').read_text()}")
            # the process that waits has the mark of this pytest
            mark = next((each for each in found if each != os.environ[MARK]), mark)
        return bool(mark) and len(marked(mark)) == 2

    try:
        until(started)
        killed.send_signal(signal.SIGKILL)
        until(lambda: not marked(mark))
    finally:
        killed.kill()
        killed.wait()
