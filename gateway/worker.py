"""A worker process: its parent (gateway/workers.py) sends it settings and listening sockets, and it serves.

The parent sends `settings` and `sockets`, and later an empty message whenever it wants metrics. The worker answers with
a `report`, and says when it is `serving`, or which `faults` keep it from that. When the channel closes, the parent is
gone or wants no more, and the worker finishes what is under way and ends.
"""

import os
import socket
import sys
import threading
import time

from gateway.channel import Channel
from gateway.errors import ConfigurationError
from gateway.ops.merged_metrics import report
from gateway.ops.metrics import Metrics
from gateway.serve import DrainingServer, configure_logging, finishing_seconds, server_of
from gateway.settings import Settings
from gateway.whole_lines import WholeLines

CANNOT_START = 2
# as uvicorn's own
_NOT_STARTED = 3
_MARGIN_SECONDS = 3.0


def main(descriptor: int) -> None:
    channel = Channel(socket.socket(fileno=descriptor))
    task = channel.receive()
    if task is None:
        return
    settings = Settings(**task["settings"])
    sockets = [socket.socket(fileno=number) for number in task["sockets"]]
    configure_logging(settings.log_level, WholeLines(sys.stdout.fileno()))
    try:
        server, metrics = server_of(settings)
    except ConfigurationError as error:
        # the parent tells them, once
        channel.send({"faults": error.faults})
        sys.exit(CANNOT_START)
    server.on_started = lambda: channel.send({"serving": True})
    grace = finishing_seconds(settings) + _MARGIN_SECONDS
    threading.Thread(target=_attend, args=(channel, server, metrics, grace), name="parent", daemon=True).start()
    server.run(sockets)
    _tell(channel, metrics)
    if not server.started:
        sys.exit(_NOT_STARTED)


def _attend(channel: Channel, server: DrainingServer, metrics: Metrics | None, grace: float) -> None:
    while channel.receive() is not None:
        _tell(channel, metrics)
    server.finish()
    time.sleep(grace)
    os._exit(1)


def _tell(channel: Channel, metrics: Metrics | None) -> None:
    if metrics is not None:
        channel.send({"report": report(metrics)})
