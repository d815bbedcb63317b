"""The read caches as settings, and in the whole gateway on the sandbox."""

from collections.abc import AsyncIterator
from typing import Any

import boto3
import pytest
from httpx2 import ASGITransport, AsyncClient

from gateway.app import Gateway, build_gateway
from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.model.tenant import tenant_id
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import Settings
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.dax.cluster import Connect, DaxRules
from gateway.store.cache.dax.reads import DaxReads
from gateway.store.cache.layers import Layers
from gateway.wiring.caches import ReadPath, read_path
from tests.fixtures import post
from tests.test_settings import RIGHT

POOLED, OTHER = "daxs://pool.example:9111", "daxs://other.example:9111"
READER = "arn:aws:iam::123456789012:role/shop-dax-reader"
ACCEPTED = {"dax_accept_gateway_only_isolation": True}
SHARED = (
    "tenants share this cluster, and IAM does not isolate them there, because a cluster reads with its own role; "
    "set dax_accept_gateway_only_isolation if you accept that"
)


def made(**changes: Any) -> ReadPath | None:
    return read_path(Settings(**{**RIGHT, **changes}), MODEL, boto3.Session("AKID", "secret", region_name="eu-west-1"))


def faults(**changes: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        made(**changes)
    return caught.value.faults


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dax_endpoint": POOLED}, ["dax_endpoint: has no effect while cache is `off`"]),
        (
            {"cache": "ttl", "dax_endpoint": POOLED},
            ["dax_endpoint: has no effect while cache is `ttl`"],
        ),
        (
            {"cache": "ttl", "silos": {"acme": {"dax_endpoint": OTHER}}},
            ["silos.acme.dax_endpoint: has no effect while cache is `ttl`"],
        ),
        ({"cache": "dax"}, ["cache: `dax` requires dax_endpoint, for the pool or for a silo"]),
        (
            {"cache": "ttl+dax"},
            ["cache: `ttl+dax` requires dax_endpoint, for the pool or for a silo"],
        ),
        ({"cache": "ttl+dax", "dax_endpoint": POOLED}, [f"dax_endpoint: {SHARED}"]),
        ({"cache": "dax", "dax_endpoint": POOLED}, [f"dax_endpoint: {SHARED}"]),
        (
            {"cache": "dax", "silos": {"acme": {"dax_endpoint": OTHER}, "beta": {"dax_endpoint": OTHER}}},
            [f"silos.acme.dax_endpoint: {SHARED}", f"silos.beta.dax_endpoint: {SHARED}"],
        ),
        (
            {"cache": "dax", "dax_role_arn": READER, "silos": {"acme": {"dax_endpoint": OTHER}}},
            ["dax_role_arn: requires dax_endpoint"],
        ),
        (
            {"cache": "dax", "dax_endpoint": POOLED, "silos": {"acme": {"dax_role_arn": READER}}, **ACCEPTED},
            ["silos.acme.dax_role_arn: requires dax_endpoint of the same silo"],
        ),
        (
            {"cache": "dax", "dax_endpoint": "dax://pool.example", **ACCEPTED},
            ["dax_endpoint: `dax://pool.example` must start with daxs:// outside the sandbox"],
        ),
        (
            {
                "cache": "dax",
                "dax_endpoint": POOLED,
                "dax_item_ttl_seconds": 301,
                "dax_query_ttl_seconds": 301,
                **ACCEPTED,
            },
            ["cache: nothing in the model may be as old as dax_item_ttl_seconds or dax_query_ttl_seconds"],
        ),
    ],
)
def test_a_contradiction_is_named(changes: dict[str, Any], said: list[str]) -> None:
    assert faults(**changes) == said


@pytest.mark.parametrize(
    "address", ["https://pool.example", "daxs://", "daxs://user@pool", "daxs://pool/x", "pool:8111"]
)
def test_the_address_of_a_cluster_has_a_form(address: str) -> None:
    with pytest.raises(ConfigurationError, match="daxs://"):
        made(cache="dax", dax_endpoint=address, **ACCEPTED)


def test_it_is_off_unless_it_is_set() -> None:
    assert made() is None


def test_the_cache_of_the_process_needs_no_more() -> None:
    assert isinstance(made(cache="ttl"), ReadCache)


async def test_both_are_set_by_one_word() -> None:
    layers = made(cache="ttl+dax", dax_endpoint=POOLED, **ACCEPTED)
    assert isinstance(layers, Layers)
    assert layers.dax.stats().clusters == {POOLED: "closed"}
    await layers.close()


