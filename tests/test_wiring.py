"""What the settings become; here the pages for people, which production has only where they are asked for."""

from pathlib import Path
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette

from gateway.demo import MODEL
from gateway.errors import ConfigurationError, UntrustedDocument
from gateway.graph.http.request import GraphQLRequest
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.schema.schema import core_schema
from gateway.model.role import ALL, Role
from gateway.model.tenant import tenant_id
from gateway.ops.metrics.metrics import Metrics
from gateway.settings import Settings
from gateway.wiring.metrics import metrics_page
from gateway.wiring.operations import cost_limits, persisted
from gateway.wiring.pages import playground, sandbox_pages
from gateway.wiring.tenants import check_roles, pools
from tests.graph.fixtures import SCHEMA
from tests.model.build import model, thing
from tests.test_settings import ISSUER, RIGHT

SANDBOX: dict[str, Any] = {
    "environment": "sandbox",
    "playground": True,
    "explain": True,
    "introspection": True,
    # nobody listens there, whatever else runs on this machine
    "issuers": [{**ISSUER, "issuer": "http://127.0.0.1:1/issuer"}],
}


async def get(settings: Settings, path: str, method: str = "GET") -> Response:
    app = Starlette(routes=[*playground(settings), *sandbox_pages(settings)])
    async with AsyncClient(
        transport=ASGITransport(app=app), base_url="http://127.0.0.1:8000", follow_redirects=True
    ) as client:
        body = {"tenant": "acme", "role": "viewer"}
        return await client.request(method, path, json=body if method == "POST" else None)


@pytest.mark.parametrize("environment", ["production", "sandbox"])
async def test_it_is_off_unless_it_is_set(environment: str) -> None:
    settings = Settings(**{**RIGHT, "environment": environment})
    for path in ("/playground", "/playground/", "/playground/config.json", "/sandbox/token", "/demo"):
        assert (await get(settings, path)).status_code == 404


@pytest.mark.parametrize(("environment", "paths"), [("production", []), ("sandbox", ["/metrics"])])
def test_metrics_are_a_page_in_the_sandbox_and_a_port_of_their_own_in_production(
    environment: str, paths: list[str]
) -> None:
    # INVARIANT: nobody is asked for a token there, so production never serves them beside the API
    settings = Settings(**{**RIGHT, "environment": environment, "metrics_port": 9_000})
    assert [route.path for route in metrics_page(settings, Metrics())] == paths


async def test_in_production_it_knows_neither_tenants_nor_examples_and_gives_no_tokens() -> None:
    settings = Settings(**{**RIGHT, "playground": True, "introspection": True})
    assert (await get(settings, "/playground")).status_code == 200
    assert (await get(settings, "/playground/config.json")).json() == {
        "explain": False,
        "sandbox": None,
        "examples": [],
        "query": "{ __typename }",
    }
    # INVARIANT: production has no route that gives tokens
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 404


async def test_in_production_it_says_whether_operations_are_explained() -> None:
    settings = Settings(**{**RIGHT, "playground": True, "introspection": True, "explain": True})
    assert (await get(settings, "/playground/config.json")).json()["explain"] is True


async def test_in_the_sandbox_it_speaks_of_the_domain_that_is_served() -> None:
    settings = Settings(**{**RIGHT, **SANDBOX, "domains": ["gateway.demo.devices"]})
    config = (await get(settings, "/playground/config.json")).json()
    assert config["query"].startswith("{ allDevices(")
    assert {example["domain"] for example in config["examples"]} == {"devices"}
    assert [tenant["name"] for tenant in config["sandbox"]["tenants"]] == ["acme", "globex", "initech"]
    assert (await get(settings, "/demo")).status_code == 404


async def test_in_the_sandbox_it_comes_with_a_switcher_and_examples() -> None:
    settings = Settings(**{**RIGHT, **SANDBOX})
    config = (await get(settings, "/playground/config.json")).json()
    assert config["sandbox"]["tokens"] == "../sandbox/token"
    assert {example["domain"] for example in config["examples"]} >= {"commerce"}
    # there is no issuer in this test, but there is somebody who would ask it
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 503


async def test_a_sandbox_with_another_issuer_asks_for_a_token() -> None:
    settings = Settings(**{**RIGHT, **SANDBOX, "issuers": [ISSUER]})
    assert (await get(settings, "/playground/config.json")).json()["sandbox"] is None
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 404


async def test_the_order_desk_is_told_whom_it_can_serve() -> None:
    settings = Settings(**{**RIGHT, **SANDBOX, "playground": False})
    assert (await get(settings, "/demo")).status_code == 200
    offered = (await get(settings, "/demo/config.json")).json()
    assert [tenant["name"] for tenant in offered["tenants"]] == ["acme", "globex", "initech"]
    assert offered["tokens"] == "../sandbox/token"
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 503


