"""The whole gateway on the sandbox, in process: real tokens, real sessions, IAM enforced by the front."""

import asyncio
import gc
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import boto3
import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette
from starlette.routing import Mount

from gateway.app import Services, State, _cors, build_gateway
from gateway.errors import ConfigurationError
from gateway.model.tenant import tenant_id
from gateway.sandbox.sandbox import Sandbox
from gateway.testing.services import MemorySts, fetch_keys, settings, token
from tests.fixtures import CATALOGUES, MemoryGateway, aws, client_of, demo_engine, post, sandbox_app
from tests.unmeasured import unmeasured

QUERY = """{ activeOrders(first: 5) { nodes { orderId note user { name email } lines { title product { price } } } }
  user(userId: "u-1001") { name orders(first: 3) { nodes { orderId } } } }"""


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[AsyncClient]:
    with unmeasured():  # the tests with settings of their own measure how it is made
        app = sandbox_app(sandbox)
    async with client_of(app) as client:
        yield client


async def post_query(client: AsyncClient, token: str, query: str = QUERY) -> Response:
    return await post(client, query, None, token)


async def test_the_landing_page_loads_and_runs_nothing(client: AsyncClient) -> None:
    response = await client.get("/")
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script" not in response.text


async def test_the_landing_page_has_the_command_for_a_token_of_this_sandbox(
    sandbox: Sandbox, client: AsyncClient
) -> None:
    command = f"TOKEN=$(gateway token --tenant acme --role viewer --url {sandbox.url})"
    assert command in (await client.get("/")).text


async def test_metrics_are_a_page_of_the_sandbox_only(sandbox: Sandbox, client: AsyncClient) -> None:
    await post_query(client, sandbox.token("acme", "viewer"))
    await post_query(client, "no token")
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'outcome="UNAUTHENTICATED"} 1.0' in response.text
    assert "gateway_sessions 1.0" in response.text
    assert "gateway_foreign_rows_total 0.0" in response.text
    assert 'gateway_dynamodb_calls_total{index="",operation="BatchGetItem",source="table"}' in response.text


@pytest.mark.parametrize("tenant", ["acme", "globex", "initech"])
async def test_a_tenant_is_served_its_own_data(sandbox: Sandbox, client: AsyncClient, tenant: str) -> None:
    response = await post_query(client, sandbox.token(tenant, "viewer"))
    assert response.json()["data"]["activeOrders"]["nodes"]
    assert "errors" not in response.json()
    for other in CATALOGUES.keys() - {tenant}:
        assert CATALOGUES[other] not in response.text


async def test_a_refused_attribute_is_forbidden_and_the_rest_is_answered(sandbox: Sandbox, client: AsyncClient) -> None:
    content = (await post_query(client, sandbox.token("acme", "support"))).json()
    assert content["data"]["user"]["name"] is None
    assert content["data"]["user"]["orders"]["nodes"]
    assert {error["extensions"]["code"] for error in content["errors"]} == {"FORBIDDEN"}


async def test_an_editor_changes_and_a_viewer_does_not(sandbox: Sandbox, client: AsyncClient) -> None:
    query = """mutation { updateProduct(input: {productId: "p-1001", title: "Hammer"}) {
      product { title version } errors { code } } }"""
    changed = (await post_query(client, sandbox.token("acme", "editor"), query)).json()
    assert changed["data"]["updateProduct"]["product"]["title"] == "Hammer"
    refused = (await post_query(client, sandbox.token("acme", "viewer"), query)).json()
    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    other = (
        await post_query(client, sandbox.token("globex", "viewer"), '{ product(productId: "p-1001") { title } }')
    ).json()
    assert other["data"]["product"]["title"] != "Hammer"


async def test_a_bad_token_gets_401(client: AsyncClient) -> None:
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic x"}):
        response = await client.post("/graphql", json={"query": QUERY}, headers=header)
        assert response.status_code == 401
        assert response.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_a_suspended_tenant_is_refused_at_once(sandbox: Sandbox) -> None:
    async with client_of(sandbox_app(sandbox, suspended_tenants=["acme"])) as client:
        response = await post_query(client, sandbox.token("acme", "viewer"))
        assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "TENANT_SUSPENDED")
        assert (await post_query(client, sandbox.token("globex", "viewer"))).status_code == 200


async def test_an_unknown_tenant_is_refused(sandbox: Sandbox) -> None:
    async with client_of(sandbox_app(sandbox, tenants=["globex", "initech"])) as client:
        response = await post_query(client, sandbox.token("acme", "viewer"))
        assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")


