"""Several processes behind one port: one dies under load, all drain, none is left behind, and they count as one."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import pytest

from gateway.cli.dev import aws_variables
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import free_port, listen
from gateway.settings import environment_with

pytestmark = pytest.mark.slow

PATIENCE = 120.0
QUERY = json.dumps({"query": 'query Shop { product(productId: "p-1001") { title } }'})
CLIENTS = 6


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


class Served:
    """`gateway serve` with two workers; at the end of the block none of them is left."""

    def __init__(self, sandbox: Sandbox, log: Path, **changes: Any) -> None:
        self.port, self.metrics_port = free_port(0), free_port(0)
        self._log = log
        settings = sandbox.settings(port=self.port, metrics_port=self.metrics_port, **{"workers": 2, **changes})
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", "serve"],
                env=environment_with(settings, aws_variables(sandbox)),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        try:
            until(lambda: len(self.alive) == 2 or self.process.poll() is not None)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def lines(self) -> list[dict[str, Any]]:
        whole = [line for line in self._log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [json.loads(line) for line in whole if line.startswith("{")]

    @property
    def pids(self) -> list[int]:
        """Of all workers that have ever served."""
        lines = self._log.read_text().splitlines(keepends=True)
        return [json.loads(line)["worker"] for line in lines if ' serves"' in line and line.endswith("\n")]

    @property
    def alive(self) -> list[int]:
        return [pid for pid in self.pids if is_alive(pid)]

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def metrics(self) -> str:
        with closing(http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()

    def status(self, path: str) -> int:
        with closing(self.connect()) as connection:
            connection.request("GET", path)
            return connection.getresponse().status

    def count(self, sample: str) -> float:
        found = re.findall(rf"^{re.escape(sample)}(?:{{.*}})? (\S+)$", self.metrics(), re.MULTILINE)
        return sum(map(float, found))

    def end(self) -> int:
        return self.process.wait(PATIENCE)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def owner(served: Served, connection: http.client.HTTPConnection) -> int:
    """The worker that has accepted this connection."""
    ours = f"{connection.sock.getsockname()[1]:04X}"
    rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
    inode = next(row[9] for row in rows if row[2].endswith(f":{ours}") and row[1].endswith(f":{served.port:04X}"))
    for pid in served.alive:
        with suppress(OSError):
            if any(os.readlink(each) == f"socket:[{inode}]" for each in Path(f"/proc/{pid}/fd").iterdir()):
                return pid
    raise AssertionError("nobody has accepted it")


class Client(threading.Thread):
    """Asks again and again over one connection, and over a new one where that has broken.

    The pause keeps the load small: what is tested needs requests under way in each worker, not many of them.
    """

    def __init__(self, served: Served, token: str) -> None:
        super().__init__(daemon=True)
        self.served = served
        self.connection = served.connect()
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.good = 0
        self.failed: list[Exception] = []
        self.until_drained = False
        self.stop = threading.Event()
        self.send()
        self.worker = owner(served, self.connection)

    def send(self) -> bool:
        """Whether the connection is still good."""
        self.connection.request("POST", "/graphql", QUERY, self.headers)
        answer = self.connection.getresponse()
        assert json.loads(answer.read())["data"]["product"]["title"]
        self.good += 1
        return answer.headers.get("connection") != "close"

    def run(self) -> None:
        while not self.stop.wait(0.01):
            try:
                if not self.send() and self.until_drained:
                    return
            except Exception as error:
                self.failed.append(error)
                self.connection.close()


@contextmanager
def clients(served: Served, token: str) -> Iterator[list[Client]]:
    """At least one of each worker; they ask until they are stopped."""
    found: list[Client] = []
    try:
        while len(found) < CLIENTS or len({client.worker for client in found}) < 2:
            assert len(found) < 200, "one worker takes every connection"
            found.append(Client(served, token))
        for client in found:
            client.start()
        yield found
    finally:
        stop(found)
        for client in found:
            client.connection.close()


def stop(found: list[Client]) -> None:
    for client in found:
        client.stop.set()
    for client in found:
        if client.ident is not None:
            client.join(PATIENCE)


def more(found: list[Client]) -> None:
    """Waits until each of them was answered again."""
    before = [client.good for client in found]
    until(lambda: all(client.good > good for client, good in zip(found, before, strict=True)))


def test_a_worker_that_is_killed_under_load_takes_only_its_own_requests_with_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    token = sandbox.token("acme", "viewer")
    with Served(sandbox, tmp_path / "log") as served, clients(served, token) as running:
        more(running)
        counted = served.count("gateway_operations_total")
        assert counted >= len(running)
        victim = running[0].worker
        os.kill(victim, signal.SIGKILL)
        assert served.status("/healthz") == 200
        more(running)
        until(lambda: len(served.pids) == 3 and len(served.alive) == 2)
        more(running)
        stop(running)
        lost = [client for client in running if client.worker == victim]
        assert all(len(client.failed) <= 1 for client in lost)
        assert [client.failed for client in running if client.worker != victim and client.failed] == []
        assert served.count("gateway_operations_total") > counted, "what it had counted is still counted"
        assert served.count("gateway_worker_restarts_total") == 1
        until(lambda: served.count("gateway_workers") == 2)
        until(lambda: served.status("/readyz") == 200)
        assert [line["message"] for line in served.lines if line["level"] == "WARNING" and "worker" in line] == [
            f"worker {victim} ended by signal 9"
        ]
        served.process.send_signal(signal.SIGINT)
        assert served.end() == 0
        assert served.alive == []


def test_all_workers_drain_and_no_request_breaks(sandbox: Sandbox, tmp_path: Path) -> None:
    token = sandbox.token("acme", "viewer")
    with Served(sandbox, tmp_path / "log", drain_timeout_seconds=60) as served, clients(served, token) as running:
        more(running)
        for client in running:
            client.until_drained = True
        served.process.send_signal(signal.SIGTERM)
        for client in running:
            client.join(PATIENCE)
        assert [client.failed for client in running if client.failed or client.is_alive()] == []
        assert (served.status("/healthz"), served.status("/readyz")) == (200, 503), "they still serve"
        served.process.send_signal(signal.SIGHUP)
        assert served.end() == 0
        assert served.alive == []
        answered = [line for line in served.lines if line["logger"] == "gateway.operation"]
        assert len(answered) == sum(client.good for client in running), "one log has every line, whole"


def test_a_second_ctrl_c_ends_all_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    with listen(0) as silent:  # takes connections and never answers
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        changes = {"request_timeout_seconds": 60, "dynamodb_endpoint": endpoint, "readiness_tenant": None}
        with Served(sandbox, tmp_path / "log", **changes) as served, closing(served.connect()) as connection:
            headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}"}
            connection.request("POST", "/graphql", QUERY, {**headers, "Content-Type": "application/json"})
            taken, _ = silent.accept()  # so it is under way
            served.process.send_signal(signal.SIGINT)
            until(lambda: len(served.alive) == 1)
            assert served.process.poll() is None, "the first one lets it finish"
            served.process.send_signal(signal.SIGINT)
            assert served.end() == 128 + signal.SIGINT
            assert served.alive == []
            taken.close()
    assert "Traceback" not in (tmp_path / "log").read_text()


_HUNG = """
import socket, sys, time, threading
from gateway.serving.workers.worker import Channel, _attend
class Hung:
    def finish(self): print("told to finish", flush=True)
