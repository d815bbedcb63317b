"""The sandbox as a process of its own: it is there when it says so, and gone with its parent."""

import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.errors import Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.issuer import Issuer
from gateway.sandbox.dev.seeds import seed_items
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Child, Sandbox
from tests.fixtures import CANARIES
from tests.sandbox.documents import TABLE
from tests.sandbox.wire import another_engine, boto

PARENT = """
import sys, time
from gateway.sandbox.sandbox import Child
child = Child("sleeper")
print(child.process.pid, flush=True)
time.sleep(600)
"""


def test_it_is_up_when_it_is_made(sandbox: Sandbox) -> None:
    with boto("dynamodb", sandbox.url, sandbox.ready.admin) as client:
        assert client.list_tables()["TableNames"] == [TABLE]


@pytest.mark.slow
def test_every_row_that_was_written_carries_its_tenants_marker() -> None:
    items = seed_items(MODEL, datetime.now(UTC))
    expected = Counter(item["PK"]["S"].split("#")[1] for item in items)
    assert expected.keys() == CANARIES.keys()
    # not the shared sandbox, whose rows other tests change
    with Sandbox(Options(port=0)) as sandbox, boto("dynamodb", sandbox.url, sandbox.ready.admin) as client:
        for tenant, marker in CANARIES.items():
            found = client.scan(
                TableName=TABLE,
                Select="COUNT",
                FilterExpression="canary = :marker AND begins_with(PK, :tenant)",
                ExpressionAttributeValues={":marker": {"S": marker}, ":tenant": {"S": f"TENANT#{tenant}#"}},
            )
            assert found["Count"] == expected[tenant]


async def test_its_settings_trust_its_own_issuer(sandbox: Sandbox) -> None:
    settings = sandbox.settings(port=0)
    found = settings.issuers[0]
    trusted = Issuer(
        found.issuer, tuple(found.audience), found.jwks_url, algorithms=tuple(found.algorithms), allow_http=True
    )
    authenticator = Authenticator([trusted])
    principal = (await authenticator.verify(f"Bearer {sandbox.token('acme', 'viewer', 'alice')}")).principal
    await authenticator.close()
    assert (principal.tenant, principal.subject) == ("acme", "alice")
    assert principal.roles == {"viewer"}
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
    (tmp_path / "sleeper.py").write_text("import time\ntime.sleep(600)\n")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"},
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.send_signal(signal.SIGKILL)
    # the child has the same standard output: the end of it comes when both are gone
    parent.communicate(timeout=120)


def test_a_child_that_does_not_want_to_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)\n"
    )
    (tmp_path / "deaf.py").write_text(deaf)
    monkeypatch.setattr("gateway.sandbox.sandbox._STOP_SECONDS", 0.05)
    child = Child("deaf", environment={**os.environ, "PYTHONPATH": str(tmp_path)}, piped=True)
    assert child.process.stdout is not None
    child.process.stdout.readline()
    child.stop()
    assert child.process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_it_runs_on_another_engine_and_stops_cleanly() -> None:
    with another_engine() as url, Sandbox(Options(port=0, dynamodb_endpoint=url)) as started:
        assert not started.ready.seeded
        started.stop()
    assert started.returncode == 0
