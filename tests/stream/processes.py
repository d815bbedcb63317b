"""`gateway serve` and `gateway stream` as processes of their own, on a sandbox and a NATS server."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateway.cli.dev import aws_variables
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.settings import environment_with
from tests.graphql_http import post_graphql
from tests.stream.nats import NatsServer

PATIENCE = 300.0
# the same in every process, as in production
_SECRET = "a secret that opens cursors, for tests"


def until(holds: Callable[[], object], what: str = "it", seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what} never came"
        time.sleep(0.05)


class GatewayProcess:
    """`command` is `serve` or `stream`; the process can be killed and started again on the same ports."""

    def __init__(self, command: str, sandbox: Sandbox, bus: NatsServer, log: Path, **changes: Any) -> None:
        self.command, self.log = command, log
        self.port, self.metrics_port = changes.pop("port", None) or free_port(0), free_port(0)
        own: dict[str, Any] = {"stream_role_arn": sandbox.ready.stream_role_arn} if command == "stream" else {}
        values: dict[str, Any] = {
            "port": self.port,
            "metrics_port": self.metrics_port,
            "cursor_secret": _SECRET,
            "stream": "bus",
            "bus_servers": [bus.url],
            "bus_replicas": 1,
            **own,
            **changes,
        }
        self.environment = environment_with(sandbox.settings(**values), aws_variables(sandbox))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", self.command], env=self.environment, stdout=log, stderr=log
            )

    @property
    def ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text(errors="replace")[-3_000:]
        return self.status("/readyz") == 200

    def status(self, path: str) -> int | None:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"http://{HOST}:{self.metrics_port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.split("{")[0].split(" ")[0] == name)

    def post(self, token: str, query: str, **variables: Any) -> dict[str, Any]:
        url = f"http://{HOST}:{self.port}/graphql"
        return post_graphql(url, token, query, seconds=60, variables=variables, extensions={"explain": True})

    def lines(self) -> list[dict[str, Any]]:
        found = [line for line in self.log.read_text(errors="replace").splitlines() if line.startswith("{")]
        return [json.loads(line) for line in found]

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nobody is notified."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def end(self, number: int = signal.SIGTERM) -> int:
        """By a signal; its exit code."""
        assert self.process is not None
        os.kill(self.process.pid, number)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code
