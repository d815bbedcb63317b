"""`gateway changes` and `gateway webhooks` on a sandbox, as a person would run them."""

import http.server
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.dev import aws_variables
from gateway.ops.changes.feed_client import FeedClient
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.dev.supervisor import until_healthy
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.settings import environment_with
from tests.graphql_http import ask

pytestmark = pytest.mark.slow

PLACE = """mutation($n: Int!) { placeOrder(input: {userId: "u-1001", lines: [{productId: "p-1003", quantity: $n}]}) {
  order { orderId } errors { message } } }"""
PATIENCE = 60


@pytest.fixture(scope="module")
def served(sandbox: Sandbox) -> Iterator[tuple[str, str]]:
    """The addresses of a gateway that reads its stream, and of its sandbox."""
    port = free_port(8540)
    stream = {"stream": "inside", "stream_role_arn": sandbox.ready.stream_role_arn}
    settings = sandbox.settings(port=port, log_level="WARNING", **stream)
    child = Child("gateway", "serve", environment=environment_with(settings, aws_variables(sandbox)))
    try:
        until_healthy(child, HOST, port)
        addresses = f"http://{HOST}:{port}", sandbox.url
        _until_caught_up(addresses)
        yield addresses
    finally:
        child.stop()


def _command(served: tuple[str, str], name: str, *given: str) -> "subprocess.Popen[str]":
    url, sandbox = served
    options = ["--tenant", "acme", "--url", f"{url}/changes", "--sandbox", sandbox]
    command = [sys.executable, "-m", "gateway", name, *options, *given]
    # a test run in the background ignores Ctrl-C, and so would the command
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, usual)


def _place(served: tuple[str, str], quantity: int = 1) -> str:
    url, sandbox = served
    token = ask_for_token(sandbox, "acme", "editor")
    placed: Any = ask(f"{url}/graphql", token, PLACE, {"n": quantity})["placeOrder"]
    assert placed["errors"] == []
    return str(placed["order"]["orderId"])


def _position(served: tuple[str, str]) -> str:
    """Where the feed is now."""
    return str(next(_lines(served))["position"])


def _lines(served: tuple[str, str]) -> Iterator[dict[str, Any]]:
    url, sandbox = served
    return FeedClient(f"{url}/changes", "acme", lambda: ask_for_token(sandbox, "acme", "viewer"))._lines()


def _until_caught_up(served: tuple[str, str]) -> None:
    """Until the demo's rows are read: a position from before that may be older than what the process keeps."""
    lines = _lines(served)
    next(lines)
    order = _place(served)
    for line in lines:
        if line.get("type") == "Order" and line["item"]["orderId"] == order:
            return
    pytest.fail("the order was not reported")


def _until_order(running: "subprocess.Popen[str]", order: str) -> str:
    """Reads lines until that of the order, and ends the command as Ctrl-C does; answers the last position."""
    late = threading.Timer(PATIENCE, running.kill)
    late.start()
    assert running.stdout is not None
    try:
        for line in running.stdout:
            change = json.loads(line)
            if change["type"] == "Order" and change["item"]["orderId"] == order:
                break
        else:
            pytest.fail("the order was not reported")
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=PATIENCE)
    finally:
        late.cancel()
    assert (running.returncode, "Traceback" in err) == (0, False)
    return err.strip().rpartition("--after ")[2]


def test_changes_are_printed_and_resumed(served: tuple[str, str]) -> None:
    before = _position(served)
    first = _place(served)
    position = _until_order(_command(served, "changes", "--after", before), first)
    second = _place(served)
    _until_order(_command(served, "changes", "--after", position), second)


def test_it_ends_after_a_limit(served: tuple[str, str]) -> None:
    before = _position(served)
    _place(served)
    running = _command(served, "changes", "--after", before, "--limit", "2")
    out, err = running.communicate(timeout=PATIENCE)
    lines = [json.loads(each) for each in out.splitlines()]
    assert (running.returncode, len(lines)) == (0, 2)
    assert f"continue with --after {lines[-1]['position']}" in err


@pytest.mark.parametrize(
    ("given", "message"),
    [(["--after", "forged"], "position does not belong"), (["--role", "nobody"], "nobody")],
)
def test_what_is_wrong_is_said_in_one_line(served: tuple[str, str], given: list[str], message: str) -> None:
    begun = _command(served, "changes", *given)
    _, err = begun.communicate(timeout=PATIENCE)
    assert begun.returncode == 1
    assert message in err
    assert "Traceback" not in err


class Receiver(http.server.BaseHTTPRequestHandler):
    taken: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012  one for the module
    enough = threading.Event()

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.taken.append((self.headers["webhook-signature"], content))
        self.send_response(200)
        self.end_headers()
        if content["data"]["type"] == "Order":
            self.enough.set()

    def log_message(self, *args: object) -> None:
        pass


def test_webhooks_arrive_and_the_position_is_kept(served: tuple[str, str], tmp_path: Path) -> None:
    receiver = http.server.HTTPServer((HOST, 0), Receiver)
    thread = threading.Thread(target=receiver.serve_forever, daemon=True)
    thread.start()
    secret, state = tmp_path / "secret", tmp_path / "state"
    secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    state.mkdir()
    (state / "position").write_text(_position(served))
    target = f"http://{HOST}:{receiver.server_port}/hooks"
    options = ["--target", target, "--secret-file", str(secret), "--state", str(state), "--allow-private"]
    sending = _command(served, "webhooks", *options)
    try:
        order = _place(served)
        assert Receiver.enough.wait(PATIENCE)
        found = [
            content["data"]["item"]["orderId"] for _, content in Receiver.taken if content["type"] == "order.created"
        ]
        assert order in found
        assert all(signature.startswith("v1,") for signature, _ in Receiver.taken)
    finally:
        sending.send_signal(signal.SIGINT)
        _, err = sending.communicate(timeout=PATIENCE)
        receiver.shutdown()
        thread.join()
        receiver.server_close()
    assert "MfKQ9r8G" not in err
    assert (state / "position").read_text()
    assert not (state / "dead-letters.jsonl").exists()


def test_a_position_is_kept_before_anything_changes(served: tuple[str, str], tmp_path: Path) -> None:
    """What changes between the first start and the second is sent."""
    secret, state = tmp_path / "secret", tmp_path / "state"
    secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    options = ["--target", "https://hooks.example.org/", "--secret-file", str(secret), "--state", str(state)]
    sending = _command(served, "webhooks", *options)
    end = time.monotonic() + PATIENCE
    while not (state / "position").exists() and time.monotonic() < end:
        time.sleep(0.05)
    sending.send_signal(signal.SIGINT)
    sending.communicate(timeout=PATIENCE)
    assert (state / "position").read_text()
