"""Listening sockets: bound before the start, and accepted from in batches.

uvloop accepts one connection per iteration, so a busy gateway would look dead to health checks.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gateway.errors import ConfigurationError

# connections per iteration, so that open connections are served in between
AT_ONCE = 100
# fewer if other processes accept from the same sockets, so that none takes them all
AT_ONCE_SHARED = 4
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_REST_SECONDS = 1.0
_BACKLOG = 2_048  # uvicorn's default


@contextmanager
def bound(setting: str, host: str, port: int) -> Iterator[list[socket.socket]]:
    """One socket for each address of the host; an error names `setting`."""
    opened: list[socket.socket] = []
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            listener = socket.socket(family, kind)
            opened.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            # two processes can bind one port, but only one can listen on it; the other fails here
            listener.listen(_BACKLOG)
    except OSError as error:
        _close(opened)
        fault = f"{setting}: cannot listen on {host}:{port}: {error.strerror}"
        raise ConfigurationError([fault]) from error
    try:
        yield opened
    finally:
        _close(opened)


def _close(opened: list[socket.socket]) -> None:
    for listener in opened:
        listener.close()


class Acceptor:
    """Accepts connections from the same sockets that the server listens on."""

    def __init__(
        self, listening: Iterable[socket.socket], protocol: Callable[[], asyncio.Protocol], at_once: int = AT_ONCE
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._at_once = at_once
        self._protocol = protocol
        self._opening: set[asyncio.Task[object]] = set()
        # our own descriptors, because the server's transports watch theirs
        self._doors = [socket.socket(fileno=os.dup(listener.fileno())) for listener in listening]
        for door in self._doors:
            door.setblocking(False)
            self._watch(door)

    def close(self) -> None:
        for door in self._doors:
            self._loop.remove_reader(door.fileno())
            door.close()

    def _watch(self, door: socket.socket) -> None:
        if door.fileno() >= 0:
            self._loop.add_reader(door.fileno(), self._accept, door)

    def _rest(self, door: socket.socket) -> None:
        """File descriptors or memory are exhausted: pauses, so that open connections are still served."""
        self._loop.remove_reader(door.fileno())
        self._loop.call_later(_REST_SECONDS, self._watch, door)

    def _accept(self, door: socket.socket) -> None:
        for _ in range(self._at_once):
            try:
                taken, _address = door.accept()
            except OSError as error:
                # usually no connection is waiting
                if error.errno in _EXHAUSTED:
                    self._rest(door)
                return
            taken.setblocking(False)
            opening = self._loop.create_task(self._open(taken))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    async def _open(self, taken: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, taken)
        except OSError:
            taken.close()
