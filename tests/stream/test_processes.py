"""Processes of their own: two that read the stream, two that serve, one of them with workers, and the bus between."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import boto3
import pytest

from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import environment_without
from tests.stream.nats import NatsServer, nats_server
from tests.stream.processes import PATIENCE, GatewayProcess, until

pytestmark = pytest.mark.slow

PRODUCT = '{ product(productId: "p-1001") { title } }'
TENANT = "acme"


@dataclass(frozen=True)
class Deployment:
    sandbox: Sandbox
    bus: NatsServer
    readers: list[GatewayProcess]
    web: list[GatewayProcess]

    def token(self) -> str:
        return self.sandbox.token(TENANT, "viewer")

    def rename(self, title: str) -> None:
        """Past every gateway, so that only the stream tells of it."""
        ready = self.sandbox.ready
        admin = boto3.Session(ready.admin.access_key, ready.admin.secret_key, region_name=ready.region)
        dynamodb = admin.client("dynamodb", endpoint_url=ready.url)
        dynamodb.update_item(
            TableName=ready.table,
            Key={"PK": {"S": f"TENANT#{TENANT}#PRODUCT#p-1001"}, "SK": {"S": "DETAILS"}},
            UpdateExpression="SET title = :title",
            ExpressionAttributeValues={":title": {"S": title}},
        )
        dynamodb.close()

    @property
    def owned(self) -> list[float]:
        return [each.metric("gateway_stream_shards") for each in self.readers if each.process is not None]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    logs = tmp_path_factory.mktemp("processes")
    with ExitStack() as stack:
        bus = stack.enter_context(nats_server(logs))
        sandbox = stack.enter_context(Sandbox(Options(port=0)))
        readers = [GatewayProcess("stream", sandbox, bus, logs / f"stream-{number}.log") for number in range(2)]
        web = [
            GatewayProcess("serve", sandbox, bus, logs / f"web-{workers}.log", cache="ttl", workers=workers)
            for workers in (1, 2)
        ]
        for process in (*readers, *web):
            stack.callback(process.kill)
            process.start()
        until(lambda: all(process.ready for process in (*readers, *web)), "readiness")
        until(lambda: sum(each.metric("gateway_bus_connected") for each in web) == 3, "the bus of each worker")
        yield Deployment(sandbox, bus, readers, web)


def tells(process: GatewayProcess, token: str, title: str) -> bool:
    return bool(process.post(token, PRODUCT)["data"]["product"]["title"] == title)


def cached(process: GatewayProcess, token: str, title: str) -> bool:
    """Whether twenty answers in a row are of a cache; every worker has one of its own."""
    for _ in range(20):
        answer = process.post(token, PRODUCT)
        assert answer["data"]["product"]["title"] == title
        if [call["source"] for call in answer["extensions"]["explain"]["calls"]] != ["cache"]:
            return False
    return True


def test_caches_of_all_processes_and_workers_agree(deployment: Deployment) -> None:
    token = deployment.token()
    deployment.rename("before")
    # every worker of both holds the old title
    for process in deployment.web:
        until(partial(tells, process, token, "before"), "the first title")
        until(partial(cached, process, token, "before"), "its caches")
    notes = sum(each.metric("gateway_bus_notes_total") for each in deployment.web)
    deployment.rename("after")
    # one note for each of three caches
    until(lambda: sum(each.metric("gateway_bus_notes_total") for each in deployment.web) >= notes + 3)
    for process in deployment.web:
        titles = {process.post(token, PRODUCT)["data"]["product"]["title"] for _ in range(20)}
        assert titles == {"after"}, "declared seconds are 60, so this was the note"


def test_one_process_reads_each_shard_and_another_takes_over_when_it_drains(deployment: Deployment) -> None:
    until(lambda: sum(deployment.owned) == 1, "one owner")
    owner = next(each for each in deployment.readers if each.metric("gateway_stream_shards") == 1)
    standby = next(each for each in deployment.readers if each is not owner)
    assert owner.end() == 0
    # the lease was given up: nobody waited until it would have been free
    until(lambda: standby.metric("gateway_stream_shards") == 1, "the next owner", seconds=9)
    owner.start()
    until(lambda: owner.ready)


def test_nothing_is_dropped_and_a_killed_reader_loses_nothing(deployment: Deployment) -> None:
    token = deployment.token()
    until(lambda: sum(deployment.owned) == 1, "one owner")
    owner = next(each for each in deployment.readers if each.metric("gateway_stream_shards") == 1)
    owner.kill()
    deployment.rename("written while nobody reads")
    owner.start()
    for process in deployment.web:
        until(partial(tells, process, token, "written while nobody reads"), "the change")
    until(lambda: all(each.ready for each in deployment.readers))
    for each in deployment.readers:
        assert each.metric("gateway_stream_dropped_total") == 0


def test_without_the_bus_processes_serve_and_catch_up_when_it_is_back(deployment: Deployment) -> None:
    token = deployment.token()
    deployment.bus.kill()
    until(lambda: all(each.metric("gateway_bus_connected") == 0 for each in deployment.web))
    until(lambda: all(each.status("/readyz") == 503 for each in deployment.readers))
    # a restart would not help
    assert all(each.status("/healthz") == 200 for each in deployment.readers)
    assert all(each.ready for each in deployment.web)
    deployment.rename("written while the bus is away")
    assert deployment.web[0].post(token, PRODUCT)["data"]["product"]["title"]
    until(lambda: any(each.metric("gateway_stream_lag_seconds") > 1 for each in deployment.readers), "lag")
    deployment.bus.start()
    for process in deployment.web:
        until(partial(tells, process, token, "written while the bus is away"), "the change")
    assert all(each.metric("gateway_bus_missed_total") == 0 for each in deployment.web)
    until(lambda: all(each.ready for each in deployment.readers))


def test_a_reader_needs_neither_issuers_nor_secrets_of_tenants(deployment: Deployment, tmp_path: Path) -> None:
    process = GatewayProcess("stream", deployment.sandbox, deployment.bus, tmp_path / "log")
    unneeded = ("GATEWAY_CURSOR_SECRET", "GATEWAY_ISSUERS", "GATEWAY_TENANT_ROLE_ARN")
    process.environment = {name: value for name, value in process.environment.items() if name not in unneeded}
    process.start()
    try:
        until(lambda: process.ready)
    finally:
        process.kill()


def test_a_wrong_setting_is_reported_and_nothing_starts(tmp_path: Path) -> None:

    environment = {**environment_without("AWS_"), "GATEWAY_TABLE_NAME": "app", "GATEWAY_REGION": "eu-west-1"}
    result = subprocess.run(
        [sys.executable, "-m", "gateway", "stream"],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert "bus_servers: required" in result.stderr + result.stdout
    assert "issuers" not in result.stderr + result.stdout
