"""Processes that write to one pipe do not cut each other's lines, however long these are."""

import os
import subprocess
import sys

WRITERS, LINES, LENGTH = 4, 20, 70_000  # more than a pipe holds

_WRITER = f"""
import logging, sys
from gateway.whole_lines import WholeLines
log = logging.getLogger()
log.addHandler(WholeLines(1))
for number in range({LINES}):
    log.warning(sys.argv[1] * ({LENGTH} if number % 2 else 10))
"""


def test_lines_of_several_processes_are_whole() -> None:
    read, write = os.pipe()
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, letter], stdout=write) for letter in "abcdefgh"[:WRITERS]
    ]
    os.close(write)
    try:
        with os.fdopen(read) as lines:
            found = lines.read().splitlines()
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert len(found) == WRITERS * LINES
    assert all(line == line[0] * len(line) and len(line) in (10, LENGTH) for line in found)
