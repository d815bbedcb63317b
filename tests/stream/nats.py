"""A NATS server of our own, with JetStream, that can be killed and comes back with what it has acknowledged."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from gateway.stream.jetstream import BusAddress
from gateway.stream.jetstream_bus import JetStreamBus

HOST = "127.0.0.1"
_START_SECONDS = 30.0


def program() -> str:
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    if found is None:
        pytest.fail("nats-server is missing: `make install` installs it")
    return found


class NatsServer:
    """`more` is further configuration, such as users and certificates."""

    def __init__(self, directory: Path, more: str = "", scheme: str = "nats", host: str = HOST) -> None:
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port = int(free.getsockname()[1])
        self.url = f"{scheme}://{host}:{self.port}"
        self._config = directory / "nats.conf"
        store = directory / "store"
        shutil.rmtree(store, ignore_errors=True)  # of an earlier run: the sequences of its table are worth nothing here
        self._config.write_text(f'host: {HOST}\nport: {self.port}\njetstream {{ store_dir: "{store}" }}\n{more}\n')
        self._log = directory / "nats.log"
        self._process: subprocess.Popen[bytes] | None = None

    def address(self, stream: str = "changes", user: str | None = None, ca: Path | None = None) -> BusAddress:
        password = None if user is None else f"{user}-password"
        return BusAddress((self.url,), stream, user, password, ca, replicas=1)

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([program(), "-c", str(self._config)], stdout=log, stderr=log)
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                socket.create_connection((HOST, self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
                continue
            return
        raise RuntimeError(f"the NATS server did not start: {self._log.read_text()[-2_000:]}")

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nobody is notified."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def nats_server(directory: Path, more: str = "", scheme: str = "nats", host: str = HOST) -> Iterator[NatsServer]:
    server = NatsServer(directory, more, scheme, host)
    try:
        server.start()
        yield server
    finally:
        server.kill()


async def followed(bus: JetStreamBus, seconds: float = 30) -> None:
    """Until notes arrive; the stream has to be there."""
    with anyio.fail_after(seconds):
        while not bus.connected:  # noqa: ASYNC110  # there is no event to wait for
            await anyio.sleep(0.01)
