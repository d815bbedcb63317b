"""Readiness of the whole gateway on the sandbox: what is wrong behind it is named, each by its name."""

import asyncio
from functools import partial
from typing import Any

import boto3
import pytest
from httpx2 import AsyncClient

from gateway.demo import MODEL
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import free_port
from tests.fixtures import client_of, sandbox_app


async def _started(client: AsyncClient) -> int:
    """The status of the shallow check once the first deep one is over."""
    await client.get("/readyz?deep=1")
    return (await client.get("/readyz")).status_code


async def test_it_is_ready_when_all_is_reached(sandbox: Sandbox) -> None:
    async with client_of(sandbox_app(sandbox)) as client:
        deep = await client.get("/readyz?deep=1")
        assert (deep.status_code, deep.json()["pooled"]) == (200, "ok")
        assert (await client.get("/readyz")).json() == {"status": "ready"}
        assert "gateway_ready 1.0" in (await client.get("/metrics")).text


WRONG: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "table": ({"table_name": "elsewhere"}, "table", "table", "the role may not read `elsewhere` in `eu-west-1`"),
    "region": ({"region": "eu-west-2"}, "session", "region", "STS does not serve `eu-west-2`"),
    "role": (
        {"tenant_role_arn": "arn:aws:iam::123456789012:role/nobody"},
        "session",
        "role",
        "`arn:aws:iam::123456789012:role/nobody` cannot be assumed",
    ),
    "dynamodb": (
        {"dynamodb_endpoint": "http://127.0.0.1:1"},
        "table",
        "endpoint",
        "`http://127.0.0.1:1` does not respond",
    ),
    "sts": ({"sts_endpoint": "http://127.0.0.1:1"}, "session", "endpoint", "STS in `eu-west-1` does not respond"),
}


@pytest.mark.parametrize(("changes", "where", "cause", "expected"), WRONG.values(), ids=WRONG.keys())
async def test_what_is_wrong_is_named_and_requests_are_not_taken(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], where: str, cause: str, expected: str
) -> None:
    async with client_of(sandbox_app(sandbox, **changes)) as client:
        deep = await client.get("/readyz?deep=1")
        assert deep.status_code == 503
        assert deep.json()["pooled"] == [{"where": where, "cause": cause}]
        assert (await client.get("/readyz")).json() == {"status": "starting"}
        assert (await client.get("/healthz")).status_code == 200, "it lives, and may recover"
    assert expected in caplog.text


@pytest.mark.slow
async def test_a_missing_index_is_named(caplog: pytest.LogCaptureFixture) -> None:
    gone = MODEL.table.indexes[-1].name
    with Sandbox(Options(port=0)) as sandbox:
        keys = sandbox.ready.admin
        admin = boto3.client(
            "dynamodb",
            region_name=sandbox.ready.region,
            endpoint_url=sandbox.url,
            aws_access_key_id=keys.access_key,
            aws_secret_access_key=keys.secret_key,
        )
        admin.update_table(TableName=sandbox.ready.table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": gone}}])
        admin.close()
        async with client_of(sandbox_app(sandbox)) as client:
            assert await _started(client) == 503
            deep = await client.get("/readyz?deep=1")
            assert deep.json()["pooled"] == [{"where": f"index {gone}", "cause": "index"}]
    assert f"index `{gone}` of `{sandbox.ready.table}` cannot be read: it does not exist" in caplog.text


async def test_an_outage_that_passes_makes_it_ready_later(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.ops.readiness.readiness._FIRST_PAUSE", 0.05)
    pass_on = partial(_pass_on, int(sandbox.url.rpartition(":")[2]))
    port = free_port(0)
    async with client_of(sandbox_app(sandbox, dynamodb_endpoint=f"http://127.0.0.1:{port}")) as client:
        assert await _started(client) == 503
        async with await asyncio.start_server(pass_on, "127.0.0.1", port), asyncio.timeout(60):
            await _until_ready(client)
        assert (await client.get("/readyz")).status_code == 200, "and it stays so"


async def _until_ready(client: AsyncClient) -> None:
    while True:
        if (await client.get("/readyz")).status_code == 200:
            return
        await asyncio.sleep(0.05)


async def _pass_on(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)

    async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(65_536):
            sink.write(piece)
        sink.close()

    await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer), return_exceptions=True)


async def test_a_silo_that_is_wrong_is_counted_and_the_others_are_served(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(sandbox_app(sandbox, silos={"acme": {"table_name": "elsewhere"}})) as client:
        deep = await client.get("/readyz?deep=1")
        assert deep.status_code == 200
        assert deep.json()["silos"] == {"checked": 1, "failed": 1}
        assert (await client.get("/readyz")).status_code == 200
    assert "silo acme, table: table_name: the role may not read `elsewhere`" in caplog.text
