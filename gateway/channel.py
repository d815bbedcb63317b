"""What the supervising parent and a worker tell each other: JSON lines over a socket that both hold."""

import socket
import threading
from contextlib import suppress
from typing import Any

import orjson


class Channel:
    """One end of it."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._lines = ours.makefile("rb")
        self._sending = threading.Lock()

    def receive(self) -> dict[str, Any] | None:
        """The next message; an empty line is an empty one; None when the other side is gone."""
        try:
            line = self._lines.readline()
        except OSError:
            return None
        # what a process was killed in the middle of is no message
        if not line.endswith(b"\n"):
            return None
        message: dict[str, Any] = orjson.loads(line) if line.strip() else {}
        return message

    def send(self, message: dict[str, Any]) -> None:
        # whoever does not listen any more is gone, which `receive` tells
        with self._sending, suppress(OSError):
            self._socket.sendall(orjson.dumps(message) + b"\n")

    def poke(self) -> None:
        """Sends an empty line, unless the other side has not read the ones before."""
        with suppress(OSError):
            self._socket.send(b"\n", socket.MSG_DONTWAIT)

    def hang_up(self) -> None:
        """Sends no more, which tells a worker to finish; what it still says is received."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
