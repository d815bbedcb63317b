"""Programs that a test starts, and that end with it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

_PATIENCE = 120.0
_PAUSE = 0.05


@contextmanager
def running(
    command: Sequence[str], port: int, health: str, folder: Path, environment: Mapping[str, str]
) -> Iterator[Path]:
    """The program, once it answers at `health`; yields the file with what it writes."""
    log = folder / f"{port}.log"
    with log.open("wb") as written:
        made = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=written, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _until_healthy(made, port, health, log)
        yield log
    finally:
        made.send_signal(signal.SIGINT)
        try:
            made.wait(10)
        except subprocess.TimeoutExpired:
            made.kill()
            made.wait()


@contextmanager
def moto(folder: Path) -> Iterator[str]:
    """An empty AWS account; yields its address."""
    port = free_port()
    # one task of a service runs at once, which is all of `dev`: an apply waits for it
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "MOTO_ECS_SERVICE_RUNNING": "1"}
    command = [sys.executable, "-m", "tests.terraform.moto_shim", str(port)]
    with running(command, port, "/moto-api/", folder, environment):
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _until_healthy(made: subprocess.Popen[bytes], port: int, path: str, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and made.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            time.sleep(_PAUSE)
        finally:
            connection.close()
    raise RuntimeError(f"did not start: {log.read_text()}")
