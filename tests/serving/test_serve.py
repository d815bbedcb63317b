"""The process: it starts, answers and stops; what is under way is finished."""

import asyncio
import http.client
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Self
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from gateway.cli.dev import aws_variables
from gateway.cli.main import app
from gateway.errors import ConfigurationError
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import free_port, listen
from gateway.serving.acceptor import bound
from gateway.settings import environment_with

# how long a busy machine may take for anything; nothing waits that long unless it fails
PATIENCE = 300.0
# longer than the whole test: what ends earlier does not end because of the time
NEVER = 120


class Served:
    """`gateway serve` as a child process, which ends with this block and with the test runner."""

    def __init__(self, sandbox: Sandbox, **changes: Any) -> None:
        self.port = free_port(0)
        settings = sandbox.settings(port=self.port, **{"request_timeout_seconds": 60, **changes})
        environment = environment_with(settings, aws_variables(sandbox))
        self._child = Child("gateway", "serve", environment=environment, piped=True, errors_too=True)
        self.process = self._child.process

    def __enter__(self) -> Self:
        try:
            self.until(lambda: self.status("/readyz") == 200)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self.process.kill()
        self._child.stop()

    def status(self, path: str) -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            try:
                connection.request("GET", path)
                return connection.getresponse().status
            except OSError:
                return 0

    def post(self, token: str, query: str) -> Any:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request("POST", "/graphql", json.dumps({"query": query}), headers)
            return json.loads(connection.getresponse().read())

    @contextmanager
    def begun(self, token: str, query: str) -> Iterator[Callable[[], Any]]:
        """A request that the gateway has begun with and whose body it waits for; the answer comes with the body."""
        body = json.dumps({"query": query}).encode()
        head = f"POST /graphql HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {token}\r\nExpect: 100-continue\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(head.encode())
            assert connection.recv(1_000).startswith(b"HTTP/1.1 100 ")

            def finish() -> Any:
                connection.sendall(body)
                response = http.client.HTTPResponse(connection)
                response.begin()
                return json.loads(response.read())

            yield finish

    def until(self, holds: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert self.process.poll() is None, "the gateway has ended"
            assert time.monotonic() < end
            time.sleep(0.1)

    def end(self) -> str:
        """What it wrote until its end. Its standard input stays open: closing that would end it too."""
        late = threading.Timer(PATIENCE, self.process.kill)
        late.start()
        assert self.process.stdout is not None
        out = str(self.process.stdout.read(), "utf-8")
        self.process.wait()
        late.cancel()
        return out


def test_a_stop_drains_first_and_finishes_what_is_under_way(sandbox: Sandbox) -> None:
    token = sandbox.token("acme", "viewer")
    with Served(sandbox, drain_timeout_seconds=NEVER) as served:
        assert served.post(token, "{ categories { nodes { title } } }")["data"]
        served.process.send_signal(signal.SIGTERM)
        served.until(lambda: served.status("/readyz") == 503)
        assert served.status("/healthz") == 200, "it still serves while it drains"
        with served.begun(token, "{ activeOrders(first: 20) { nodes { orderId user { name } } } }") as finish:
            served.process.send_signal(signal.SIGTERM)
            served.until(lambda: served.status("/healthz") == 0)
            answer = finish()
        lines = [json.loads(line) for line in served.end().splitlines()]
    assert answer["data"]["activeOrders"]["nodes"]
    assert served.process.returncode == 0
    assert (lines[0]["message"], lines[0]["port"]) == ("serving", served.port)
    operations = [line for line in lines if line["logger"] == "gateway.operation"]
    assert [line["status"] for line in operations] == [200, 200]
    assert token not in json.dumps(lines)


@pytest.mark.slow
def test_metrics_have_a_port_of_their_own(sandbox: Sandbox) -> None:
    port = free_port(0)
    token = sandbox.token("acme", "viewer")
    with Served(sandbox, metrics_port=port, cache="ttl", drain_timeout_seconds=0) as served:
        for _ in range(2):
            served.post(token, 'query Shop { product(productId: "p-1001") { title } }')
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/metrics")
            page = connection.getresponse().read().decode()
        served.process.send_signal(signal.SIGTERM)
        served.end()
    assert served.process.returncode == 0
    assert 'operation="Shop",outcome="OK"} 2.0' in page
    assert 'gateway_cache_reads_total{group="pooled",result="hit"} 1.0' in page
    assert "acme" not in page


def refused(environment: Mapping[str, str]) -> str:
    """What `gateway serve` says that does not start with these variables; in this process, where it ends sooner."""
    with patch.dict(os.environ, environment, clear=True):
        result = CliRunner().invoke(app, ["serve"])
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit), "an error without a traceback"
    return result.stderr


