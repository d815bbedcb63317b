"""The process of `gateway stream`: reads the table's stream with its own role and fills the bus."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import boto3
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.app import State
from gateway.domains import load_domains
from gateway.errors import Unavailable
from gateway.ops.metrics.metrics import Metrics
from gateway.serving.acceptor import bound
from gateway.serving.serve import DrainingServer, configure_logging, metrics_port_is_free, metrics_served, port_is_free
from gateway.setting_checks import Check
from gateway.settings import Settings
from gateway.stream.reader import ReaderCounts
from gateway.wiring.bus import check_client, publisher_of
from gateway.wiring.metrics import stream_metrics
from gateway.wiring.stream import ReaderProcess

if TYPE_CHECKING:
    from gateway.stream.jetstream_publisher import JetStreamPublisher

# settings of a process that serves tenants; this one has no callers and holds none of their secrets
UNNEEDED = ("tenant_role_arn", "issuers", "cursor_secret")
REPORT_SECONDS = 60.0
_BUS_SECONDS = 5.0
_STUCK_SECONDS = 90.0  # without maintaining the leases, which normally happens every three seconds

_log = logging.getLogger("gateway.stream")


def _needs_bus(settings: Settings) -> Iterator[str]:
    if not settings.bus_servers:
        yield "bus_servers: required, because `gateway stream` publishes what it reads there"
    if settings.stream == "inside":
        yield "stream: must not be `inside`, because `gateway stream` reads the table's stream for all processes"


CHECKS: tuple[Check, ...] = (_needs_bus, check_client, port_is_free, metrics_port_is_free)


def serve_stream(settings: Settings) -> None:
    """Runs until it is stopped, and then releases the leases, so that another process can take them over at once."""
    configure_logging(settings.log_level)
    process = StreamProcess(settings)
    config = uvicorn.Config(
        process.app(),
        host=settings.host,
        port=settings.port,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    # there are no requests to finish
    server = DrainingServer(config, process.state, drain_timeout_seconds=0)
    with bound("port", settings.host, settings.port) as sockets, metrics_served(settings, process.metrics.registry):
        server.run(sockets)


@dataclass(slots=True)
class StreamProcess:
    """The reader, its bus, and their health and metrics."""

    settings: Settings
    state: State = field(default_factory=State)
    metrics: Metrics = field(init=False)
    _bus: "JetStreamPublisher" = field(init=False)
    _reader: ReaderProcess = field(init=False)
    _started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        table = load_domains(self.settings.served_domains).model.table
        self._bus = publisher_of(self.settings)
        aws = boto3.Session(region_name=self.settings.region)
        self._reader = ReaderProcess(self.settings, table, aws, self._bus)
        self.metrics = Metrics(frozenset())
        stream_metrics(self.metrics, self._reader)
        connected = "1 while the bus accepts notes."
        self.metrics.gauge("gateway_stream_bus_connected", connected, lambda: self._bus.connected)

    @property
    def healthy(self) -> bool:
        """Whether the leases are being maintained. An outage of AWS is not unhealthy, because a restart would not
        help."""
        return time.monotonic() - max(self._reader.alive, self._started) < _STUCK_SECONDS

    @property
    def ready(self) -> bool:
        """Whether this process has reached the table, its stream and the bus."""
        return not self.state.draining and self._reader.ticked > 0 and self._bus.connected

    def app(self) -> Starlette:
        async def alive(request: Request) -> Response:
            return _status("ok" if self.healthy else "stuck", self.healthy)

        async def ready(request: Request) -> Response:
            starting = "draining" if self.state.draining else "starting"
            return _status("ready" if self.ready else starting, self.ready)

        return Starlette(routes=[Route("/healthz", alive), Route("/readyz", ready)], lifespan=self._running)

    @asynccontextmanager
    async def _running(self, app: Starlette) -> AsyncIterator[None]:
        async with self._reader.running():
            tasks = [asyncio.create_task(self._keep_connected()), asyncio.create_task(self._report())]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        await self._bus.close()

    async def _keep_connected(self) -> None:
        """Keeps the connection even while there is nothing to publish, so that readiness is accurate."""
        while True:
            try:
                await self._bus.connect()
            except Unavailable as error:
                _log.warning("%s", error.message)
            await asyncio.sleep(_BUS_SECONDS)

    async def _report(self) -> None:
        """Writes a log line every minute, which alarms read."""
        before = ReaderCounts()
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            before = report(self._reader, before)


def report(reader: ReaderProcess, before: ReaderCounts) -> ReaderCounts:
    counts = reader.counts.copy()
    fields = {
        "event": "report",
        "shards": reader.shards,
        "lag_seconds": round(reader.lag_seconds, 3),
        "notes": counts.notes - before.notes,
        "dropped": counts.dropped - before.dropped,
        "trimmed": counts.trimmed - before.trimmed,
        "failures": counts.failures - before.failures,
        "leases_taken": counts.leases_taken - before.leases_taken,
        "leases_lost": counts.leases_lost - before.leases_lost,
    }
    _log.info("reading the table's stream", extra={"fields": fields})
    return counts


def _status(text: str, well: bool) -> Response:
    return JSONResponse({"status": text}, status_code=200 if well else 503)
