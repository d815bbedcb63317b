"""Connections to AWS are encrypted and know whom they talk to."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.aws.wire.connection import Connection, WireLimits
from gateway.aws.wire.endpoint import endpoint
from gateway.aws.wire.errors import ConnectionBroken, Retry
from gateway.aws.wire.pool import ConnectionPool, EndpointPool
from tests.aws.fake import BOTH_LOOPS, FakeAws, fake_aws

pytestmark = BOTH_LOOPS


def soon() -> float:
    return asyncio.get_running_loop().time() + 5


def lane_to(fake: FakeAws, pool: ConnectionPool) -> EndpointPool:
    return pool.lane(endpoint(fake.target))


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


async def exchange(connection: Connection) -> bool:
    return isinstance(await connection.exchange(REQUEST, soon()), bytes)


async def test_tls_carries_requests_with_the_name_of_the_host(certificate: Path, server_tls: ssl.SSLContext) -> None:
    names: list[str | None] = []
    server_tls.sni_callback = lambda connection, name, context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with fake_aws(tls=server_tls) as fake:
        pool = ConnectionPool(WireLimits(connections=1), trusting)
        lane = lane_to(fake, pool)
        connection = await lane.open(soon())
        assert await exchange(connection)
        assert await exchange(connection)
        lane.release(connection)
        await pool.close()
        assert fake.connections == [0, 0]
    assert names == ["localhost"]


async def test_certificates_are_verified(server_tls: ssl.SSLContext) -> None:
    async with fake_aws(tls=server_tls) as fake:
        pool = ConnectionPool(WireLimits(connections=1))
        with pytest.raises(ConnectionBroken) as refused:
            await lane_to(fake, pool).open(soon())
        assert isinstance(refused.value.__cause__, ssl.SSLCertVerificationError)
        assert refused.value.retry is Retry.NEVER
        assert fake.received == []
        await pool.close()


async def test_host_names_are_verified(certificate: Path, server_tls: ssl.SSLContext) -> None:
    async with fake_aws(tls=server_tls) as fake:
        fake.host = "127.0.0.1"
        pool = ConnectionPool(WireLimits(connections=1), ssl.create_default_context(cafile=str(certificate)))
        with pytest.raises(ConnectionBroken):
            await lane_to(fake, pool).open(soon())
        assert fake.received == []
        await pool.close()