def test_all_faults_of_the_settings_are_reported_at_once(sandbox: Sandbox) -> None:
    """Wrong values, contradictions between the others, files, and ports in use."""
    with listen(0) as taken, listen(0) as also_taken:
        port, metrics_port = taken.getsockname()[1], also_taken.getsockname()[1]
        settings = sandbox.settings(port=port, metrics_port=metrics_port, readiness_tenant=None)
        wrong = {
            "GATEWAY_MAX_PAGE_SIZE": "0",
            "GATEWAY_TABEL_NAME": "misspelt",
            "GATEWAY_SUSPENDED_TENANTS": '["nobody"]',
            "GATEWAY_POLICIES_DIR": "/nowhere",
            "GATEWAY_MAX_COST_BY_ROLE": '{"emperor": 5}',
            "GATEWAY_TENANTS": '["acme"]',
            "GATEWAY_WARM_UP_ROLES": '["ghost"]',
            "GATEWAY_TRUSTED_DOCUMENTS": "/nowhere.json",
        }
        said = refused({**environment_with(settings, aws_variables(sandbox)), **wrong})
    for message in (
        "max_page_size: ",
        "GATEWAY_TABEL_NAME: unknown setting",
        "tenants: `nobody` is missing, but silos or suspended_tenants names it",
        "/nowhere",
        "max_cost_by_role: there is no role `emperor`",
        "warm_up_roles: there is no role `ghost`",
        "trusted_documents: `/nowhere.json` cannot be read",
        f"port: cannot listen on 127.0.0.1:{port}: Address already in use",
        f"metrics_port: cannot listen on 127.0.0.1:{metrics_port}: Address already in use",
    ):
        assert message in said, message


def test_ports_in_use_are_named_where_nothing_else_is_wrong(sandbox: Sandbox) -> None:
    with listen(0) as taken, listen(0) as also_taken:
        port, metrics_port = taken.getsockname()[1], also_taken.getsockname()[1]
        settings = sandbox.settings(port=port, metrics_port=metrics_port)
        said = refused(environment_with(settings, aws_variables(sandbox)))
    assert f"port: cannot listen on 127.0.0.1:{port}: Address already in use" in said
    assert f"metrics_port: cannot listen on 127.0.0.1:{metrics_port}: Address already in use" in said


def test_an_address_of_another_machine_is_named() -> None:
    raised = pytest.raises(ConfigurationError, match=r"^port: cannot listen on 192\.0\.2\.1:8080: Cannot assign")
    with raised, bound("port", "192.0.2.1", 8080):
        pass


def test_of_two_that_start_on_one_port_the_second_is_told_so() -> None:
    """Both may bind it while neither listens, as two first `gateway dev` in one folder do."""
    with bound("port", "127.0.0.1", 0) as (first,):
        port = first.getsockname()[1]
        raised = pytest.raises(ConfigurationError, match=f"^port: cannot listen on 127.0.0.1:{port}: Address already")
        with raised, bound("port", "127.0.0.1", port):
            pass


@pytest.mark.slow
def test_sighup_is_a_stop_that_drains(sandbox: Sandbox) -> None:
    with Served(sandbox, drain_timeout_seconds=NEVER) as served:
        served.process.send_signal(signal.SIGHUP)
        served.until(lambda: served.status("/readyz") == 503)
        assert served.post(sandbox.token("acme", "viewer"), "{ __typename }")["data"]
        served.process.send_signal(signal.SIGHUP)
        served.end()
    assert served.process.returncode == 0


@pytest.mark.slow
def test_under_nohup_a_hangup_changes_nothing_and_ctrl_c_stops_at_once(sandbox: Sandbox) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        served = Served(sandbox, drain_timeout_seconds=NEVER)
    finally:
        signal.signal(signal.SIGHUP, before)
    with served:
        served.process.send_signal(signal.SIGHUP)
        assert served.status("/readyz") == 200
        served.process.send_signal(signal.SIGINT)
        served.end()
    assert served.process.returncode == 0


@pytest.mark.slow
def test_a_second_ctrl_c_cuts_off_what_is_under_way_without_a_traceback(sandbox: Sandbox) -> None:
    with listen(0) as silent:  # takes connections and never answers
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        # without a tenant for readiness, so that the first connection is the query's
        with Served(sandbox, dynamodb_endpoint=endpoint, readiness_tenant=None) as served:
            token = sandbox.token("acme", "viewer")
            with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                query = '{ user(userId: "u-1001") { name } }'
                connection.request("POST", "/graphql", json.dumps({"query": query}), headers)
                taken, _ = silent.accept()  # so it is under way
                served.process.send_signal(signal.SIGINT)
                served.until(lambda: served.status("/readyz") == 0)
                assert served.process.poll() is None, "the first one lets it finish"
                served.process.send_signal(signal.SIGINT)
                said = served.end()
                taken.close()
    assert served.process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in said


def test_a_wrong_setting_ends_the_start_with_a_list() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAY_")}
    assert "table_name" in refused(environment)


async def test_the_server_drains_before_it_stops() -> None:
    import uvicorn

    from gateway.app import State
    from gateway.serving.serve import DrainingServer

    state = State()
    server = DrainingServer(uvicorn.Config(lambda scope: None), state, 0.0)
    server._signalled(signal.SIGTERM, 1)
    assert state.draining
    assert not server.should_exit
    await asyncio.sleep(0)
    assert await server.on_tick(0)
    again = DrainingServer(uvicorn.Config(lambda scope: None), State(draining=True), 60.0)
    again._signalled(signal.SIGTERM, 2)
    assert again.should_exit
