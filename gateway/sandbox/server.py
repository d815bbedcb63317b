"""Serves an application on a port of the loopback interface until it is stopped."""

import asyncio
import errno
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

HOST = "127.0.0.1"


def listen(port: int, host: str = HOST) -> socket.socket:
    """A socket on this port, or on any free port if this one is in use."""
    try:
        return _bound(host, port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return _bound(host, 0)


def free_port(port: int, host: str = HOST) -> int:
    """This port if it is free, else another one."""
    with listen(port, host) as listening:
        return int(listening.getsockname()[1])


def address_of(listening: socket.socket) -> str:
    return f"http://{HOST}:{listening.getsockname()[1]}"


class Server(uvicorn.Server):
    """Installs no signal handlers; set `should_exit = True` to stop it."""

    def __init__(self, app: ASGIApp, started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=2,
                ws="none",
            )
        )
        self._on_start = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()


@contextmanager
def served_in_thread(app: ASGIApp, listening: socket.socket) -> Iterator[None]:
    """Runs an application in a thread of this process, for tests."""
    up = threading.Event()
    server = Server(app, up.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True)
    thread.start()
    up.wait()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches off Nagle's algorithm only for a socket that names TCP; with it each response takes 40 ms more
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        # so that the port is taken before the server starts
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening
