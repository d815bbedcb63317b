"""Runs the isolation proof on a fresh sandbox, or on the account that the settings name."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import boto3

from gateway.app import Gateway, build_gateway
from gateway.aws.sts.callers import LastingCaller
from gateway.aws.sts.session import Session
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT
from gateway.model.demo import demo_tenants
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId, tenant_id, tenant_of
from gateway.ops.isolation.attack import Ground, ProbeResult
from gateway.ops.isolation.prove import proof
from gateway.ops.isolation.report import ProofReport
from gateway.ops.isolation.watch_probes import WatchGround, prove_watches
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.dev.seeds import DynamoItem, canary
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import DEMO_DOMAINS, Settings

WatchProof = Callable[[Mapping[TenantId, Session]], Awaitable[tuple[ProbeResult, ...]]]


async def prove_on_sandbox(domains: Sequence[str] = ()) -> ProofReport:
    """Proves it for these domains, or for the demo domains, with the policies generated from their model."""
    served = tuple(domains) or DEMO_DOMAINS
    # thousands of denials are expected; the report lists those that are missing
    with Sandbox(Options(port=0, log="WARNING", domains=served)) as sandbox:
        keys = sandbox.ready.gateway
        aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
        # GATEWAY_DOMAINS in the environment must not make it serve other domains than the proved ones
        stream = {"stream": "inside", "stream_role_arn": sandbox.ready.stream_role_arn}
        settings = sandbox.settings().model_copy(update={"domains": list(served), **stream})
        gateway = build_gateway(settings, aws=aws)
        assert gateway.stream is not None  # noqa: S101  it is read inside
        model = load_domains(served).model
        rows = _rows(sandbox, model)

        async def watches(writers: Mapping[TenantId, Session]) -> tuple[ProbeResult, ...]:
            return await prove_watches(_watch_ground(gateway, sandbox, model, rows, writers))

        async with gateway.stream.running():
            return await _prove(gateway, _demo_ground(model, rows), watches if model.watches else None)


async def prove_on_account(settings: Settings) -> ProofReport:
    """Uses the gateway's own credentials, as a request would; nothing is written to other tenants' rows."""
    if not settings.tenants or len(settings.tenants) < 2:
        raise ConfigurationError(["tenants: name at least two tenants for a proof of isolation"])
    model = load_domains(settings.served_domains).model
    # rows of real tenants have no marker: leaks are recognised by partition keys
    ground = Ground(model, {tenant_id(name): None for name in settings.tenants})
    return await _prove(build_gateway(settings), ground)


async def _prove(gateway: Gateway, ground: Ground, watches: WatchProof | None = None) -> ProofReport:
    try:
        return await proof(gateway.services.dynamodb, gateway.sessions, ground, watches)
    finally:
        await gateway.close()


def _rows(sandbox: Sandbox, model: Model) -> Mapping[TenantId, Sequence[DynamoItem]]:
    """The rows as the sandbox has them: their keys contain the time at which it was filled."""
    admin, ready = sandbox.ready.admin, sandbox.ready
    session = boto3.Session(admin.access_key, admin.secret_key, region_name=ready.region)
    pages = session.client("dynamodb", endpoint_url=ready.url).get_paginator("scan").paginate(TableName=ready.table)
    rows: dict[TenantId, list[DynamoItem]] = {tenant_id(tenant.name): [] for tenant in demo_tenants(model)}
    for item in (item for page in pages for item in page["Items"]):
        tenant = tenant_of(item[model.table.pk]["S"])
        if tenant is not None:
            rows[tenant].append(item)
    return rows


def _demo_ground(model: Model, rows: Mapping[TenantId, Sequence[DynamoItem]]) -> Ground:
    def key(item: DynamoItem) -> ItemKey:
        return ItemKey(item[model.table.pk]["S"], item[model.table.sk]["S"])

    keys = {tenant: tuple(key(item) for item in items[:3]) for tenant, items in rows.items()}
    return Ground(model, {tenant: canary(tenant) for tenant in rows}, keys)


def _watch_ground(
    gateway: Gateway,
    sandbox: Sandbox,
    model: Model,
    rows: Mapping[TenantId, Sequence[DynamoItem]],
    writers: Mapping[TenantId, Session],
) -> WatchGround:
    """Uses tokens of the sandbox's issuer, which the gateway verifies like those of any subscriber."""
    socket, services = gateway.streaming.socket, gateway.services
    subjects = {tenant_id(tenant.name): tenant.subjects or (SAMPLE_SUBJECT,) for tenant in demo_tenants(model)}

    async def caller(tenant: TenantId, role: str, subject: str) -> LastingCaller:
        token = await asyncio.to_thread(ask_for_token, sandbox.url, tenant, role, subject)
        return await socket.callers.lasting(f"Bearer {token}".encode(), lambda principal: None)

    return WatchGround(model, socket.operations, services.bus, services.dynamodb, writers, rows, subjects, caller)
