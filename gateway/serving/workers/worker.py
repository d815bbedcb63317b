"""A worker process, and the channel to its supervisor.

The supervisor sends `settings` and `sockets`, and later an empty message whenever it wants metrics. The worker
answers with a `report`, and says when it is `serving`, or which `faults` prevent it. When the channel closes, the
supervisor has stopped or wants the worker to stop, and the worker finishes running requests and exits.
"""

import logging
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import orjson

from gateway.errors import ConfigurationError
from gateway.ops.metrics.merged import report
from gateway.ops.metrics.metrics import Metrics
from gateway.serving.serve import DrainingServer, build_server, configure_logging, finish_seconds
from gateway.serving.workers.shared_log import SharedLog
from gateway.settings import Settings

_log = logging.getLogger("gateway.serving.workers")

# the exit code of `gateway serve` itself for a wrong setting
_CANNOT_START = 2
# uvicorn's own exit code
_NOT_STARTED = 3
_MARGIN_SECONDS = 3.0


class Channel:
    """One end of a socket over which supervisor and worker send each other JSON lines."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._lines = ours.makefile("rb")
        self._sending = threading.Lock()

    def receive(self) -> dict[str, Any] | None:
        """The next message; an empty line is an empty message; None if the other side is gone."""
        try:
            line = self._lines.readline()
        except OSError:
            return None
        # an incomplete line of a killed process is not a message
        if not line.endswith(b"\n"):
            return None
        message: dict[str, Any] = orjson.loads(line) if line.strip() else {}
        return message

    def send(self, message: dict[str, Any]) -> None:
        # the other side is gone, which `receive` reports
        with self._sending, suppress(OSError):
            self._socket.sendall(orjson.dumps(message) + b"\n")

    def poke(self) -> None:
        """Sends an empty message, unless the other side has not read the previous ones."""
        with suppress(OSError):
            self._socket.send(b"\n", socket.MSG_DONTWAIT)

    def hang_up(self) -> None:
        """Sends no more, which makes a worker finish; its remaining messages are still received."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def main(descriptor: int) -> None:
    channel = Channel(socket.socket(fileno=descriptor))
    task = channel.receive()
    if task is None:
        return
    settings = Settings(**task["settings"])
    sockets = [socket.socket(fileno=number) for number in task["sockets"]]
    try:
        server, metrics = build_server(settings, configure_logging(settings.log_level, SharedLog(sys.stdout.fileno())))
    except ConfigurationError as error:
        # the supervisor reports them, once
        channel.send({"faults": error.faults})
        sys.exit(_CANNOT_START)
    server.on_started = lambda: channel.send({"serving": True})
    grace = finish_seconds(settings) + _MARGIN_SECONDS
    threading.Thread(target=_attend, args=(channel, server, metrics, grace), name="supervisor", daemon=True).start()
    server.run(sockets)
    _report(channel, metrics)
    if not server.started:
        sys.exit(_NOT_STARTED)


def _attend(channel: Channel, server: DrainingServer, metrics: Metrics | None, grace: float) -> None:
    """Answers the supervisor. INVARIANT: no worker outlives it, not even one whose event loop hangs."""
    while channel.receive() is not None:
        _report(channel, metrics)
    server.finish()
    time.sleep(grace)
    os._exit(1)


def _report(channel: Channel, metrics: Metrics | None) -> None:
    if metrics is None:
        return
    try:
        channel.send({"report": report(metrics)})
    except Exception:
        _log.exception("metrics cannot be read")
