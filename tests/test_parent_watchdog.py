import os
import signal
import subprocess
import sys

STARTER = """
import subprocess, sys, time
program = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
subprocess.Popen([sys.executable, "-m", "tests.parent_watchdog", *program], stdin=subprocess.PIPE)
time.sleep(600)
"""


def test_a_program_ends_with_whoever_started_it_even_when_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, start_new_session=True) as starter:
        try:
            assert starter.stdout is not None
            assert starter.stdout.readline() == b"up\n"
            starter.send_signal(signal.SIGKILL)
            # the program has the same standard output: its end comes when it is gone
            assert starter.stdout.read() == b""
        finally:
            starter.kill()


def test_the_exit_code_is_that_of_the_program() -> None:
    command = [sys.executable, "-m", "tests.parent_watchdog", sys.executable, "-c", "raise SystemExit(3)"]
    held, other = os.pipe()
    assert subprocess.run(command, stdin=held, check=False).returncode == 3
    os.close(held)
    os.close(other)
