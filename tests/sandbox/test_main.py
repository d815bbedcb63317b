import json
import signal
import threading
from pathlib import Path

import pytest

from gateway.sandbox.__main__ import main, run
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.ready import Options, Ready, from_line
from gateway.sandbox.server import Server, listen


async def _nothing(*arguments: object) -> None: ...


@pytest.fixture
def unfilled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No demo rows, because they take a second."""
    monkeypatch.setattr("gateway.sandbox.assembly.fill", _nothing)


@pytest.mark.usefixtures("unfilled")
async def test_it_says_where_it_is_and_serves_until_it_is_told_to_end() -> None:
    servers: list[Server] = []
    heard: list[Ready] = []
    tokens: list[str] = []

    def announced(ready: Ready) -> None:
        def use() -> None:
            tokens.append(ask_for_token(ready.url, "acme", "viewer"))
            servers[0].should_exit = True

        heard.append(ready)
        threading.Thread(target=use).start()

    await run(Options(port=0, account="321432143214"), announced, servers.append)
    assert heard[0].tenants == ("acme", "globex", "initech")
    assert tokens[0].count(".") == 2


@pytest.mark.usefixtures("unfilled")
async def test_a_taken_port_is_replaced() -> None:
    servers: list[Server] = []
    heard: list[Ready] = []

    def announced(ready: Ready) -> None:
        heard.append(ready)
        servers[0].should_exit = True

    with listen(0) as taken:
        port = taken.getsockname()[1]
        await run(Options(port=port, account="321432140000"), announced, servers.append)
    assert not heard[0].url.endswith(f":{port}")


def test_a_fault_is_said_on_the_line_that_the_parent_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "0", "--policies", str(tmp_path), "--dynamodb-endpoint", "http://127.0.0.1:1"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert "tenant-role.json" in said["error"]


def test_an_engine_that_is_not_there_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "0", "--dynamodb-endpoint", "http://127.0.0.1:1"]) == 1
    assert "the engine at http://127.0.0.1:1/ does not respond" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.usefixtures("unfilled")
def test_a_signal_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    lines: list[str] = []

    def said(line: str) -> None:
        lines.append(line)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("gateway.sandbox.__main__._say", said)
    try:
        assert main(["--port", "0", "--account", "321432141111"]) == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert from_line(json.loads(lines[0])).seeded