async def test_without_sts_nothing_is_served(sandbox: Sandbox) -> None:
    async with client_of(sandbox_app(sandbox, sts_endpoint="http://127.0.0.1:1")) as client:
        response = await post_query(client, sandbox.token("acme", "viewer"))
        assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (503, "UNAVAILABLE")


async def test_a_silo_whose_table_is_missing_fails_closed(sandbox: Sandbox) -> None:
    async with client_of(sandbox_app(sandbox, silos={"acme": {"table_name": "elsewhere"}})) as client:
        content = (
            await post_query(client, sandbox.token("acme", "viewer"), '{ user(userId: "u-1001") { name } }')
        ).json()
        assert content["data"] == {"user": None}
        assert content["errors"][0]["extensions"]["code"] in {"FORBIDDEN", "UNAVAILABLE"}
        assert (await post_query(client, sandbox.token("globex", "viewer"))).status_code == 200


async def test_health_and_readiness(sandbox: Sandbox) -> None:
    state = State()
    async with client_of(sandbox_app(sandbox, state)) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz?deep=1")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
        state.draining = True
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        assert "/graphql" in (await client.get("/")).text


async def test_health_is_answered_during_an_overload(sandbox: Sandbox) -> None:
    """DynamoDB answers nothing any more, and every place is taken by an operation that waits for it."""
    called = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.set()
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(never, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
    settings: dict[str, Any] = {
        "dynamodb_endpoint": address,
        "readiness_tenant": None,  # so that the first who asks is the query
        "max_concurrent_operations": 1,
        "max_queued_per_tenant": 0,
    }
    token = sandbox.token("acme", "viewer")
    async with silent, client_of(sandbox_app(sandbox, **settings)) as client:
        stuck = asyncio.ensure_future(post_query(client, token))
        await asyncio.wait_for(called.wait(), 30)
        refused = await post_query(client, token)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).status_code == 200
        stuck.cancel()
        await asyncio.wait([stuck])


async def test_cors_is_a_setting(sandbox: Sandbox) -> None:
    ask_first = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    async with client_of(sandbox_app(sandbox, cors_origins=["https://shop.example"])) as client:
        response = await client.options("/graphql", headers=ask_first)
        assert response.headers["access-control-allow-origin"] == "https://shop.example"
        other = await client.options("/graphql", headers={**ask_first, "Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
        answer = await client.get("/healthz", headers={"Origin": "https://shop.example"})
        assert answer.headers["access-control-expose-headers"] == "x-request-id, retry-after, x-consistency-token"
    async with client_of(sandbox_app(sandbox)) as client:
        assert "access-control-allow-origin" not in (await client.options("/graphql", headers=ask_first)).headers


LOCAL = (
    "http://localhost",
    "https://localhost:8443",
    "http://localhost:3000",
    "http://127.0.0.1:5173",
    "http://[::1]:80",
)
STRANGE = ("http://localhost.evil.example", "http://localhost:3000.evil.example", "http://192.168.0.7:3000", "null")


async def test_a_front_end_on_this_machine_may_ask_the_sandbox(sandbox: Sandbox) -> None:
    # Apollo Client names itself, and Sentry traces requests to localhost by default
    headers = "authorization,content-type,traceparent,baggage,sentry-trace,apollographql-client-name"
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": headers}
    async with client_of(sandbox_app(sandbox)) as client:
        for origin in LOCAL:
            response = await client.options("/graphql", headers={"Origin": origin, **preflight})
            assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, origin)
            assert set(headers.split(",")) <= set(response.headers["access-control-allow-headers"].split(","))
            assert "access-control-allow-credentials" not in response.headers
        for origin in (*STRANGE, "http://xlocalhost", "file://localhost", "https://evil.example"):
            response = await client.options("/graphql", headers={"Origin": origin, **preflight})
            assert "access-control-allow-origin" not in response.headers


async def test_production_answers_no_origin_that_is_not_named(sandbox: Sandbox) -> None:
    settings = sandbox.settings().model_copy(update={"environment": "production", "playground": False})
    assert _cors(settings) is None
    named = _cors(settings.model_copy(update={"cors_origins": ["https://shop.example"]}))
    assert named is not None
    assert named["allow_origin_regex"] is None


async def test_answers_say_which_origins_may_read_them(sandbox: Sandbox) -> None:
    headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}", "Origin": "https://shop.example"}
    async with client_of(sandbox_app(sandbox, cors_origins=["https://shop.example"])) as client:
        response = await client.post("/graphql", json={"query": "{ __typename }"}, headers=headers)
        assert response.json() == {"data": {"__typename": "Query"}}
        assert response.headers["access-control-allow-origin"] == "https://shop.example"
        assert response.headers["access-control-expose-headers"] == "x-request-id, retry-after, x-consistency-token"


