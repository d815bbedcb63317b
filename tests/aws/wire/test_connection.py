"""A connection hands an answer to the request it belongs to, or ends."""

import asyncio
import random
from zlib import crc32

import pytest

from gateway.aws.wire.connection import Connection, WireLimits
from gateway.aws.wire.errors import AnswerCorrupt, AnswerLate, ConnectionBroken, Retry
from gateway.aws.wire.response import AwsResponse, body_of
from tests.aws.fake import BOTH_LOOPS, Behaviour, FakeAws, after, closing, fake_aws, ok, raw, response, silence

pytestmark = BOTH_LOOPS
REQUEST = b"POST / HTTP/1.1\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 2\r\n\r\n{}"


async def connect(fake: FakeAws, limits: WireLimits | None = None) -> Connection:
    connection = Connection(limits or WireLimits(), lambda lost: None)
    await asyncio.get_running_loop().create_connection(lambda: connection, fake.host, fake.port)
    return connection


async def exchange(connection: Connection, seconds: float = 5.0) -> AwsResponse:
    """The answer; where only its body was handed over, it has no headers."""
    answer = await connection.exchange(REQUEST, asyncio.get_running_loop().time() + seconds)
    return AwsResponse(200, {}, answer) if isinstance(answer, bytes) else answer


async def ended(connection: Connection) -> None:
    connection.abort()
    await connection.lost


async def one_answer(*parts: bytes) -> tuple[AwsResponse, bool]:
    """The answer, and whether the connection is kept after it."""
    async with fake_aws(raw(*parts)) as fake:
        connection = await connect(fake)
        answer = await exchange(connection)
        kept = connection.usable
        await ended(connection)
        return answer, kept


async def test_an_answer_has_status_headers_and_body() -> None:
    answer, kept = await one_answer(response(b'{"a":1}', 400, {"X-Odd-Case": "Value"}))
    assert (answer.status, answer.body, answer.headers[b"x-odd-case"]) == (400, b'{"a":1}', b"Value")
    assert kept


async def test_an_answer_may_come_byte_by_byte() -> None:
    text = response(b"{}")
    answer, kept = await one_answer(*(text[at : at + 9] for at in range(0, len(text), 9)))
    assert (answer.status, answer.body) == (200, b"{}")
    assert kept


async def test_an_answer_may_be_chunked() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer, kept = await one_answer(head, b'4\r\n{"a"\r\n', b"3;x=y\r\n:1}\r\n0\r\n", b"X-Trailer: 1\r\n\r\n")
    assert answer.body == b'{"a":1}'
    assert kept


async def test_an_answer_may_be_announced() -> None:
    announcement = b"HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n"
    answer, kept = await one_answer(announcement + response(b"{}"))
    assert answer.status == 200
    assert b"x-early" not in answer.headers
    assert kept


@pytest.mark.parametrize(
    "text",
    [
        response(b"{}", headers={"Connection": "close"}),
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        response(b"{}", headers={"Connection": "close"}) + b"more",
    ],
)
async def test_a_connection_is_not_kept_when_aws_does_not_keep_it(text: bytes) -> None:
    answer, kept = await one_answer(text)
    assert answer.body == b"{}"
    assert not kept


@pytest.mark.parametrize("extra", [response(b'{"Item":"of another tenant"}'), b"HTTP/1.1 200", b"garbage"])
async def test_bytes_that_nobody_asked_for_end_the_connection(extra: bytes) -> None:
    answer, kept = await one_answer(response(b"{}") + extra)
    assert answer.body == b"{}"
    assert not kept


@pytest.mark.parametrize("extra", [response(b'{"Item":"of another tenant"}'), b"\r\n", b"H"])
async def test_bytes_that_come_while_idle_end_the_connection(extra: bytes) -> None:
    gate = asyncio.Event()

    async def behave(writer: asyncio.StreamWriter) -> None:
        await ok()(writer)
        await gate.wait()
        await raw(extra)(writer)

    async with fake_aws(behave) as fake:
        connection = await connect(fake, WireLimits(read_seconds=60.0))
        await exchange(connection, seconds=60.0)
        assert connection.usable
        gate.set()
        await asyncio.wait_for(connection.lost, 60)
        with pytest.raises(ConnectionBroken):
            await exchange(connection)


