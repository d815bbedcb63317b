import http.client
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gateway.cli import dev as commands
from gateway.cli.dev import Dev, dev, while_it_runs
from gateway.errors import Unavailable
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import free_port, listen
from tests.sandbox.wire import another_engine

pytestmark = pytest.mark.slow
PATIENCE = 300.0  # of a busy machine
STUB = "tests.sandbox.stub_gateway"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # what is printed for it is tested
OPTIONS = Dev(port=0, aws_port=0, command=(STUB,))
RUN = f"""
import sys
from gateway.cli.dev import Dev, dev, while_it_runs
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
sys.exit(dev(Dev(port=0, aws_port=0, dynamodb_endpoint=sys.argv[1], command=("{STUB}", *sys.argv[2:]))))
"""


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    """A command that was told to end leaves its handlers, since its process is about to end; this one is not."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _until(out: io.StringIO, text: str, then: Callable[[], None]) -> None:
    """Does something as soon as the text was printed, from another thread."""

    def wait() -> None:
        end = time.monotonic() + PATIENCE
        while text not in out.getvalue() and time.monotonic() < end:
            time.sleep(0.02)
        then()

    threading.Thread(target=wait).start()


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_it_runs_on_free_ports_until_it_is_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-the-developer")
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("GATEWAY_WORKERS", "2")
    monkeypatch.setenv("GATEWAY_HOST", "192.0.2.1")  # of another machine
    monkeypatch.setenv("GATEWAY_PORT", "1")
    out = io.StringIO()
    seen: dict[str, str] = {}

    def look() -> None:
        port = re.search(r"http://127\.0\.0\.1:(\d+)/graphql", out.getvalue())
        seen.update(_health(int(port[1])) if port else {})
        _terminate()

    _until(out, "Stop with Ctrl-C", look)
    with another_engine() as url, listen(0) as first, listen(0) as second:
        ports = [taken.getsockname()[1] for taken in (first, second)]
        options = replace(OPTIONS, host=EVERYWHERE, port=ports[0], aws_port=ports[1], dynamodb_endpoint=url)
        assert dev(options, Console(file=out, width=200)) == 0
    for port in ports:
        assert f"port {port} is in use: using http://127.0.0.1:" in out.getvalue()
    assert "stopped" in out.getvalue()
    assert "left unchanged" in out.getvalue()
    assert seen["GATEWAY_ENVIRONMENT"] == "sandbox"
    assert seen["GATEWAY_WORKERS"] == "1", "development is one process, whatever the environment says"
    assert seen["AWS_ACCESS_KEY_ID"].startswith("AKIA")
    assert not {"AWS_SESSION_TOKEN", "AWS_PROFILE"} & set(seen)


def _health(port: int) -> dict[str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/")
    found: dict[str, str] = json.loads(connection.getresponse().read())
    connection.close()
    return found


def test_ctrl_c_ends_every_process_without_a_traceback() -> None:
    with another_engine() as url:
        running = subprocess.Popen(
            [sys.executable, "-c", RUN, url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        assert running.stdout is not None
        lines: list[bytes] = []
        for line in running.stdout:
            lines.append(line)
            if b"Stop with Ctrl-C" in line:
                break
        running.send_signal(signal.SIGINT)
        # its children write to the same pipe: this returns when all of them are gone
        rest, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    assert b"Traceback" not in b"".join(lines) + rest


def test_a_second_ctrl_c_ends_it_at_once_without_a_traceback() -> None:
    with another_engine() as url:
        running = subprocess.Popen(
            [sys.executable, "-c", RUN, url, "--slow"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert running.stdout is not None
        lines: list[bytes] = []
        for line in running.stdout:
            lines.append(line)
            if b"Stop with Ctrl-C" in line or b"ending slowly" in line:
                running.send_signal(signal.SIGINT)
            if b"ending slowly" in line:
                break
        assert running.wait(30) == 128 + signal.SIGINT
        # returns when the children are gone too
        rest, _ = running.communicate(timeout=60)
    assert b"Traceback" not in b"".join(lines) + rest


def test_a_sandbox_that_is_killed_ends_it_with_a_message() -> None:
    with another_engine() as url, Sandbox(Options(port=0, dynamodb_endpoint=url)) as sandbox:
        ticking = while_it_runs(sandbox, itertools.repeat(False))
        assert next(ticking) is False
        sandbox._child.process.kill()
        sandbox._child.process.wait(PATIENCE)
        with pytest.raises(Unavailable, match="the sandbox has stopped"):
            next(ticking)


def test_a_gateway_that_fails_ends_it_with_a_message() -> None:
    out = io.StringIO()
    with another_engine() as url:
        options = replace(OPTIONS, command=(STUB, "--fail"), dynamodb_endpoint=url)
        assert dev(options, Console(file=out, width=200)) == 1
    assert "the gateway did not start" in out.getvalue()


def test_an_engine_that_is_not_there_ends_it_with_a_message() -> None:
    out = io.StringIO()
    url = f"http://127.0.0.1:{free_port(0)}"
    assert dev(replace(OPTIONS, dynamodb_endpoint=url), Console(file=out, width=200)) == 1
    assert f"the engine at {url}/ does not respond" in out.getvalue()


def test_an_address_of_another_machine_is_a_message() -> None:
    out = io.StringIO()
    with another_engine() as url:
        options = replace(OPTIONS, host="192.0.2.1", dynamodb_endpoint=url)
        assert dev(options, Console(file=out, width=200)) == 1
    assert "cannot listen on 192.0.2.1 port 0" in out.getvalue()


def test_with_reload_only_the_gateway_is_restarted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_PACKAGE", tmp_path)
    out = io.StringIO()
    pids: list[str] = []
    access_keys: list[str] = []

    def change() -> None:
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/graphql", out.getvalue())[0])
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                found = _health(port)
            except OSError:
                continue
            finally:
                time.sleep(0.02)
            if found["pid"] not in pids:
                pids.append(found["pid"])
                access_keys.append(found["AWS_ACCESS_KEY_ID"])
                (tmp_path / "module.py").write_text(f"changed = {len(pids)}\n")
            if len(pids) == 2:
                break
        _terminate()

    _until(out, "Stop with Ctrl-C", change)
    with another_engine() as url:
        assert dev(replace(OPTIONS, reload=True, dynamodb_endpoint=url), Console(file=out, width=200)) == 0
    assert len(pids) == 2
    assert len(set(access_keys)) == 1


ADOPTER = """
from gateway.model.entity import Attribute, Entity, Key
from gateway.model.model import Domain
from gateway.model.types import Id

