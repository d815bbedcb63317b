"""WebSockets on real connections: the `websockets` client against our server."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from gateway.serving.hardened_http import HardenedHttp, HttpLimits

ECHO = Subprotocol("echo")
HANDSHAKE = (
    b"GET %b HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
PING = b"\x89\x82\0\0\0\0hi"


class App:
    """Echoes, and does what a message tells it to."""

    def __init__(self) -> None:
        self.ended: list[dict[str, Any]] = []
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})
            return
        assert (await receive())["type"] == "websocket.connect"
        if scope["path"] == "/refused":
            await send({"type": "websocket.close", "code": 1000})
            return
        await send({"type": "websocket.accept", "subprotocol": (scope["subprotocols"] or [None])[0]})
        while (message := await receive())["type"] == "websocket.receive":
            text = message.get("text")
            if text == "close":
                await send({"type": "websocket.close", "code": 4403, "reason": "so it is"})
            elif text == "fail":
                raise ValueError(text)
            elif text == "flood":
                for _ in range(500):
                    await send({"type": "websocket.send", "text": "a" * 100_000})
            elif text is not None:
                await send({"type": "websocket.send", "text": text})
            else:
                await send({"type": "websocket.send", "bytes": message["bytes"]})
        self.ended.append(dict(message))


class Served:
    def __init__(self, app: App, state: ServerState, port: int) -> None:
        self.app = app
        self.state = state
        self.port = port

    def connect(self, path: str = "/graphql", **options: Any) -> Any:
        options = {"subprotocols": [ECHO], "compression": "deflate", **options}
        return connect(f"ws://127.0.0.1:{self.port}{path}", **options)

    async def ends(self) -> dict[str, Any]:
        async with asyncio.timeout(20):
            while not self.app.ended or self.state.connections:  # noqa: ASYNC110  uvicorn has no event for it
                await asyncio.sleep(0.01)
        return self.app.ended[-1]


@pytest.fixture(params=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    options = {"loop_factory": uvloop.new_event_loop} if request.param == "uvloop" else {}
    return "asyncio", options


@asynccontextmanager
async def serving(**bounds: Any) -> AsyncIterator[Served]:
    app, state = App(), ServerState()
    config = uvicorn.Config(app, lifespan="off", log_config=None)

    def protocol() -> HardenedHttp:
        return HardenedHttp(lambda: False, config, state, {}, bounds=HttpLimits(**bounds))

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    try:
        yield Served(app, state, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for connection in [*state.connections]:
            connection.shutdown()
        if state.tasks:
            await asyncio.wait(state.tasks)


async def _echoed(client: ClientConnection, message: str | bytes) -> Any:
    await client.send(message)
    return await client.recv()


async def test_messages_come_and_go_and_nothing_is_compressed() -> None:
    async with serving() as served, served.connect() as client:
        assert (client.subprotocol, client.protocol.extensions) == (ECHO, [])
        assert await _echoed(client, "hä") == "hä"
        assert await _echoed(client, b"\0\1") == b"\0\1"
        await client.send(["in ", "three ", "parts"])
        assert await client.recv() == "in three parts"
        await (await client.ping())
        scope = served.app.scopes[0]
        assert (scope["type"], scope["scheme"], scope["path"]) == ("websocket", "ws", "/graphql")


async def test_a_client_that_closes_is_noticed() -> None:
    async with serving() as served:
        async with served.connect() as client:
            await client.close(3001, "done")
        assert (await served.ends())["code"] == 3001


async def test_a_client_that_vanishes_is_noticed() -> None:
    async with serving() as served, served.connect() as client:
        client.transport.abort()
        assert (await served.ends())["code"] == 1006


async def test_the_app_closes_with_code_and_reason() -> None:
    async with serving() as served, served.connect() as client:
        await client.send("close")
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert caught.value.rcvd is not None
        assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (4403, "so it is")


async def test_an_app_that_fails_is_closed_as_such(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as served, served.connect() as client:
        await client.send("fail")
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1011
        assert "Exception in ASGI application" in caplog.text


async def test_a_path_without_a_websocket_is_forbidden() -> None:
    async with serving() as served:
        with pytest.raises(InvalidStatus) as caught:
            async with served.connect("/refused"):
                pass
        assert caught.value.response.status_code == 403


async def test_a_message_that_is_too_long_is_not_taken() -> None:
    async with serving(message_bytes=1_000) as served, served.connect() as client:
        await client.send("a" * 1_001)
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009


async def _raw(served: Served, receive: int | None = None) -> asyncio.StreamWriter:
    """A client that reads nothing but the first line; the system keeps about `receive` bytes for it."""
    line = socket.socket()
    if receive is not None:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    line.connect(("127.0.0.1", served.port))
    reader, writer = await asyncio.open_connection(sock=line, limit=1_000)
    writer.write(HANDSHAKE % b"/")
    assert b"101" in await reader.readline()
    return writer


async def test_a_client_that_takes_no_pongs_is_not_read_from() -> None:
    """Or the answers to its pings would fill the memory."""
    async with serving() as served:
        writer = await _raw(served)
        pings = b"\x89\xfd\0\0\0\0" + b"a" * 125
        connection: Any = next(iter(served.state.connections))
        # far more than the system holds between the two
        writer.write(pings * 400_000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.drain(), 2)
        assert connection._transport.get_write_buffer_size() < 1_000_000
        writer.transport.abort()
        await served.ends()


async def test_frames_without_content_take_no_room() -> None:
    async with serving() as served:
        writer = await _raw(served)
        connection: Any = next(iter(served.state.connections))
        answered = connection._written
        # a message that begins, and then 100,000 empty parts of it
        writer.write(b"\x01\x82\0\0\0\0hi" + b"\x00\x80\0\0\0\0" * 100_000 + b"\x89\x80\0\0\0\0")
        await writer.drain()
        async with asyncio.timeout(20):
            while connection._written == answered:  # noqa: ASYNC110  until the ping behind them is answered
                await asyncio.sleep(0.01)
        assert sys.getsizeof(connection._content) < 1_000
        writer.write(b"\x80\x80\0\0\0\0\x88\x80\0\0\0\0")
        await served.ends()
        writer.close()


@pytest.mark.parametrize(("path", "status"), [(b"/", b"101"), (b"/refused", b"403")])
async def test_nothing_is_answered_before_the_handshake(path: bytes, status: bytes) -> None:
    async with serving() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(HANDSHAKE % path + PING)
        async with asyncio.timeout(20):
            assert (await reader.readline()).startswith(b"HTTP/1.1 " + status)
        writer.close()


async def test_what_comes_with_the_handshake_is_read_after_it() -> None:
    async with serving() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        text = b"a" * 20_000
        writer.write(HANDSHAKE % b"/" + b"\x81\xfe" + len(text).to_bytes(2, "big") + b"\0\0\0\0" + text + PING)
        async with asyncio.timeout(20):
            await reader.readuntil(b"\r\n\r\n")
            frames = await reader.readexactly(4 + len(text) + 4)
        assert sorted((frames.find(text) >= 0, frames.find(b"\x8a\x02hi") >= 0)) == [True, True]
        writer.close()


@pytest.mark.parametrize("last", [b"\x88\x80\0\0\0\0", b"\xf9\x80\0\0\0\0"], ids=["close", "invalid"])
async def test_a_client_that_closes_and_reads_nothing_is_cut_off(last: bytes) -> None:
    async with serving(stalled_seconds=0.1) as served:
        writer = await _raw(served, receive=4_096)
        connection: Any = next(iter(served.state.connections))
        async with asyncio.timeout(60):
            # what the system does not take is left to the server, too little of it to pause it
            while not connection._transport.get_write_buffer_size():
                writer.write((b"\x89\xfd\0\0\0\0" + b"a" * 125) * 20)
                await asyncio.sleep(0.001)
        writer.write(last)
        await served.ends()
        writer.close()


async def test_a_client_that_takes_nothing_is_cut_off() -> None:
    async with serving(stalled_seconds=0.1) as served:
        writer = await _raw(served)
        writer.write(b"\x81\x85\0\0\0\0flood")
        assert (await served.ends())["code"] == 1006
        writer.close()


async def test_a_handshake_without_a_key_is_refused() -> None:
    async with serving() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
        assert b"400" in await reader.readline()
        writer.close()


async def test_another_protocol_is_answered_as_if_it_had_not_been_asked_for() -> None:
    async with serving() as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
        assert b"200" in await reader.readline()
        writer.close()


async def test_a_server_that_stops_tells_its_clients_to_reconnect() -> None:
    async with serving() as served, served.connect() as client:
        assert await _echoed(client, "here") == "here"
        [connection] = served.state.connections
        connection.shutdown()
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1012
        assert (await served.ends())["code"] == 1012