def test_a_cluster_of_the_pool_needs_an_acceptance() -> None:
    reads = made(cache="dax", dax_endpoint=POOLED, **ACCEPTED)
    assert isinstance(reads, DaxReads)
    assert reads.stats().clusters == {POOLED: "closed"}


async def test_a_cluster_is_read_in_its_reader_role_and_another_one_in_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """DAX answers with the rights of the cluster: the gateway's own role, which is denied `dax:*`, must not sign."""
    signers: dict[str, str] = {}

    def connector(address: str, region: str, session: boto3.Session, rules: DaxRules) -> Connect:
        signers[address] = str(getattr(session.get_credentials(), "method", ""))
        return lambda: None

    monkeypatch.setattr("gateway.wiring.caches.connector", connector)
    silos = {"acme": {"dax_endpoint": OTHER}}
    reads = made(cache="dax", dax_endpoint=POOLED, dax_role_arn=READER, silos=silos, **ACCEPTED)
    assert signers == {POOLED: "assume-role", OTHER: "explicit"}
    assert isinstance(reads, DaxReads)
    await reads.close()


def test_clusters_of_single_tenants_need_no_acceptance() -> None:
    silos = {"acme": {"dax_endpoint": OTHER, "region": "us-east-1"}, "beta": {"dax_endpoint": POOLED}, "gamma": {}}
    reads = made(cache="dax", silos=silos)
    assert isinstance(reads, DaxReads)
    clusters = reads._clusters
    named = [clusters.of(tenant_id(name)) for name in ("acme", "beta", "gamma", "anybody")]
    assert [each and each.name for each in named] == [OTHER, POOLED, None, None]


def test_tenants_are_counted_in_few_groups() -> None:
    cache = made(cache="ttl", silos={"acme": {"table_name": "acme-shop"}})
    assert isinstance(cache, ReadCache)
    for tenant in ("acme", "beta", "gamma"):
        cache.forget(tenant_id(tenant))
    assert set(cache.stats().groups) == {"silo", "pooled"}


@pytest.fixture
async def gateway(sandbox: Sandbox) -> AsyncIterator[Gateway]:
    keys = sandbox.ready.gateway
    aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
    gateway = build_gateway(sandbox.settings(cache="ttl", explain=True), aws)
    yield gateway
    await gateway.close()


async def answer_of(gateway: Gateway, token: str, query: str) -> Any:
    async with AsyncClient(
        transport=ASGITransport(app=gateway.endpoint), base_url="http://gateway", timeout=30
    ) as client:
        return (await post(client, query, None, token, extensions={"explain": True})).json()


QUERY = '{ product(productId: "p-1001") { title price category { title } } }'


def sources(answer: Any) -> list[str]:
    return [call["source"] for call in answer["extensions"]["explain"]["calls"]]


async def test_an_operation_is_answered_without_a_call_until_something_is_written(
    sandbox: Sandbox, gateway: Gateway
) -> None:
    viewer, editor = sandbox.token("acme", "viewer"), sandbox.token("acme", "editor")
    first, second = [await answer_of(gateway, viewer, QUERY) for _ in range(2)]
    assert first["data"] == second["data"]
    assert (sources(first), sources(second)) == (["table", "table"], ["cache", "cache"])
    assert second["extensions"]["explain"]["capacity"] == 0
    mutation = """mutation { updateProduct(input: {productId: "p-1001", title: "Cached hammer"}) {
      product { title } errors { code } } }"""
    await answer_of(gateway, editor, mutation)
    third = await answer_of(gateway, viewer, QUERY)
    assert third["data"]["product"]["title"] == "Cached hammer"
    assert sources(third) == ["table", "cache"]
    other = await answer_of(gateway, sandbox.token("globex", "viewer"), QUERY)
    assert other["data"]["product"]["title"] != "Cached hammer"


async def test_suspending_a_tenant_empties_what_is_kept_of_it(sandbox: Sandbox, gateway: Gateway) -> None:
    assert isinstance(gateway.cache, ReadCache)
    await answer_of(gateway, sandbox.token("globex", "viewer"), QUERY)
    await answer_of(gateway, sandbox.token("initech", "viewer"), QUERY)
    assert gateway.cache.stats().tenants == 2
    gateway.sessions.suspend(tenant_id("globex"))
    assert gateway.cache.stats().tenants == 1
    refused = await answer_of(gateway, sandbox.token("globex", "viewer"), QUERY)
    assert refused["errors"][0]["extensions"]["code"] == "TENANT_SUSPENDED"
