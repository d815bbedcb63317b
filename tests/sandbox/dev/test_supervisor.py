import http.client
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gateway
from gateway.errors import ConfigurationError, Unavailable
from gateway.sandbox.dev.supervisor import changes_under, sources_of, supervise, ticks, until_healthy
from gateway.sandbox.sandbox import Child
from gateway.sandbox.server import HOST, free_port

STUB = "tests.sandbox.stub_gateway"


@pytest.fixture
def port() -> int:
    return free_port(0)


@pytest.fixture
def start(port: int) -> Callable[..., Child]:
    def started(*arguments: str) -> Child:
        return Child(STUB, *arguments, environment={**os.environ, "GATEWAY_HOST": HOST, "GATEWAY_PORT": str(port)})

    return started


def _pid(port: int) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    connection.request("GET", "/")
    found = json.loads(connection.getresponse().read())["pid"]
    connection.close()
    return int(found)


def test_a_change_restarts_the_gateway_and_the_end_stops_it(start: Callable[..., Child], port: int) -> None:
    child = start()
    until_healthy(child, HOST, port)
    seen = [_pid(port)]
    started: list[Child] = []

    def again() -> Child:
        started.append(start())
        until_healthy(started[-1], HOST, port)
        return started[-1]

    def changes() -> Iterator[bool]:
        yield False
        yield True
        seen.append(_pid(port))

    assert supervise(child, again, changes(), print, reload=True) == 0
    assert seen == [child.process.pid, started[0].process.pid]
    assert [one.process.returncode for one in (child, *started)] == [0, 0]


def test_without_reload_it_ends_when_the_gateway_does(start: Callable[..., Child]) -> None:
    child = start("--fail")
    assert supervise(child, start, ticks(), print, reload=False) == 3


def test_with_reload_a_gateway_that_failed_waits_for_the_next_change(start: Callable[..., Child], port: int) -> None:
    failed = start("--fail")
    failed.process.wait(120)
    started: list[Child] = []

    def again() -> Child:
        started.append(start())
        until_healthy(started[-1], HOST, port)
        return started[-1]

    messages: list[str] = []
    assert supervise(failed, again, [False, False, True], messages.append, reload=True) == 0
    ended, restarted = messages
    assert ended == "the gateway has ended; the next change of the code starts it again"
    assert restarted.startswith("the code has changed: restarting the gateway (table, roles and rows stay:")
    assert len(started) == 1


def test_a_gateway_that_does_not_start_is_reported(start: Callable[..., Child], port: int) -> None:
    child = start("--fail")
    with pytest.raises(Unavailable, match="did not start"):
        until_healthy(child, HOST, port)
    child.stop()


def test_a_gateway_that_does_not_answer_is_reported(start: Callable[..., Child]) -> None:
    child = start()
    with pytest.raises(Unavailable, match="did not answer within 0 seconds"):
        until_healthy(child, HOST, free_port(0), seconds=0)
    child.stop()


def test_a_changed_file_is_seen(tmp_path: Path) -> None:
    changes = changes_under(tmp_path)
    assert next(changes) is False
    (tmp_path / "module.py").write_text("changed = True\n")
    assert any(next(changes) for _ in range(200))


def test_a_file_that_an_editor_replaces_is_seen_every_time(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("changed = 0\n")
    changes = changes_under(module)
    for number in range(1, 3):
        assert next(changes) is False
        (tmp_path / "new").write_text(f"changed = {number}\n")
        (tmp_path / "new").rename(module)
        assert any(next(changes) for _ in range(20))


def test_the_sources_of_a_domain_are_its_package_or_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "watched_package" / "inner").mkdir(parents=True)
    (tmp_path / "watched_package" / "__init__.py").touch()
    (tmp_path / "adopter_file.py").touch()
    assert sources_of(["watched_package.inner.domain"]) == {tmp_path / "watched_package"}
    assert sources_of(["adopter_file", "adopter_nothing"]) == {tmp_path / "adopter_file.py"}
    assert sources_of(["gateway.demo.commerce"]) == {Path(gateway.__file__).parent}


def test_without_watchfiles_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'tenant-graphql-gateway\[sandbox\]'"):
        changes_under(tmp_path)
