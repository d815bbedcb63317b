"""The serving process: JSON log lines, and a stop that first drains and then finishes running requests."""

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry, start_http_server

from gateway import __version__
from gateway.app import State, create_app
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.graph.http.log_lines import OPERATIONS, BufferedHandler, LogBuffer, Stream, WriteOperation
from gateway.graph.http.manifest import manifest_texts
from gateway.graph.schema.schema import core_schema
from gateway.model.model import Model
from gateway.ops.metrics.metrics import Metrics
from gateway.ops.policies.files import load_policies
from gateway.serving.acceptor import AT_ONCE, AT_ONCE_SHARED, Acceptor, bound
from gateway.serving.hardened_http import HardenedHttp
from gateway.serving.signals import end_at_once, on_ending_signals
from gateway.setting_checks import Check
from gateway.settings import Settings
from gateway.wiring.operations import cost_limits, documents_of, persisted
from gateway.wiring.tenants import check_files, check_roles, issuers, tenants, warm_up

_LOG = logging.getLogger("gateway.serve")


def serve(settings: Settings) -> None:
    """Serves in this process alone, until it is stopped."""
    server, metrics = build_server(settings, configure_logging(settings.log_level))
    registry = metrics.registry if metrics is not None else None
    with bound("port", settings.host, settings.port) as sockets, metrics_served(settings, registry):
        fields = {"version": __version__, "host": settings.host, "port": sockets[0].getsockname()[1]}
        server.on_started = lambda: _LOG.info("serving", extra={"fields": fields})
        server.run(sockets)


def build_server(settings: Settings, write: WriteOperation) -> "tuple[DrainingServer, Metrics | None]":
    """A server that is ready to run, and its metrics."""
    state = State()
    app = create_app(settings, state=state, write=write)
    http: Any = partial(HardenedHttp, lambda: state.draining)
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing reads the client's address or scheme
        date_header=True,
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=finish_seconds(settings),
    )
    server = DrainingServer(config, state, settings.drain_timeout_seconds)
    server.accept_at_once = AT_ONCE if settings.workers == 1 else AT_ONCE_SHARED
    return server, app.metrics


def finish_seconds(settings: Settings) -> int:
    """How long running requests may take after the last one was accepted: as long as any operation may."""
    return int(settings.request_timeout_seconds) + 1


def port_is_free(settings: Settings) -> None:
    with bound("port", settings.host, settings.port):
        pass


def metrics_port_is_free(settings: Settings) -> None:
    if settings.metrics_port is not None:
        with bound("metrics_port", settings.metrics_host, settings.metrics_port):
            pass


def _policies(settings: Settings, model: Model) -> None:
    load_policies(settings.reviewed_policies, model)


def _issuers(settings: Settings, model: Model) -> None:
    issuers(settings, model.roles)


def _manifest(settings: Settings) -> None:
    """Whether it can be read; to compare its documents with the schema takes settings that may be wrong."""
    if settings.trusted_documents is not None:
        manifest_texts(settings.trusted_documents)


def _trusted_documents(settings: Settings, model: Model) -> None:
    if settings.trusted_documents is not None:
        schema = core_schema(load_domains(settings.served_domains).schema)
        persisted(settings, documents_of(settings, model, schema))


def _with_model(check: Callable[[Settings, Model], object]) -> Check:
    return lambda settings: check(settings, load_domains(settings.served_domains).model)


# faults beyond the settings themselves, so that all are reported together
START_CHECKS: tuple[Check, ...] = (
    *(port_is_free, metrics_port_is_free, tenants, _manifest),
    *map(_with_model, (_policies, _issuers, check_roles, check_files, cost_limits, warm_up, _trusted_documents)),
)


@contextmanager
def metrics_served(settings: Settings, registry: CollectorRegistry | None) -> Iterator[None]:
    """Serves metrics on their own port, in a thread, so that they can be read however busy the gateway is."""
    if registry is None or settings.metrics_port is None:
        yield
        return
    try:
        server, thread = start_http_server(settings.metrics_port, settings.metrics_host, registry)
    except OSError as error:
        where = f"{settings.metrics_host}:{settings.metrics_port}"
        raise ConfigurationError([f"metrics_port: cannot listen on {where}: {error.strerror}"]) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class DrainingServer(uvicorn.Server):
    """On SIGTERM or SIGHUP, `/readyz` returns 503 while requests are still served, so that a load balancer stops
    sending them. After the drain time, on the next signal, or on Ctrl-C, no more requests are accepted and running
    ones are finished. A further signal cuts them off."""

    def __init__(self, config: uvicorn.Config, state: State, drain_timeout_seconds: float) -> None:
        super().__init__(config)
        self._state = state
        self._drain_seconds = drain_timeout_seconds
        self._stop_at: float | None = None
        self._acceptor: Acceptor | None = None
        self.accept_at_once = AT_ONCE
        self.on_started: Callable[[], None] = lambda: None

    def finish(self) -> None:
        """Accepts no more requests and finishes running ones; may be called from another thread."""
        self._state.draining = self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # asyncio's own loops accept all waiting connections
        if self.started and not isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop):
            listening = [listener for server in self.servers for listener in server.sockets]
            self._acceptor = Acceptor(listening, self._connection, self.accept_at_once)
        if self.started:
            self.on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        try:
            await super().shutdown(sockets)
        finally:
            # uvicorn raises the signal again, after which none of our code runs
            for handler in logging.root.handlers:
                handler.flush()

    def _connection(self) -> asyncio.Protocol:
        protocol_class: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = protocol_class(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with on_ending_signals(self._signalled):
            yield

    def _signalled(self, number: int, count: int) -> None:
        again, self._state.draining = self._state.draining, True
        if self.should_exit:
            end_at_once(number)
        # Ctrl-C means that a person is waiting; only a supervisor's signal drains
        if again or number == signal.SIGINT:
            self.should_exit = True
        else:
            self._stop_at = time.monotonic() + self._drain_seconds

    async def on_tick(self, counter: int) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            self.should_exit = True
        return await super().on_tick(counter)


def configure_logging(level: str, stream: Stream | None = None) -> WriteOperation:
    """Sends all loggers through one buffer to `stream` or standard output; returns a faster function for the log
    lines of operations."""
    buffer = LogBuffer(stream or sys.stdout.buffer)
    logging.basicConfig(level=level, handlers=[BufferedHandler(buffer)], force=True)
    for library in ("uvicorn", "botocore"):
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    return buffer.add_operation if OPERATIONS.isEnabledFor(logging.INFO) else lambda fields: None
