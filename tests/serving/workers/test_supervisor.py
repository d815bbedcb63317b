"""The parent of the workers, with workers that do nothing but live and die."""

import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.serving.workers.supervisor import Rules, Supervisor

PATIENCE = 60.0
# the first lines of every worker: tells that it lives, reads what it is told, and can answer
_BEGIN = """
import os, signal, socket, sys, time
open(f"{folder}/{os.getpid()}", "w").close()
channel = socket.socket(fileno=int(sys.argv[1]))
task = channel.makefile("rb").readline()
def tell(text):
    channel.sendall(text.encode() + b"\\n")
"""
_SERVE = "tell('{\"serving\": true}')\n"
_STAY = "time.sleep(600)\n"


class Run:
    """A supervisor in a thread: signals are handed to it, since only the main thread gets them."""

    def __init__(self, folder: Path, script: str, rules: Rules, count: int = 2) -> None:
        self._folder = folder
        folder.mkdir()
        command = (sys.executable, "-c", f"folder = {str(folder)!r}\n{_BEGIN}{script}")
        self._sockets = [socket.socket()]
        self.supervisor = Supervisor(count, self._sockets, {"any": "setting"}, rules, command)
        self.code: int | None = None
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.code = self.supervisor.run()
        except Exception as error:
            self.error = error

    @property
    def pids(self) -> list[int]:
        """Of all workers that ever were."""
        return [int(each.name) for each in sorted(self._folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)]

    @property
    def alive(self) -> list[int]:
        return [pid for pid in self.pids if Path(f"/proc/{pid}").exists()]

    @property
    def serving(self) -> int:
        return self.supervisor._serving

    def signal(self, number: int) -> None:
        self.supervisor._events.put(lambda: self.supervisor._signalled(number))

    def end(self) -> int | None:
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        for each in self._sockets:
            each.close()
        return self.code


def _stop() -> None:
    raise InterruptedError


@contextmanager
def running(folder: Path, script: str, rules: Rules | None = None, count: int = 2) -> Iterator[Run]:
    run = Run(folder / "workers", script, rules or Rules(grace_seconds=PATIENCE), count)
    run.thread.start()
    try:
        yield run
    finally:
        run.supervisor._events.put(_stop)
        run.end()
        assert run.alive == []


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_a_first_worker_that_cannot_start_ends_the_whole_with_its_code(tmp_path: Path) -> None:
    with running(tmp_path, "sys.exit(7)") as run:
        assert run.end() == 7
        assert len(run.pids) == 1, "whoever started the gateway decides whether to try again"


def test_a_first_worker_that_ends_in_order_without_serving_is_a_failure(tmp_path: Path) -> None:
    with running(tmp_path, "sys.exit(0)") as run:
        assert run.end() == 1


def test_workers_that_die_soon_after_they_serve_end_the_whole(tmp_path: Path) -> None:
    rules = Rules(PATIENCE, attempts=3, first_pause=0.01)
    with running(tmp_path, _SERVE + "os.kill(os.getpid(), signal.SIGKILL)", rules, count=1) as run:
        assert run.end() == 128 + signal.SIGKILL
        assert len(run.pids) == 3, "as often as the rules say"


def test_the_pause_before_another_start_doubles_up_to_its_limit() -> None:
    rules = Rules(PATIENCE, first_pause=0.5, longest_pause=3.0)
    assert [rules.pause(early) for early in range(1, 6)] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_faults_of_the_first_worker_are_raised_at_once(tmp_path: Path) -> None:
    faults = json.dumps({"faults": ["max_page_size: is wrong"]})
    with running(tmp_path, f"tell({faults!r})\nsys.exit(2)") as run:
        run.end()
        assert isinstance(run.error, ConfigurationError)
        assert run.error.faults == ["max_page_size: is wrong"]
        assert len(run.pids) == 1


def test_a_steady_worker_keeps_the_others_from_giving_up(tmp_path: Path) -> None:
    """Others fail for ever; the one that serves is worth more than a clean end."""
    rules = Rules(PATIENCE, steady_seconds=0.0, attempts=2, first_pause=0.01, longest_pause=0.01)
    script = f"if len(os.listdir(folder)) > 1: sys.exit(9)\n{_SERVE}{_STAY}"
    with running(tmp_path, script, rules) as run:
        until(lambda: len(run.pids) >= 6)
        assert run.thread.is_alive()
        assert run.pids[0] in run.alive


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_each_ending_signal_is_passed_on(tmp_path: Path, number: signal.Signals) -> None:
    script = f"signal.signal({int(number)}, lambda *_: sys.exit(0))\n{_SERVE}{_STAY}"
    with running(tmp_path, script) as run:
        until(lambda: run.serving == 2)
        run.signal(number)
        assert run.end() == 0


def test_a_worker_that_does_not_end_in_time_is_killed(tmp_path: Path) -> None:
    script = f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{_SERVE}{_STAY}"
    with running(tmp_path, script, Rules(grace_seconds=0.2)) as run:
        until(lambda: run.serving == 2)
        run.signal(signal.SIGTERM)
        assert run.end() == 1
        assert run.alive == []


def test_a_signal_while_they_finish_ends_all_at_once(tmp_path: Path) -> None:
    script = f"signal.signal(signal.SIGINT, signal.SIG_IGN)\n{_SERVE}{_STAY}"
    with running(tmp_path, script) as run:
        until(lambda: run.serving == 2)
        for _ in range(2):
            run.signal(signal.SIGINT)
        assert run.end() == 128 + signal.SIGINT


def test_a_worker_that_is_only_starting_is_stopped_by_its_channel(tmp_path: Path) -> None:
    with running(tmp_path, "channel.recv(1)") as run:
        until(lambda: run.pids)
        run.signal(signal.SIGTERM)
        assert run.end() == 0


def test_whoever_stops_does_not_start_another(tmp_path: Path) -> None:
    with running(tmp_path, f"{_SERVE}{_STAY}") as run:
        until(lambda: run.serving == 2)
        run.signal(signal.SIGTERM)  # which they die of
        assert run.end() == 128 + signal.SIGTERM
        assert len(run.pids) == 2
