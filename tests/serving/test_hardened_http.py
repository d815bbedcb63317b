"""Strangers on real connections: each is cut off, and nobody else notices."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
import uvloop
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from gateway.graph.http.running import DISCONNECT
from gateway.serving.hardened_http import HardenedHttp, HttpLimits
from gateway.serving.http_exchange import HttpExchange

SOON = HttpLimits(head_bytes=20_000, head_seconds=0.05, stalled_seconds=0.05)
# for who is served first: a busy machine may take a while to hand over a request
LATER = HttpLimits(head_seconds=1.0)
PATIENCE = 120.0
GET = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n"
POST = b"POST %b HTTP/1.1\r\nhost: here\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
LARGE = "a" * 20_000_000
LARGER = LARGE * 2
# by path: the headers of answers whose bodies have 21 bytes in three pieces
ODD: dict[str, list[tuple[bytes, bytes]]] = {
    "/stream": [],
    "/short": [(b"content-length", b"22")],
    "/long": [(b"content-length", b"20")],
    "/injected": [(b"x", b"a\r\nset-cookie: b"), (b"content-length", b"21")],
    "/name": [(b"x: a\r\ny", b"b"), (b"content-length", b"21")],
    "/both": [(b"transfer-encoding", b"chunked"), (b"x", b"\0")],
}


async def _unfinished(path: str, receive: Receive, send: Send) -> None:
    """Answers that have less of a body than their heads tell."""
    length = b"100000000" if path == "/broken" else b"5"
    status = 304 if path == "/unchanged" else 200
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", length)]})
    if path == "/broken":
        await send({"type": "http.response.body", "body": LARGE.encode(), "more_body": True})
    elif path == "/half":
        await send({"type": "http.response.body", "body": b"he", "more_body": True})
        await receive()
    elif path == "/unchanged":
        await send({"type": "http.response.body"})


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    answers = {"/large": LARGE, "/larger": LARGER, "/body": ""}
    if request.url.path in ("/begun", "/half", "/broken", "/unchanged"):
        await _unfinished(request.url.path, receive, send)
        return
    if request.url.path in ODD:
        await send({"type": "http.response.start", "status": 200, "headers": ODD[request.url.path]})
        for piece in (b"a" * 20, b"", b"b"):
            await send({"type": "http.response.body", "body": piece, "more_body": piece != b"b"})
        return
    if request.url.path == "/refused":
        await PlainTextResponse("too long", 413, {"connection": "close"})(scope, receive, send)
        return
    if request.url.path == "/never":
        left = asyncio.Event()
        scope[DISCONNECT] = left.set
        await left.wait()
    if request.url.path == "/body":
        answers["/body"] = str(len(await request.body()))
    if request.url.path == "/headers":
        await request.body()
        answers["/headers"] = " ".join(name.decode() for name, _ in scope["headers"])
    await PlainTextResponse(answers.get(request.url.path, "hello"))(scope, receive, send)
    if request.url.path == "/late":
        raise ValueError


@dataclass
class Served:
    port: int = 0
    draining: bool = False
    state: ServerState = field(default_factory=ServerState)
    config: uvicorn.Config = field(default_factory=lambda: uvicorn.Config(app, lifespan="off", log_config=None))
    strangers: list[StreamWriter] = field(default_factory=list)

    async def connect(self) -> tuple[StreamReader, StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.strangers.append(writer)
        return reader, writer


@asynccontextmanager
async def serving(bounds: HttpLimits = SOON) -> AsyncIterator[Served]:
    served = Served()

    def protocol() -> HardenedHttp:
        named: dict[str, Any] = {"config": served.config, "server_state": served.state, "app_state": {}}
        return HardenedHttp(lambda: served.draining, bounds=bounds, **named)

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        for stranger in served.strangers:
            stranger.transport.abort()
        server.close()
        await _until(lambda: not served.state.connections)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  uvicorn tells nobody
            await asyncio.sleep(0.01)


async def _rest(reader: StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE):
        return await reader.read(-1)


async def _answer(reader: StreamReader) -> tuple[bytes, bytes]:
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
        return head, await reader.readexactly(int(length.split()[1]))


@pytest.mark.parametrize("begun", [b"", b"GET /", b"GET / HTTP/1.1\r\nhost: h", b"\r\n"])
async def test_a_client_that_sends_no_whole_head_is_cut_off(begun: bytes) -> None:
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(begun)
        assert await _rest(reader) == b""


async def test_a_head_that_drips_is_cut_off_also_after_a_request() -> None:
    async with serving(LATER) as served:
        reader, writer = await served.connect()
        writer.write(GET)
        assert (await _answer(reader))[1] == b"hello"
        writer.write(b"GET / HTTP/1.1\r\nx: ")

        async def drip() -> None:
            while not writer.is_closing():
                writer.write(b"a")
                await asyncio.sleep(0.01)

        dripping = asyncio.create_task(drip())
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            async with asyncio.timeout(PATIENCE):
                await reader.readexactly(1)
        dripping.cancel()


@pytest.mark.parametrize("started", [b"GET / HTTP/1.1\r\nx: ", b"GET /", b"GET / HTTP/1.1\r\n"])
@pytest.mark.parametrize("piece", [b"a" * 1_000, b"a" * 30_000])
async def test_an_endless_head_is_refused_while_it_is_sent(started: bytes, piece: bytes) -> None:
    async with serving(HttpLimits(head_bytes=20_000)) as served:
        reader, writer = await served.connect()
        writer.write(started)
        for _ in range(30):
            writer.write(piece)
            await asyncio.sleep(0)
        # what we still send may overtake the answer
        with suppress(ConnectionResetError):
            assert (await _rest(reader)).startswith(b"HTTP/1.1 431 ")
        await _until(lambda: not served.state.connections)


async def test_a_large_head_in_one_piece_is_refused() -> None:
    async with serving(HttpLimits(head_bytes=20_000)) as served:
        reader, writer = await served.connect()
        writer.write(GET[:-2] + b"x: " + b"a" * 21_000 + b"\r\n\r\n")
        assert (await _rest(reader)).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("more", [b"Host: other\r\n", b"host: h\r\n", b"x: y\r\nHOST:\r\n"])
async def test_two_hosts_are_one_too_many(more: bytes) -> None:
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(GET[:-2] + more + b"\r\n")
        assert (await _rest(reader)).startswith(b"HTTP/1.1 400 ")


async def test_a_slow_body_is_left_to_whoever_reads_it() -> None:
    async with serving(LATER) as served:
        reader, writer = await served.connect()
        writer.write(b"POST /body HTTP/1.1\r\nhost: h\r\ncontent-length: 30\r\n\r\n")
        for _ in range(30):
            await asyncio.sleep(LATER.head_seconds / 25)
            writer.write(b"a")
        assert (await _answer(reader))[1] == b"30"


async def test_a_client_that_sends_a_long_body_that_nobody_reads_still_gets_the_answer_and_may_ask_again() -> None:
    async with serving(HttpLimits(head_bytes=20_000)) as served:
        reader, writer = await served.connect()
        writer.write(b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 500000\r\n\r\n")
        for _ in range(50):
            writer.write(b"a" * 10_000)
            await writer.drain()
        assert (await _answer(reader))[1] == b"hello"
        writer.write(GET)
        assert (await _answer(reader))[1] == b"hello"


async def test_a_client_that_is_refused_while_sending_a_body_gets_the_answer_and_no_reset() -> None:
    async with serving(HttpLimits(linger_seconds=PATIENCE)) as served:
        reader, writer = await served.connect()
        writer.write(POST % b"/refused" + b"content-length: 8000000\r\n\r\n")
        for _ in range(80):
            writer.write(b"a" * 100_000)
            await writer.drain()
        head, content = await _answer(reader)
        assert (head.split()[1], content) == (b"413", b"too long")
        assert b"connection: close" in head
        writer.write_eof()
        assert await _rest(reader) == b""
        await _until(lambda: not served.state.connections)


@pytest.mark.parametrize("sent", [b"a", b"1\r\na\r\n" * 10 + GET])
async def test_a_client_that_goes_on_sending_after_a_refusal_is_cut_off(sent: bytes) -> None:
    async with serving(HttpLimits(linger_seconds=0.05)) as served:
        reader, writer = await served.connect()
        writer.write(POST % b"/refused" + CHUNKED)
        assert (await _answer(reader))[1] == b"too long"
        async with asyncio.timeout(PATIENCE):
            while served.state.connections:
                writer.write(sent)
                await asyncio.sleep(0.01)
        assert served.state.total_requests == 1, "nothing of the rest is a request"


async def test_the_rest_of_a_body_is_not_taken_for_the_head_that_follows_it() -> None:
    async with serving(HttpLimits(head_bytes=20_000)) as served:
        reader, writer = await served.connect()
        writer.write(b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 60000\r\n\r\n")
        assert (await _answer(reader))[1] == b"hello"
        writer.write(b"a" * 60_000 + GET[:20])
        await asyncio.sleep(0.05)
        writer.write(GET[20:])
        assert (await _answer(reader))[1] == b"hello"


async def test_requests_in_one_breath_are_all_answered() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET * 2_000)
        for _ in range(2_000):
            assert (await _answer(reader))[1] == b"hello"


async def test_a_client_that_takes_no_answer_is_cut_off() -> None:
    async with serving() as served:
        _, writer = await served.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport that reads
        writer.write(GET.replace(b"/ ", b"/large "))
        await _until(lambda: served.state.total_requests == 1 and not served.state.connections)


async def test_a_client_that_takes_an_answer_slowly_gets_all_of_it() -> None:
    async with serving(HttpLimits(stalled_seconds=20)) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/large ").replace(b"here", b"here\r\nconnection: close"))
        got = 0
        async with asyncio.timeout(PATIENCE):
            while taken := await reader.read(1_000_000):
                got += len(taken)
                await asyncio.sleep(0.01)
        assert got > len(LARGE)


async def test_while_it_drains_an_answer_is_the_last_of_its_connection() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET)
        assert b"connection: close" not in (await _answer(reader))[0]
        served.draining = True
        writer.write(GET)
        head, body = await _answer(reader)
        assert b"connection: close" in head
        assert body == b"hello"
        assert await _rest(reader) == b""


def test_a_client_that_leaves_before_the_answers_is_not_an_error(caplog: pytest.LogCaptureFixture) -> None:
    async def leave() -> None:
        async with serving(HttpLimits()) as served:
            _, writer = await served.connect()
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport that reads
            writer.write(GET.replace(b"/ ", b"/large ") * 3)
            await _until(lambda: served.state.total_requests == 1)
            writer.transport.abort()
            await _until(lambda: not served.state.tasks)

    # what serves in production: asyncio's own transports take what is written after their end
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(leave())
    assert not caplog.records


async def test_a_client_that_leaves_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(HttpLimits()) as served:
        _, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/never "))
        await _until(lambda: len(served.state.tasks) == 1)
        writer.transport.abort()
        await _until(lambda: not served.state.tasks)
    assert not caplog.records


async def test_an_answer_is_sent_in_one_piece() -> None:
    """A client is not woken for a head alone."""
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        for _ in range(20):
            writer.write(GET)
            async with asyncio.timeout(PATIENCE):
                assert (await reader.read(1_000)).endswith(b"\r\n\r\nhello")


async def test_a_body_of_unknown_length_comes_in_chunks() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/stream ").replace(b"here", b"here\r\nconnection: close"))
        head, _, body = (await _rest(reader)).partition(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head
        assert body == b"14\r\n" + b"a" * 20 + b"\r\n1\r\nb\r\n0\r\n\r\n"


@pytest.mark.parametrize("path", [b"/injected", b"/name", b"/both"])
async def test_a_header_cannot_hold_another_one(path: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", path + b" "))
        answer = await _rest(reader)
        assert answer.startswith(b"HTTP/1.1 500 ")
        assert b"set-cookie" not in answer
        assert b"y: b" not in answer
        assert answer.endswith(b"\r\n\r\nInternal Server Error")
    assert "Exception in ASGI application" in caplog.text


@pytest.mark.parametrize("path", [b"/short", b"/long"])
async def test_a_body_of_another_length_than_it_says_ends_the_connection(path: bytes) -> None:
    """What follows it would be taken for the next answer."""
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", path + b" ") + GET)
        assert b"hello" not in await _rest(reader)


async def test_a_head_is_asked_for_without_its_body() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"GET", b"HEAD") + GET.replace(b"here", b"here\r\nconnection: close"))
        first, second, body = (await _rest(reader)).split(b"\r\n\r\n")
        assert b"content-length: 5" in first
        assert b"content-length: 5" in second
        assert body == b"hello"


async def test_a_client_that_waits_to_be_asked_for_the_body_is_asked() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(b"POST /body HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"abc")
        assert (await _answer(reader))[1] == b"3"


async def test_a_wish_for_another_protocol_is_answered_in_this_one_and_ends_the_connection() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"here", b"here\r\nconnection: upgrade\r\nupgrade: h2c") + GET)
        answer = await _rest(reader)
        assert b"connection: close" in answer
        assert answer.count(b"HTTP/1.1 200 ") == 1


async def test_a_client_that_sends_empty_lines_between_requests_is_idle_all_the_same() -> None:
    async with serving(HttpLimits()) as served:
        served.config.timeout_keep_alive = 1
        reader, writer = await served.connect()
        writer.write(GET)
        await _answer(reader)

        async def drip() -> None:
            while not writer.is_closing():
                writer.write(b"\r\n")
                await asyncio.sleep(0.01)

        dripping = asyncio.create_task(drip())
        with suppress(ConnectionError):
            assert await _rest(reader) == b""
        dripping.cancel()


async def test_what_comes_behind_a_body_is_no_header_of_its_request() -> None:
    """A proxy has checked the head only."""
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(POST % b"/headers" + CHUNKED + b"1\r\na\r\n0\r\nauthorization: b\r\nhost: c\r\n\r\n")
        assert (await _answer(reader))[1] == b"host transfer-encoding"


@pytest.mark.parametrize("begun", [b"0\r\nx: ", b"0\r\n", b"1;x="])
@pytest.mark.parametrize("piece", [b"a: b\r\n" * 2_000, b"a" * 1_000])
async def test_what_surrounds_a_body_has_an_end(begun: bytes, piece: bytes) -> None:
    async with serving(HttpLimits(head_bytes=20_000)) as served:
        _, writer = await served.connect()
        writer.write(POST % b"/body" + CHUNKED + begun)
        with suppress(ConnectionError):
            for _ in range(30):
                writer.write(piece)
                await asyncio.sleep(0)
        await _until(lambda: not served.state.connections)


@pytest.mark.parametrize("bad", [b"\0\r\n\r\n", GET.replace(b"\r\n", b"\n"), POST % b"/" + CHUNKED + b"x\r\n"])
async def test_what_cannot_be_read_is_refused_in_its_turn(bad: bytes) -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET * 2 + bad)
        assert (await _answer(reader))[1] == b"hello"
        assert (await _answer(reader))[1] == b"hello"
        assert (await _rest(reader)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(("path", "answer"), [(b"/body", b"HTTP/1.1 400 "), (b"/half", b""), (b"/", b"")])
async def test_a_body_that_cannot_be_read_is_refused_unless_its_answer_has_begun(path: bytes, answer: bytes) -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(POST % path + CHUNKED)
        async with asyncio.timeout(PATIENCE):
            if path == b"/":
                await reader.readuntil(b"hello")
            if path == b"/half":
                await reader.readuntil(b"\r\n\r\nhe")
        writer.write(b"x\r\n")
        rest = await _rest(reader)
        assert rest[: len(answer) or None] == answer


async def test_few_requests_wait_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Counted(HttpExchange):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            made.append(self)

    monkeypatch.setattr("gateway.serving.hardened_http.HttpExchange", Counted)
    async with serving(HttpLimits()) as served:
        _, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/never ") + GET * 5_000)
        await _until(lambda: bool(made))
        await asyncio.sleep(0.1)
        protocol: Any = await _only(served)
        # whoever leaves is not noticed before the requests in front are answered
        protocol.transport.abort()
        assert len(made) < 300


async def test_long_bodies_in_one_breath_come_whole() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write((POST % b"/body" + b"content-length: 300000\r\n\r\n" + b"a" * 300_000 + GET) * 2)
        for expected in (b"300000", b"hello") * 2:
            assert (await _answer(reader))[1] == expected


async def _takes_two_answers(seconds: float) -> bool:
    """Whether somebody gets both, who takes the second one after the moment at which the first would have been late.

    It is asked for before that moment, or nothing is shown.
    """
    clock = asyncio.get_running_loop().time
    async with serving(HttpLimits(stalled_seconds=seconds)) as served:
        served.config.timeout_keep_alive = 600
        reader, writer = await served.connect()
        begun = clock()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            writer.write(GET.replace(b"/ ", b"/large "))
            await _until(lambda: served.state.total_requests == 1)
            assert len((await _answer(reader))[1]) == len(LARGE)
            await asyncio.sleep(seconds / 3)
            writer.write(GET.replace(b"/ ", b"/larger "))
            await _until(lambda: served.state.total_requests == 2)
            if clock() > begun + seconds * 0.9:
                return False
            await asyncio.sleep(begun + seconds * 1.1 - clock())
            assert len((await _answer(reader))[1]) == len(LARGER)
            return True
    return False


async def test_a_client_that_takes_one_answer_after_the_other_is_not_cut_off() -> None:
    for seconds in (1, 4, 16):  # a machine may be too busy to take an answer in a second
        if await _takes_two_answers(seconds):
            return
    raise AssertionError("it was cut off each time")


async def test_a_head_has_its_time_however_long_nothing_came() -> None:
    async with serving(HttpLimits()) as served:
        served.config.timeout_keep_alive = 1
        reader, writer = await served.connect()
        writer.write(GET)
        await _answer(reader)
        await asyncio.sleep(0.5)
        writer.write(GET[:10])
        await asyncio.sleep(1)
        writer.write(GET[10:])
        assert (await _answer(reader))[1] == b"hello"


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\nhost: h\r\n\r\n",
        b"GET / HTTP/0.9\r\nhost: h\r\n\r\n",
        POST % b"/body" + b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: 3\r\n\r\nabc",
        POST % b"/body" + b"content-length: 3\r\n" + CHUNKED + b"0\r\n\r\n",
        POST % b"/body" + b"content-length: 3\r\ncontent-length: 3\r\n\r\nabc",
        POST % b"/body" + b"x: a\r\n b\r\n\r\n",
        POST % b"/body" + b"transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        POST % b"/body" + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        POST % b"/body" + b"transfer-encoding: gzip\r\n" + CHUNKED + b"0\r\n\r\n",
        POST % b"/body" + CHUNKED + b"fffffffffffffffff\r\n",
    ],
)
async def test_what_may_be_read_in_two_ways_is_refused(head: bytes) -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(head)
        assert (await _rest(reader)).startswith(b"HTTP/1.1 400 ")


async def test_an_address_may_be_whole() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"http://here ", 1))
        assert (await _answer(reader))[1] == b"hello"


async def test_a_client_that_was_not_asked_for_the_body_sends_the_next_request_elsewhere() -> None:
    """It would be taken for the body."""
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(POST % b"/" + b"content-length: 3\r\nexpect: 100-continue\r\n\r\n")
        head, _, body = (await _rest(reader)).partition(b"\r\n\r\n")
        assert b"connection: close" in head
        assert body == b"hello"


async def test_an_old_client_gets_nothing_it_does_not_know() -> None:
    async with serving(HttpLimits()) as served:
        for path, body in ((b"/stream", b"a" * 20 + b"b"), (b"/body", b"3")):
            reader, writer = await served.connect()
            writer.write(b"POST %b HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\nabc" % path)
            head, _, rest = (await _rest(reader)).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            assert b"chunked" not in head
            assert rest == body


async def test_an_answer_without_a_body_may_tell_its_length() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/unchanged ") + GET)
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 304 ")
        assert (await _answer(reader))[1] == b"hello"


async def test_an_app_that_fails_before_anything_was_sent_is_answered_for() -> None:
    """Without an answer clients ask again."""
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"/ ", b"/begun "))
        assert (await _rest(reader)).startswith(b"HTTP/1.1 500 ")


async def test_an_app_that_fails_after_the_answer_does_not_end_the_next_one() -> None:
    async with serving(HttpLimits()) as served:
        reader, writer = await served.connect()
        for _ in range(2):
            writer.write(GET.replace(b"/ ", b"/late ") + GET)
            assert (await _answer(reader))[1] == b"hello"
            assert (await _answer(reader))[1] == b"hello"


async def test_a_client_that_does_not_take_a_failed_answer_is_cut_off() -> None:
    async with serving(HttpLimits(stalled_seconds=0.1)) as served:
        _, writer = await served.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport that reads
        protocol: Any = await _only(served)
        # nobody is asked to write more slowly
        protocol.transport.set_write_buffer_limits(high=10**9)
        writer.write(GET.replace(b"/ ", b"/broken "))
        await _until(lambda: not served.state.connections)


async def _only(served: Served) -> object:
    await _until(lambda: len(served.state.connections) == 1)
    return next(iter(served.state.connections))