async def test_production_has_no_order_desk_even_with_the_sandboxs_issuer() -> None:
    """INVARIANT: only a gateway whose environment is the sandbox has this page."""
    issuer = {**ISSUER, "issuer": "http://127.0.0.1:8001/issuer"}
    settings = Settings(**{**RIGHT, "playground": True, "introspection": True, "issuers": [issuer]})
    for path in ("/demo", "/demo/", "/demo/config.json"):
        assert (await get(settings, path)).status_code == 404
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 404


async def test_without_the_domain_that_it_shows_there_is_no_order_desk() -> None:
    settings = Settings(**{**RIGHT, **SANDBOX, "domains": ["gateway.demo.devices"]})
    assert (await get(settings, "/demo")).status_code == 404
    assert (await get(settings, "/sandbox/token", "POST")).status_code == 503


def test_a_cost_limit_of_an_unknown_role_is_refused() -> None:
    limits = cost_limits(Settings(**{**RIGHT, "max_cost": 50, "max_cost_by_role": {"support": 5}}), MODEL)
    assert (limits.units, limits.by_role) == (50, {"support": 5})
    with pytest.raises(ConfigurationError, match="max_cost_by_role: there is no role `suport`"):
        cost_limits(Settings(**{**RIGHT, "max_cost_by_role": {"suport": 5}}), MODEL)


def test_trusted_documents_are_read_and_checked_when_the_gateway_is_made(tmp_path: Path) -> None:
    schema = core_schema(SCHEMA)
    documents = Documents(MODEL, schema, DocumentLimits(), introspection=False)
    path = tmp_path / "documents.json"
    path.write_text('{"abc": "{ __typename }"}')
    settings = Settings(**{**RIGHT, "trusted_documents": path, "trusted_documents_only": True})
    request = GraphQLRequest(None, document_id="abc")
    assert persisted(settings, documents).text(tenant_id("acme"), request) == "{ __typename }"
    with pytest.raises(UntrustedDocument):
        persisted(settings, documents).text(tenant_id("acme"), GraphQLRequest("{ a: __typename }"))
    path.write_text('{"abc": "{ gone }"}')
    with pytest.raises(ConfigurationError, match="`abc`"):
        persisted(settings, documents)
    assert persisted(Settings(**RIGHT), documents).text(tenant_id("acme"), GraphQLRequest("{ a }")) == "{ a }"


def test_the_shared_table_is_checked_as_the_named_tenant_and_each_silo_as_itself() -> None:
    silos = {"acme": {"table_name": "acme-table"}, "globex": {}}
    settings = Settings(**{**RIGHT, "readiness_tenant": "probe", "silos": silos, "suspended_tenants": ["globex"]})
    found = [(pool.name, pool.tenant, pool.tenancy.table, pool.required) for pool in pools(settings)]
    assert found == [("pooled", "probe", settings.table_name, True), ("silo acme", "acme", "acme-table", False)]
    assert pools(Settings(**RIGHT)) == []


SUPPORT = {"support_revocations": "/run/revoked"}
VIEWERS = model(thing(), roles=(Role(name="viewer", description="May read everything.", reads=ALL),))


def test_a_machine_has_only_roles_that_exist() -> None:
    issuer = {**ISSUER, "preset": "okta", "client_roles": {"robot": {"roles": ["viewer", "nobody"]}}}
    with pytest.raises(ConfigurationError) as caught:
        check_roles(Settings(**{**RIGHT, "issuers": [issuer]}), VIEWERS)
    assert caught.value.faults == ["issuers.0.client_roles.robot: there is no role `nobody`"]


def test_a_role_map_leads_to_roles_that_exist() -> None:
    issuer = {**ISSUER, "role_map": {"reader": "viewer", "writer": "edtior"}}
    with pytest.raises(ConfigurationError) as caught:
        check_roles(Settings(**{**RIGHT, "issuers": [issuer]}), VIEWERS)
    assert caught.value.faults == ["issuers.0.role_map.writer: there is no role `edtior`"]


def test_support_access_has_a_role_that_exists_outside_the_sandbox() -> None:
    values = {**RIGHT, **SUPPORT, "issuers": [{**ISSUER, "support": {}}]}
    with pytest.raises(ConfigurationError) as caught:
        check_roles(Settings(**values), VIEWERS)
    assert caught.value.faults == ["issuers.0.support: there is no role `support`"]
    check_roles(Settings(**{**values, "environment": "sandbox"}), VIEWERS)
