import http.client
import socket

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gateway.sandbox.server import free_port, listen, served_in_thread


def test_a_free_port_is_taken_as_wished() -> None:
    port = free_port(0)
    with listen(port) as found:
        assert found.getsockname() == ("127.0.0.1", port)


def test_a_taken_port_gives_way_to_a_free_one() -> None:
    with listen(0) as first:
        taken = first.getsockname()[1]
        with listen(taken) as second:
            assert second.getsockname()[1] != taken
        assert free_port(taken) != taken


def test_an_address_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(OSError, match=r"[Aa]ssign|address"):
        listen(0, "192.0.2.1")


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_addresses_are_understood() -> None:
    try:
        with listen(0, "::1") as found:
            assert found.family == socket.AF_INET6
    except OSError as error:
        pytest.skip(f"no IPv6 loopback here: {error}")


def test_an_application_is_served_until_the_block_ends() -> None:
    async def hello(request: Request) -> Response:
        return PlainTextResponse("hello")

    with listen(0) as listening:
        host, port = listening.getsockname()
        with served_in_thread(Starlette(routes=[Route("/", hello)]), listening):
            connection = http.client.HTTPConnection(host, port, timeout=60)
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b"hello")
            assert answer.headers["date"]
            assert answer.headers["server"] is None
            connection.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, port), timeout=60)


def test_answers_are_not_held_back() -> None:
    """asyncio sets TCP_NODELAY only where the socket says that it is TCP; without it a call takes 40 ms more."""
    with listen(0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
