"""The sockets that the gateway listens on: taken before anything is started, so that one in use is named."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import ConfigurationError


@contextmanager
def bound(setting: str, host: str, port: int) -> Iterator[list[socket.socket]]:
    """One for each address of the host; `setting` is what is wrong where they cannot be had."""
    opened: list[socket.socket] = []
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            made = socket.socket(family, kind)
            opened.append(made)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind(address)
    except OSError as error:
        _close(opened)
        fault = f"{setting}: cannot listen on {host}:{port}: {error.strerror}"
        raise ConfigurationError([fault]) from error
    try:
        yield opened
    finally:
        _close(opened)


def _close(opened: list[socket.socket]) -> None:
    for each in opened:
        each.close()
