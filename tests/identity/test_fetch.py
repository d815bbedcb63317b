"""Tests of the fetch itself, against small servers that answer from a script."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from gateway.identity.authenticator import Authenticator
from gateway.identity.fetch import fetch
from gateway.identity.keys import MAX_BYTES
from tests.identity.fixtures import NOW, good_token, issuer, public_jwk, rsa_key

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"


@dataclass
class Server:
    url: str
    requests: list[bytes] = field(default_factory=list)


@contextlib.asynccontextmanager
async def serving(answer: bytes, tls: ssl.SSLContext | None = None, hold: bool = False) -> AsyncIterator[Server]:
    """Sends the answer to everyone; `hold` keeps the connection open afterwards."""
    released = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            server.requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
            if hold:
                await released.wait()
        writer.close()

    listener = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    server = Server(f"http{'s' if tls else ''}://127.0.0.1:{listener.sockets[0].getsockname()[1]}/keys?v=1")
    try:
        yield server
    finally:
        released.set()
        listener.close()
        await asyncio.sleep(0.01)


async def test_the_body_of_a_good_answer_is_returned_and_the_request_is_plain() -> None:
    async with serving(OK, hold=True) as server:
        assert await fetch(server.url) == b"body"
    head = server.requests[0].decode().split("\r\n")
    assert head[0] == "GET /keys?v=1 HTTP/1.1"
    assert head[1] == "Host: " + server.url.split("/")[2]
    assert "Accept-Encoding: identity" in head


async def test_a_chunked_body_is_put_together() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"
    async with serving(chunked) as server:
        assert await fetch(server.url) == b"body"


async def test_a_redirect_is_not_followed() -> None:
    async with serving(OK) as target:
        moved = f"HTTP/1.1 302 Found\r\nLocation: {target.url}\r\nContent-Length: 0\r\n\r\n".encode()
        async with serving(moved) as server:
            with pytest.raises(ValueError, match="status 302"):
                await fetch(server.url)
    assert not target.requests


@pytest.mark.parametrize("status", ["201 Created", "204 No Content", "404 Not Found", "500 Oops", "103 Early Hints"])
async def test_any_other_status_is_a_failure(status: str) -> None:
    async with serving(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()) as server:
        with pytest.raises(ValueError, match="expected 200"):
            await fetch(server.url)


@pytest.mark.parametrize("answer", [b"", OK[:-1], OK[:20], b"HTTP/1.1 200 OK\r\n\r\nuntil the end"])
async def test_an_answer_that_ends_early_is_a_failure(answer: bytes) -> None:
    async with serving(answer) as server:
        with pytest.raises(ConnectionError):
            await fetch(server.url)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000,
        b"HTTP/1.1 200 OK\r\n" + b"X-Filler: y\r\n" * (MAX_BYTES // 10),
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * (MAX_BYTES + 1),
    ],
    ids=["body", "many headers", "long header"],
)
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(answer: bytes) -> None:
    async with serving(answer, hold=True) as server:
        with pytest.raises(ValueError, match="too large"):
            await fetch(server.url)


async def test_what_is_not_http_is_a_failure() -> None:
    async with serving(b"SSH-2.0-OpenSSH_9.6\r\n", hold=True) as server:
        with pytest.raises(Exception, match=r".+"):
            await fetch(server.url)


async def test_a_silent_server_is_left_when_the_caller_gives_up() -> None:
    async with serving(b"", hold=True) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await fetch(server.url)


def certified(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's side with a certificate of its own making, and a client's side that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer")])
    now = dt.datetime.now(dt.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "issuer.pem"
    pem = certificate.public_bytes(Encoding.PEM)
    file.write_bytes(pem + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cadata=pem.decode())
    server.load_cert_chain(file)
    return server, client


async def test_over_tls_only_a_trusted_certificate_is_believed(tmp_path: Path) -> None:
    server_side, client_side = certified(tmp_path)
    async with serving(OK, server_side) as server:
        assert await fetch(server.url, client_side) == b"body"
        with pytest.raises(ssl.SSLCertVerificationError):
            await fetch(server.url)
        with pytest.raises(ssl.SSLCertVerificationError):
            await fetch(server.url.replace("127.0.0.1", "localhost"), client_side)


async def test_an_authenticator_fetches_by_itself() -> None:
    keys = json_keys()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(keys), keys)
    async with serving(answer) as server:
        authenticator = Authenticator([issuer(jwks_url=server.url, allow_http=True)], clock=lambda: NOW)
        assert (await authenticator.verify(f"Bearer {good_token()}")).principal.tenant == "acme"
        await authenticator.close()


def json_keys() -> bytes:
    return json.dumps({"keys": [public_jwk(rsa_key(), "key-1")]}).encode()
