"""What is compared, each in a process of its own on this machine that ends with the benchmark, whatever happens."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import orjson
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.sandbox.dev.issuer import AUDIENCE, JWKS_PATH
from gateway.sandbox.server import free_port
from tests.graph.backend import REGION, ROLE_ARN, TABLE, Backend

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
_BUILT = ROOT / ".peers"
_START_SECONDS = 60
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

GATEWAY, FLOOR = "gateway", "floor: two calls, no GraphQL, no tokens"
NODE = {
    "mercurius-jit + lean client": "mercurius-lean",
    "mercurius-jit + AWS SDK v3": "mercurius",
    "yoga + AWS SDK v3": "yoga",
}
STRAWBERRY = "strawberry + aiobotocore"


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    port: int
    process: subprocess.Popen[bytes]

    def cpu(self) -> float:
        """Seconds of all its threads, by the scheduler's own count."""
        spent = 0
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            spent += int((thread / "schedstat").read_text().split()[0])
        return spent / 1e9


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


@contextmanager
def child(command: list[str], log: Path, environment: dict[str, str], **more: int) -> Iterator[subprocess.Popen[bytes]]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NODE_ENV": "production", **environment}
    with log.open("wb") as output:
        streams = {"stdout": output, "stderr": output, **more}
        process = subprocess.Popen(command, cwd=ROOT, env=env, preexec_fn=_end_with_parent, **streams)  # noqa: PLW1509
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@contextmanager
def stub(recordings: str, folder: Path, latency: float = 0) -> Iterator[str]:
    """Yields the address of DynamoDB, which answers `latency` milliseconds after a request."""
    path = folder / "recordings"
    path.write_text(recordings)
    with _printing_its_port([str(_BUILT / "stub"), str(path), str(int(latency * 1000))], folder / "stub.log") as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def behind_tls(address: str, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The same by TLS: its address, and the environment in which our servers trust it."""
    path = folder / "tls.pem"
    path.write_bytes(_certificate())
    trusted = dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "AWS_CA_BUNDLE"), str(path))
    command = ["node", str(HERE / "tls.mjs"), str(path), address.rpartition(":")[2]]
    with _printing_its_port(command, folder / "tls.log") as port:
        yield f"https://127.0.0.1:{port}", trusted


@contextmanager
def _printing_its_port(command: list[str], log: Path) -> Iterator[int]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with child(command, log, {}, **pipes) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


def _certificate() -> bytes:
    """For this machine and for a day, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now, address = datetime.now(UTC), x509.IPAddress(ip_address("127.0.0.1"))
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([address]), critical=True)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return written + made.sign(key, SHA256()).public_bytes(Encoding.PEM)


def commands(backend: Backend, dynamodb: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """By name: the command, to which the port is given as `PORT`, and its environment."""
    found: dict[str, tuple[list[str], dict[str, str]]] = {
        GATEWAY: ([sys.executable, "-m", "bench.peers.served"], _settings(backend, dynamodb)),
        FLOOR: ([sys.executable, "-m", "bench.peers.floor", "PORT", dynamodb], {}),
    }
    for name, kind in NODE.items():
        found[name] = (["node", str(HERE / "node_peers.mjs"), kind, "PORT", dynamodb], {})
    python = str(_BUILT / "venv/bin/python")
    found[STRAWBERRY] = ([python, str(HERE / "strawberry_peer.py"), "PORT", dynamodb], {"PYTHONPATH": ""})
    return found


@contextmanager
def started(name: str, command: list[str], environment: dict[str, str], folder: Path) -> Iterator[Server]:
    port = free_port(0)
    log = folder / f"{port}.log"
    filled = [str(port) if part == "PORT" else part for part in command]
    with child(filled, log, {**environment, "GATEWAY_PORT": str(port)}) as process:
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{name} did not start: {log.read_text()[-2000:]}") from None
                time.sleep(0.1)
        yield Server(name, port, process)


def _settings(backend: Backend, dynamodb: str) -> dict[str, str]:
    issuer = {
        "issuer": backend.issuer.issuer,
        "audience": [AUDIENCE],
        "jwks_url": backend.url + JWKS_PATH,
        "algorithms": ["RS256"],
    }
    return {
        "GATEWAY_ENVIRONMENT": "sandbox",
        "GATEWAY_TABLE_NAME": TABLE,
        "GATEWAY_REGION": REGION,
        "GATEWAY_TENANT_ROLE_ARN": ROLE_ARN,
        "GATEWAY_CURSOR_SECRET": "c" * 40,
        "GATEWAY_ISSUERS": orjson.dumps([issuer]).decode(),
        "GATEWAY_DYNAMODB_ENDPOINT": dynamodb,
        "GATEWAY_STS_ENDPOINT": backend.url,
        "AWS_ACCESS_KEY_ID": "AKID",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
