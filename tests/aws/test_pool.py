"""Connections are shared, bounded, handed on in order and never lost."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.aws.connection import Connection
from gateway.aws.errors import AnswerLate, ConnectionBroken, Retry
from gateway.aws.limits import WireLimits
from gateway.aws.pool import Lane, Pool
from gateway.aws.target import Endpoint, Target, endpoint
from gateway.errors import DeadlineExceeded, Unavailable
from tests.aws.fake import BOTH_LOOPS, FakeAws, fake_aws

pytestmark = BOTH_LOOPS


def soon(seconds: float = 5.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def lane_to(fake: FakeAws, connections: int = 2, pool: Pool | None = None) -> Lane:
    return (pool or Pool(WireLimits(connections=connections))).lane(endpoint(fake.target))


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_connection_used_last_is_used_first() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        first, second = await lane.open(soon()), await lane.open(soon())
        lane.release(first)
        lane.release(second)
        assert lane.take() is second
        assert lane.take() is first
        assert lane.take() is None
        await lane.close()


async def test_requests_wait_in_order_for_a_connection() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        order: list[str] = []

        async def request(name: str) -> None:
            given = await lane.open(soon())
            order.append(name)
            lane.release(given)

        requests = []
        for name in "abcd":
            requests.append(asyncio.create_task(request(name)))
            await turns()
        assert len(fake.writers) == 1
        lane.release(connection)
        await asyncio.gather(*requests)
        assert order == ["a", "b", "c", "d"]
        assert len(fake.writers) == 1
        await lane.close()


async def test_a_broken_connection_makes_room_for_a_new_one() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        waiting = asyncio.create_task(lane.open(soon()))
        await turns()
        connection.abort()
        lane.release(connection)
        fresh = await waiting
        assert fresh is not connection
        assert fresh.usable
        lane.release(fresh)
        await lane.close()


async def test_a_request_does_not_wait_beyond_its_deadline() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        with pytest.raises(DeadlineExceeded):
            await lane.open(soon(0.01))
        lane.release(connection)
        assert lane.take() is connection
        lane.release(connection)
        await lane.close()


async def test_a_cancelled_wait_does_not_keep_its_place() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        gone, patient = asyncio.create_task(lane.open(soon())), asyncio.create_task(lane.open(soon()))
        await turns()
        gone.cancel()
        await turns()
        lane.release(connection)
        assert await patient is connection
        assert gone.cancelled()
        lane.release(connection)
        await lane.close()


@pytest.mark.parametrize("broken", [False, True])
async def test_what_was_given_in_the_very_moment_of_giving_up_goes_to_the_next(broken: bool) -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        gone, patient = asyncio.create_task(lane.open(soon())), asyncio.create_task(lane.open(soon()))
        await turns()
        if broken:
            connection.abort()
        lane.release(connection)
        gone.cancel()
        given = await patient
        assert gone.cancelled()
        assert (given is connection) is not broken
        assert given.usable
        lane.release(given)
        await lane.close()


async def test_an_idle_connection_that_aws_closes_is_not_handed_out() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        lane.release(connection)
        await fake.until_connected()
        fake.writers[0].close()
        await connection.lost
        assert lane.take() is None
        fresh = await lane.open(soon())
        assert fresh.usable
        lane.release(fresh)
        await lane.close()


async def test_an_idle_connection_that_is_about_to_close_is_not_handed_out() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        lane.release(connection)
        connection.eof_received()
        assert lane.take() is None
        fresh = await lane.open(soon())
        assert fresh is not connection
        connection.abort()
        lane.release(fresh)
        await lane.close()


async def test_idle_connections_can_be_dropped_together() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        both = [await lane.open(soon()), await lane.open(soon())]
        for connection in both:
            lane.release(connection)
        lane.drop_idle()
        assert lane.take() is None
        fresh = [await lane.open(soon()), await lane.open(soon())]
        assert all(connection.usable for connection in fresh)
        assert not any(connection.usable for connection in both)
        for connection in fresh:
            lane.release(connection)
        await lane.close()


async def test_a_place_that_nothing_listens_at_is_unavailable() -> None:
    async with fake_aws() as fake:
        target = fake.target
    lane = Pool(WireLimits(connections=1)).lane(endpoint(target))
    for _ in range(3):
        with pytest.raises(ConnectionBroken) as refused:
            await lane.open(soon())
        assert refused.value.retry is Retry.TRANSIENT


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port whose queue of connections is full, so that a new one is neither accepted nor refused."""
    import socket

    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