@pytest.mark.parametrize(
    "behaviour",
    [
        closing(),
        closing(b"HTTP/1.1 200 OK\r\n"),
        closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
        closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
        # without a length nobody can tell whether the body is whole
        closing(b"HTTP/1.1 200 OK\r\n\r\n{}"),
        raw(b"SSH-2.0-OpenSSH\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"),
        raw(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    ],
)
async def test_half_an_answer_is_a_broken_connection(behaviour: Behaviour) -> None:
    async with fake_aws(behaviour) as fake:
        connection = await connect(fake)
        with pytest.raises(ConnectionBroken) as broken:
            await exchange(connection)
        assert broken.value.retry is Retry.TRANSIENT
        assert not broken.value.stale
        assert not connection.usable
        await connection.lost


async def test_a_kept_connection_that_ends_before_the_first_byte_was_stale() -> None:
    async with fake_aws(ok(), closing()) as fake:
        connection = await connect(fake)
        await exchange(connection)
        with pytest.raises(ConnectionBroken) as broken:
            await exchange(connection)
        assert broken.value.stale


async def test_a_kept_connection_that_ends_in_the_middle_was_not_stale() -> None:
    async with fake_aws(ok(), closing(b"HTTP/1.1 2")) as fake:
        connection = await connect(fake)
        await exchange(connection)
        with pytest.raises(ConnectionBroken) as broken:
            await exchange(connection)
        assert not broken.value.stale


async def test_an_answer_larger_than_allowed_is_refused() -> None:
    limits = WireLimits(answer_bytes=10_000)
    for text in (response(b"x" * 11_000), b"HTTP/1.1 200 OK\r\nX-Endless: " + b"x" * 11_000):
        async with fake_aws(raw(text)) as fake:
            connection = await connect(fake, limits)
            with pytest.raises(AnswerCorrupt) as refused:
                await exchange(connection)
            assert refused.value.retry is Retry.NEVER
            await connection.lost


@pytest.mark.parametrize("behaviour", [silence, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")])
async def test_silence_ends_the_connection(behaviour: Behaviour) -> None:
    async with fake_aws(behaviour) as fake:
        connection = await connect(fake, WireLimits(read_seconds=0.03))
        with pytest.raises(AnswerLate) as late:
            await exchange(connection)
        assert late.value.retry is Retry.TIMEOUT
        await connection.lost


async def test_the_deadline_ends_the_connection_before_the_read_timeout_does() -> None:
    async with fake_aws(ok(), silence) as fake:
        connection = await connect(fake, WireLimits(read_seconds=60.0))
        await exchange(connection)
        with pytest.raises(AnswerLate):
            await exchange(connection, seconds=0.03)
        await connection.lost


async def test_slow_bytes_are_not_silence() -> None:
    text = response(b"{}")
    async with fake_aws(silence) as fake:
        connection = await connect(fake)
        request = asyncio.create_task(exchange(connection, seconds=60))
        await fake.until_received()
        for part in (text[:20], text[20:40], text[40:60]):
            before = connection._lapses_at
            await asyncio.sleep(0.01)
            connection.data_received(part)
            assert connection._lapses_at > before
        connection.data_received(text[60:])
        assert (await request).body == b"{}"
        await ended(connection)


async def test_idleness_ends_the_connection() -> None:
    async with fake_aws() as fake:
        connection = await connect(fake, WireLimits(idle_seconds=0.03))
        await exchange(connection)
        await asyncio.wait_for(connection.lost, 60)
        assert not connection.usable


async def test_work_puts_off_the_end_of_an_idle_connection() -> None:
    gate = asyncio.Event()
    async with fake_aws(ok(), after(gate, ok())) as fake:
        connection = await connect(fake, WireLimits(idle_seconds=0.02))
        await exchange(connection)
        asyncio.get_running_loop().call_later(0.05, gate.set)
        assert (await exchange(connection)).status == 200
        await ended(connection)


async def test_a_cancelled_request_ends_the_connection() -> None:
    gate = asyncio.Event()
    async with fake_aws(after(gate, ok({"Item": "of the cancelled request"}))) as fake:
        connection = await connect(fake)
        request = asyncio.create_task(exchange(connection))
        await fake.until_received()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert not connection.usable
        gate.set()
        await connection.lost
        with pytest.raises(ConnectionBroken):
            await exchange(connection)


async def test_an_answer_that_arrives_with_the_cancellation_is_dropped() -> None:
    async with fake_aws(silence) as fake:
        connection = await connect(fake)
        request = asyncio.create_task(exchange(connection))
        await fake.until_received()
        request.cancel()
        connection.data_received(response(b"{}"))
        with pytest.raises(asyncio.CancelledError):
            await request
        assert not connection.usable
        await connection.lost


async def handed_over(*parts: bytes) -> bytes | AwsResponse:
    """What a connection makes of an answer that comes in parts."""
    async with fake_aws(silence) as fake:
        connection = await connect(fake)
        answer = connection.exchange(REQUEST, asyncio.get_running_loop().time() + 60)
        for part in parts:
            connection.data_received(part)
        await ended(connection)
        return await answer


@pytest.mark.parametrize("body", [b"", b"{}", b'{"a":"\xc3\xa9"}' * 500])
async def test_a_success_that_fits_its_checksum_is_handed_over_as_its_body(body: bytes) -> None:
    assert await handed_over(response(body)) == body
    without = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    assert await handed_over(without) == body


@pytest.mark.parametrize("name", [b"x-amz-crc32", b"X-Amz-Crc32", b"X-AMZ-CRC32"])
@pytest.mark.parametrize("checksum", [b"1", b"", b"x", b"-2745614147", b" 1"])
async def test_a_body_that_does_not_fit_its_checksum_is_never_handed_over(name: bytes, checksum: bytes) -> None:
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%b: %b\r\n\r\n{}" % (name, checksum)
    for cut in range(1, len(text)):
        answer = await handed_over(text[:cut], text[cut:])
        assert isinstance(answer, AwsResponse)
        with pytest.raises(AnswerCorrupt):
            body_of(answer)


async def test_an_answer_keeps_its_own_headers_and_body_when_the_next_one_comes() -> None:
    first_text = response(b"first", 400, {"X-Note": "1", "X-First": "a"})
    async with fake_aws(raw(first_text), raw(response(b"2", 400, {"X-Note": "2"}))) as fake:
        connection = await connect(fake)
        first, second = await exchange(connection), await exchange(connection)
        await ended(connection)
    assert (first.body, first.headers[b"x-note"], first.headers[b"x-first"]) == (b"first", b"1", b"a")
    assert (second.body, second.headers[b"x-note"]) == (b"2", b"2")
    assert b"x-first" not in second.headers


async def test_answers_cut_at_random_bytes_are_what_they_are_in_one_piece() -> None:
    chance = random.Random(3)
    for _ in range(60):
        body = chance.randbytes(chance.choice((1, 50, 3_000)))
        checksum = chance.choice((crc32(body), crc32(body), 1))
        plain = response(body, chance.choice((200, 400)), checksum=checksum)
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-amz-crc32: %d\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (
            checksum,
            len(body),
            body,
        )
        whole = chance.choice((plain, b"HTTP/1.1 100 Continue\r\n\r\n" + plain, chunked))
        cuts = sorted(chance.sample(range(1, len(whole)), chance.randint(1, 4)))
        parts = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        for answer in (await handed_over(whole), await handed_over(*parts)):
            good = checksum != 1 and b" 400 " not in whole[:60]
            assert good or isinstance(answer, AwsResponse)
            read = AwsResponse(200, {}, answer) if isinstance(answer, bytes) else answer
            assert (read.status, read.body) == (400 if b" 400 " in whole[:60] else 200, body)
            if isinstance(answer, AwsResponse):
                assert answer.headers[b"x-amz-crc32"] == b"%d" % checksum


async def test_a_connection_is_not_usable_while_its_answer_is_under_way() -> None:
    text = response(b"{}")
    async with fake_aws(silence) as fake:
        connection = await connect(fake)
        answer = connection.exchange(REQUEST, asyncio.get_running_loop().time() + 60)
        for part in (text[:-2], text[-2:-1], text[-1:]):
            assert not connection.usable
            with pytest.raises(ConnectionBroken):
                connection.exchange(REQUEST, asyncio.get_running_loop().time() + 60)
            connection.data_received(part)
        assert connection.usable
        assert await answer == b"{}"
        await ended(connection)