NOTE = Entity(
    name="Note", description="", key=Key(pk="NOTE#{noteId}", sk="META"),
    attributes=(Attribute("noteId", Id(), ""), Attribute("secret", Id(), "", personal=False)),
)
DOMAIN = Domain(name="notes", description="", entities=(NOTE,), patterns=())
"""


def test_with_reload_a_change_of_ones_own_domain_restarts_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "adopter_notes"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "domain.py").write_text(ADOPTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    name = "adopter_notes.domain"
    out = io.StringIO()
    pids: list[str] = []

    def change() -> None:
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/graphql", out.getvalue())[0])
        for _ in range(400):
            try:
                found = _health(port)["pid"]
            except OSError:
                continue
            finally:
                time.sleep(0.05)
            if found not in pids:
                pids.append(found)
                (package / "domain.py").write_text(ADOPTER.replace("personal=False", "personal=True"))
            if len(pids) == 2:
                break
        _terminate()

    _until(out, "Stop with Ctrl-C", change)
    with another_engine() as url:
        options = replace(OPTIONS, reload=True, dynamodb_endpoint=url, domains=(name,))
        assert dev(options, Console(file=out, width=200)) == 0
    assert len(pids) == 2
    assert "notes" in out.getvalue()
    assert "/demo" not in out.getvalue()


def test_a_token_comes_from_the_running_sandbox(assembly: SandboxAssembly) -> None:
    assert ask_for_token(assembly.ready.url, "acme", "viewer").count(".") == 2
    with pytest.raises(Unavailable, match="gateway dev"):
        ask_for_token(f"http://127.0.0.1:{free_port(0)}", "acme", "viewer")