threading.Thread(target=_attend, args=(Channel(socket.socket(fileno=int(sys.argv[1]))), Hung(), None, 0.1)).start()
time.sleep(600)
"""


def test_not_even_a_worker_that_hangs_outlives_its_parent() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-c", _HUNG, str(theirs.fileno())]
        hung = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, text=True)
    ours.close()
    try:
        said, _ = hung.communicate(timeout=PATIENCE)
    finally:
        hung.kill()
    assert said == "told to finish\n"
    assert hung.returncode == 1


def test_metrics_are_the_sum_over_workers_and_no_worker_outlives_its_parent(sandbox: Sandbox, tmp_path: Path) -> None:
    token = sandbox.token("acme", "viewer")
    with Served(sandbox, tmp_path / "log", drain_timeout_seconds=0) as served, clients(served, token) as running:
        stop(running)
        total = sum(client.good for client in running)
        until(lambda: served.count("gateway_operations_total") == total)
        assert 'operation="Shop",outcome="OK"}' in served.metrics()
        assert served.count("gateway_sessions") >= 2, "each worker has sessions of its own"
        # one that is told to stop reports what it has counted last, and is replaced
        os.kill(served.alive[0], signal.SIGTERM)
        until(lambda: len(served.pids) == 3 and len(served.alive) == 2)
        assert served.process.poll() is None
        assert served.count("gateway_operations_total") == total
        assert 'document="' in served.metrics()
        assert served.status("/metrics") == 404, "a worker would tell of itself alone"
        served.process.kill()
        served.process.wait(PATIENCE)
        until(lambda: not served.alive)


def test_a_worker_that_cannot_start_ends_the_whole_and_says_why_once(sandbox: Sandbox, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"wrong": "{ nothing }"}')
    with Served(sandbox, tmp_path / "log", trusted_documents=manifest) as served:
        assert served.end() == 2
    said = (tmp_path / "log").read_text()
    assert said.count("the gateway cannot start") == 1
    assert said.count("trusted_documents: `wrong`") == 1
    assert "Traceback" not in said
