"""Processes that write to one pipe do not cut each other's lines, however long these are."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

WRITERS, LINES, LENGTH = 4, 60, 70_000  # more than a pipe holds

_WRITER = f"""
import asyncio, sys
from gateway.graph.http.log_lines import LogBuffer
from gateway.serving.workers.shared_log import SharedLog
buffer = LogBuffer(SharedLog(1))
async def main():
    for number in range({LINES}):
        buffer.add_operation({{"text": sys.argv[1] * ({LENGTH} if number % 2 else 10)}})
        await asyncio.sleep(0)
    buffer.flush()
print("ready", file=sys.stderr, flush=True)
sys.stdin.read()
asyncio.run(main())
"""


def _started(letter: str, log: int) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", _WRITER, letter], stdin=pipe, stdout=log, stderr=pipe)


def test_lines_of_several_processes_are_whole() -> None:
    read, write = os.pipe()
    writers = [_started(letter, write) for letter in "abcdefgh"[:WRITERS]]
    os.close(write)
    try:
        for writer in writers:
            assert writer.stderr is not None
            assert writer.stderr.readline() == b"ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.close()  # and so they begin together
        with os.fdopen(read) as lines:
            found = lines.read().splitlines()
    finally:
        for writer in writers:
            writer.kill()
            with writer:
                pass
    texts = [json.loads(line)["text"] for line in found]
    assert len(texts) == WRITERS * LINES
    assert all(text == text[0] * len(text) and len(text) in (10, LENGTH) for text in texts)
