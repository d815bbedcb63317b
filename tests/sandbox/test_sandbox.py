"""The sandbox as a process of its own: it is there when it says so, and gone with its parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.issuer import Issuer
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import listen
from tests.sandbox.documents import TABLE
from tests.sandbox.wire import boto

PARENT = """
import sys, time
from gateway.sandbox.sandbox import Child
child = Child("sleeper")
print(child.process.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Options(port=0)) as started:
        yield started


def test_it_is_up_when_it_is_made(sandbox: Sandbox) -> None:
    with boto("dynamodb", sandbox.url, sandbox.ready.admin) as client:
        assert client.list_tables()["TableNames"] == [TABLE]


async def test_its_settings_trust_its_own_issuer(sandbox: Sandbox) -> None:
    settings = sandbox.settings(port=0)
    found = settings.issuers[0]
    trusted = Issuer(
        found.issuer, tuple(found.audience), found.jwks_url, algorithms=tuple(found.algorithms), allow_http=True
    )
    authenticator = Authenticator([trusted])
    principal = await authenticator.authenticate(f"Bearer {sandbox.token('acme', 'viewer', 'alice')}")
    await authenticator.close()
    assert (principal.tenant, principal.subject, principal.roles) == ("acme", "alice", {"viewer"})
    assert settings.environment == "sandbox"
    assert settings.tenants == ["acme", "globex", "initech"]
    assert settings.dynamodb_endpoint == settings.sts_endpoint == sandbox.url
    assert settings.cursor_secret != sandbox.settings().cursor_secret


def test_a_child_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"did not start: .*tenant-role\.json"):
        Sandbox(Options(port=0, policies=tmp_path))


def test_a_child_that_says_nothing_did_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Options, "arguments", lambda self: ["--no-such-option"])
    with pytest.raises(Unavailable, match="the sandbox did not start"):
        Sandbox()


def test_a_child_ends_with_its_parent_even_when_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text("import time\ntime.sleep(60)\n")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"},
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert _alive(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait(20)
    parent.stdout.close()
    end = time.monotonic() + 20
    while _alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(child)


def test_a_child_that_does_not_want_to_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    (tmp_path / "deaf.py").write_text(deaf)
    monkeypatch.setattr("gateway.sandbox.sandbox._STOP_SECONDS", 0.05)
    child = Child("deaf", environment={**os.environ, "PYTHONPATH": str(tmp_path)}, piped=True)
    assert child.process.stdout is not None
    child.process.stdout.readline()
    child.stop()
    assert child.process.returncode == -signal.SIGKILL


def test_it_stops_cleanly_and_twice() -> None:
    with listen(0) as taken, Sandbox(Options(port=taken.getsockname()[1])) as started:
        assert not started.url.endswith(f":{taken.getsockname()[1]}")
        started.stop()
    assert started.returncode == 0


def _alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits for whoever adopted it does not."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