async def test_it_can_be_mounted_in_another_app(sandbox: Sandbox) -> None:
    app = sandbox_app(sandbox)
    outer = Starlette(routes=[Mount("/api", app)])
    headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}"}
    transport = ASGITransport(app=outer)
    async with app.lifespan(), AsyncClient(transport=transport, base_url="http://gateway", timeout=30) as client:
        response = await client.post("/api/graphql", json={"query": "{ __typename }"}, headers=headers)
        assert response.json() == {"data": {"__typename": "Query"}}
        assert (await client.get("/api/healthz")).json() == {"status": "ok"}
        assert (await client.post("/graphql", json={"query": "{ __typename }"}, headers=headers)).status_code == 404


async def test_while_it_runs_older_objects_are_collected_by_a_timer_only(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each collection of them stops the process, and with it every tenant."""
    monkeypatch.setattr("gateway.app._COLLECTION_SECONDS", 0.01)
    before, by_timer = gc.get_threshold(), asyncio.Event()
    generations: list[int] = []

    def collected(phase: str, info: dict[str, int]) -> None:
        generations.append(info["generation"])
        if generations.count(1) > 2:
            by_timer.set()

    async with sandbox_app(sandbox).lifespan():
        assert gc.get_threshold()[1] >= 1_000_000
        gc.callbacks.append(collected)
        try:
            await asyncio.wait_for(by_timer.wait(), 60)
        finally:
            gc.callbacks.remove(collected)
    assert gc.get_threshold() == before


async def test_the_guide_mounts_it_with_its_lifespan_and_its_links(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "docs" / "your-own-domain.md").read_text()
    [source] = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Mount(" in text]
    inner = MemoryGateway()
    monkeypatch.setattr("gateway.load_settings", lambda: inner.settings)
    monkeypatch.setattr("gateway.create_app", lambda settings: inner.app)
    known: dict[str, Any] = {}
    exec(source, known)  # noqa: S102  the page is ours
    outer: Starlette = known["app"]
    transport = ASGITransport(app=outer)
    async with (
        outer.router.lifespan_context(outer),
        AsyncClient(transport=transport, base_url="http://gateway") as client,
    ):
        headers = {"Authorization": f"Bearer {token()}"}
        response = await client.post("/api/graphql", json={"query": "{ __typename }"}, headers=headers)
        assert response.json() == {"data": {"__typename": "Query"}}
        landing = (await client.get("/api/")).text
        links = [urljoin("/api/", link) for link in re.findall(r'<a href="([^"]*)"', landing)]
        assert "/api/healthz" in links
        assert {(await client.get(link)).status_code for link in links} <= {200, 503}


async def test_below_a_mount_the_playground_and_the_front_end_find_the_gateway(sandbox: Sandbox) -> None:
    outer = Starlette(routes=[Mount("/api", sandbox_app(sandbox))])
    transport = ASGITransport(app=outer)
    async with AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", follow_redirects=True) as client:
        for name in ("playground", "demo"):
            page = await client.get(f"/api/{name}")
            assert page.url.path == f"/api/{name}/"
            found = re.findall(r'(?:src|href)="([^"]*assets[^"]*)"', page.text)
            assert found
            scripts = [await client.get(urljoin(page.url.path, address)) for address in found]
            assert {script.status_code for script in scripts} == {200}
            code = "".join(script.text for script in scripts)
            fetched = set(re.findall(r"""["'`]((?:\.\.)?/?(?:graphql|config\.json))["'`]""", code))
            assert {"../graphql", "config.json"} <= fetched
            assert "/graphql" not in fetched
            config = (await client.get(urljoin(page.url.path, "config.json"))).json()
            tokens = urljoin(page.url.path, (config.get("sandbox") or config)["tokens"])
            assert tokens == "/api/sandbox/token"
            assert (await client.post(tokens, json={"tenant": "acme", "role": "viewer"})).json()["token"]


async def test_suspending_a_tenant_refuses_whoever_is_remembered(sandbox: Sandbox) -> None:
    keys = sandbox.ready.gateway
    aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
    gateway = build_gateway(sandbox.settings(), aws)
    transport = ASGITransport(app=gateway.endpoint)
    async with AsyncClient(transport=transport, base_url="http://gateway", timeout=30) as client:
        token = sandbox.token("acme", "viewer")
        for _ in range(2):
            assert "errors" not in (await post_query(client, token)).json()
        gateway.sessions.suspend(tenant_id("acme"))
        response = await post_query(client, token)
    await gateway.close()
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "TENANT_SUSPENDED")


async def test_services_are_closed_with_the_gateway() -> None:
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    gateway = build_gateway(settings(), aws(), services=Services(demo_engine(), MemorySts(), fetch_keys, close))
    assert closed == []
    await gateway.close()
    assert closed == [True]


def test_policies_that_are_missing_or_changed_stop_the_start(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        sandbox_app(sandbox, policies_dir=tmp_path)


@pytest.mark.parametrize(
    ("limit", "query", "variables"),
    [
        ({"max_cost": 5}, "{ activeOrders(first: 50) { nodes { orderId } } }", {}),
        ({"max_cost_by_role": {"viewer": 5}}, "{ activeOrders(first: 50) { nodes { orderId } } }", {}),
        ({"max_root_fields": 1}, "{ __typename a: __typename }", {}),
        ({"max_directives": 1}, "{ __typename @skip(if: true) @include(if: true) }", {}),
        ({"max_list_length": 1}, "query ($ids: [ID!]!) { users(userIds: $ids) { name } }", {"ids": ["a", "b"]}),
    ],
)
async def test_limits_are_settings(sandbox: Sandbox, limit: Any, query: str, variables: Any) -> None:
    headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}"}
    body = {"query": query, "variables": variables}
    async with client_of(sandbox_app(sandbox, **limit)) as client:
        response = await client.post("/graphql", json=body, headers=headers)
        assert response.json()["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_only_trusted_documents_is_a_setting(sandbox: Sandbox, tmp_path: Path) -> None:
    manifest = tmp_path / "documents.json"
    manifest.write_text('{"hello": "{ __typename }"}')
    headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}"}
    async with client_of(
        sandbox_app(sandbox, trusted_documents=manifest, trusted_documents_only=True, playground=False)
    ) as client:
        trusted = await client.post("/graphql", json={"documentId": "hello"}, headers=headers)
        assert trusted.json() == {"data": {"__typename": "Query"}}
        other = await client.post("/graphql", json={"query": QUERY}, headers=headers)
        assert other.json()["errors"][0]["extensions"]["code"] == "UNTRUSTED_DOCUMENT"


async def test_answers_are_packed_from_a_size_on(sandbox: Sandbox) -> None:
    headers = {"Authorization": f"Bearer {sandbox.token('acme', 'viewer')}", "Accept-Encoding": "gzip"}
    for size, encoding in ((0, "gzip"), (10_000, None)):
        async with client_of(sandbox_app(sandbox, gzip_min_bytes=size)) as client:
            response = await client.post("/graphql", json={"query": "{ __typename }"}, headers=headers)
            assert response.headers.get("content-encoding") == encoding
            assert response.json() == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize("path", ["/graphql/", "/healthz/", "//elsewhere.example/graphql/"])
async def test_nobody_is_sent_elsewhere(client: AsyncClient, path: str) -> None:
    """A redirect would be built of the Host that the caller sent, and of http behind a load balancer."""
    response = await client.post(f"http://gateway{path}", headers={"Host": "elsewhere.example"})
    assert response.status_code == 404
    assert "location" not in response.headers


async def test_metrics_show_how_queries_were_run(sandbox: Sandbox) -> None:
    token = sandbox.token("acme", "viewer")
    async with client_of(sandbox_app(sandbox)) as client:
        for _ in range(4):
            await post_query(client, token)
        page = (await client.get("/metrics")).text
    assert 'gateway_queries_total{execution="reference"} 2.0' in page
    assert 'gateway_queries_total{execution="lane"} 2.0' in page


async def test_sessions_are_warmed_up_at_start(sandbox: Sandbox) -> None:
    app = sandbox_app(sandbox, tenants=["acme", "globex"], warm_up_roles=["viewer"])
    async with client_of(app) as client:
        for _ in range(2_000):
            if "gateway_sessions 2.0" in (await client.get("/metrics")).text:
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail("the sessions were not opened")
        assert (await post_query(client, sandbox.token("acme", "viewer"))).status_code == 200


def test_a_role_that_does_not_exist_is_not_warmed_up(sandbox: Sandbox) -> None:
    with pytest.raises(ConfigurationError, match="warm_up_roles: there is no role `chef`"):
        sandbox_app(sandbox, tenants=["acme"], warm_up_roles=["chef"])