async def test_connecting_takes_no_longer_than_allowed() -> None:
    with deaf_port() as port:
        lane = Pool(WireLimits(connections=1, connect_seconds=0.03)).lane(Endpoint("http", "127.0.0.1", port))
        for _ in range(2):
            with pytest.raises(AnswerLate) as late:
                await lane.open(soon())
            assert late.value.retry is Retry.TIMEOUT


async def test_a_cancelled_connect_gives_its_slot_back() -> None:
    with deaf_port() as port:
        lane = Pool(WireLimits(connections=1)).lane(Endpoint("http", "127.0.0.1", port))
        opening = asyncio.create_task(lane.open(soon()))
        await turns()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert lane._free_slots == 1


async def test_endpoints_have_lanes_of_their_own_and_regions_share_them() -> None:
    pool = Pool(WireLimits())
    one, other = Target("http://localhost:8000", "eu-west-1"), Target("http://localhost:8000/", "us-east-1")
    assert pool.lane(endpoint(one)) is pool.lane(endpoint(other))
    assert pool.lane(endpoint(one)) is not pool.lane(endpoint(Target("https://localhost:8000", "eu-west-1")))


async def test_closing_ends_every_connection_and_every_wait() -> None:
    async with fake_aws() as fake:
        pool = Pool(WireLimits(connections=2))
        lane = lane_to(fake, pool=pool)
        first, second = await lane.open(soon()), await lane.open(soon())
        waiting = asyncio.create_task(lane.open(soon()))
        await turns()
        await pool.close()
        with pytest.raises(Unavailable):
            await waiting
        assert first.lost.done()
        assert second.lost.done()
        lane.release(first)
        lane.release(second)
        with pytest.raises(Unavailable):
            await lane.open(soon())


async def test_closing_ends_idle_connections() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        connection = await lane.open(soon())
        lane.release(connection)
        await lane.close()
        assert connection.lost.done()
        assert lane.take() is None


async def test_a_connection_that_opens_while_the_pool_closes_is_closed() -> None:
    async with fake_aws() as fake:
        pool = Pool(WireLimits())
        opening = asyncio.create_task(lane_to(fake, pool=pool).open(soon()))
        await asyncio.sleep(0)
        await pool.close()
        with pytest.raises(Unavailable):
            await opening


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


REQUEST = b"POST / HTTP/1.1\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 2\r\n\r\n{}"


async def ask(connection: Connection) -> int:
    return (await connection.exchange(REQUEST, soon())).status


async def test_tls_carries_requests_with_the_name_of_the_host(certificate: Path, server_tls: ssl.SSLContext) -> None:
    names: list[str | None] = []
    server_tls.sni_callback = lambda connection, name, context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with fake_aws(tls=server_tls) as fake:
        pool = Pool(WireLimits(connections=1), trusting)
        lane = lane_to(fake, pool=pool)
        connection = await lane.open(soon())
        assert [await ask(connection), await ask(connection)] == [200, 200]
        lane.release(connection)
        await pool.close()
        assert fake.connections == [0, 0]
    assert names == ["localhost"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_certificates_are_verified(server_tls: ssl.SSLContext) -> None:
    async with fake_aws(tls=server_tls) as fake:
        pool = Pool(WireLimits(connections=1))
        with pytest.raises(ConnectionBroken) as refused:
            await lane_to(fake, pool=pool).open(soon())
        assert isinstance(refused.value.__cause__, ssl.SSLCertVerificationError)
        assert refused.value.retry is Retry.NEVER
        assert fake.received == []
        await pool.close()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_host_names_are_verified(certificate: Path, server_tls: ssl.SSLContext) -> None:
    async with fake_aws(tls=server_tls) as fake:
        fake.host = "127.0.0.1"
        pool = Pool(WireLimits(connections=1), ssl.create_default_context(cafile=str(certificate)))
        with pytest.raises(ConnectionBroken):
            await lane_to(fake, pool=pool).open(soon())
        assert fake.received == []
        await pool.close()
