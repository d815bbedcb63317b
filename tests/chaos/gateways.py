"""The gateway processes: started, killed without warning, and started again."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from random import Random

from gateway.cli.dev import aws_variables
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.settings import environment_with
from tests.engines.engine import ROOT

REQUEST_SECONDS = 3.0
_FIRST_PORT = 8300
# the same in every process, as in production
_SECRET = "a secret that opens cursors, for tests"
_START_SECONDS = 90.0


class Gateway:
    """One `gateway serve` on a port of its own."""

    def __init__(self, sandbox: Sandbox, dynamodb: str, port: int, log: Path) -> None:
        settings = sandbox.settings(
            port=port,
            dynamodb_endpoint=dynamodb,
            cursor_secret=_SECRET,
            request_timeout_seconds=REQUEST_SECONDS,
            log_level="WARNING",
        )
        self.url = f"http://{HOST}:{port}/graphql"
        self._port = port
        self._environment = environment_with(settings, aws_variables(sandbox))
        self._log = log
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "gateway", "serve"],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
            )

    async def up(self) -> None:
        end = asyncio.get_running_loop().time() + _START_SECONDS
        while asyncio.get_running_loop().time() < end:
            try:
                _, writer = await asyncio.open_connection(HOST, self._port)
            except OSError:
                if self._process.poll() is not None:
                    break
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return
        raise RuntimeError(f"a gateway did not start: {self._log.read_text(errors='replace')[-2_000:]}")

    async def kill(self) -> None:
        """SIGKILL: nothing is finished, nobody is notified."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._process = self._start()
        await self.up()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def _free_ports() -> Iterator[int]:
    """Below those that the system gives to connections, since one is free again and again while it is restarted."""
    return (port for port in range(_FIRST_PORT, _FIRST_PORT + 500) if free_port(port) == port)


@contextmanager
def gateways(sandbox: Sandbox, dynamodb: str, logs: Path, count: int = 2) -> Iterator[list[Gateway]]:
    with ExitStack() as open_ones:
        made = []
        for port in islice(_free_ports(), count):
            each = Gateway(sandbox, dynamodb, port, logs / f"gateway-{port}.log")
            open_ones.callback(each.stop)
            made.append(each)
        yield made


async def killing(running: list[Gateway], random: Random, seconds: tuple[float, float]) -> int:
    """Kills one after another until it is cancelled; how many it killed."""
    killed = 0
    try:
        while True:
            await asyncio.sleep(random.uniform(*seconds))
            victim = random.choice(running)
            killed += 1
            await victim.kill()
    except asyncio.CancelledError:
        return killed
