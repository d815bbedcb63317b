"""The proof of isolation, put to work: on a sandbox of its own, or on the account that the settings name."""

from collections.abc import Sequence
from datetime import UTC, datetime

import boto3

from gateway.app import Gateway, build_gateway
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.model.demo import demo_tenants
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId, tenant_id, tenant_of
from gateway.ops.isolation.attack import Ground
from gateway.ops.isolation.prove import proof, unmarked
from gateway.ops.isolation.report import ProofReport
from gateway.sandbox.dev.seeds import canary, seed_items
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import DEMO_DOMAINS, Settings


async def prove_on_sandbox(domains: Sequence[str] = ()) -> ProofReport:
    """Of these domains, or of the demo domains, with the policies that their model makes."""
    served = tuple(domains) or DEMO_DOMAINS
    # thousands of denials are what it is about; the report tells those that were missing
    with Sandbox(Options(port=0, log="WARNING", domains=served)) as sandbox:
        keys = sandbox.ready.gateway
        aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
        # an environment with GATEWAY_DOMAINS must not serve others than those that are proved
        settings = sandbox.settings().model_copy(update={"domains": list(served)})
        gateway = build_gateway(settings, aws=aws)
        return await _prove(gateway, _demo_ground(load_domains(served).model))


async def prove_on_account(settings: Settings) -> ProofReport:
    """With the gateway's own credentials, as a request would; nothing is written to other tenants' rows."""
    if not settings.tenants or len(settings.tenants) < 2:
        raise ConfigurationError(["tenants: a proof of isolation needs two tenants by name"])
    ground = unmarked(load_domains(settings.served_domains).model, [tenant_id(name) for name in settings.tenants])
    return await _prove(build_gateway(settings), ground)


async def _prove(gateway: Gateway, ground: Ground) -> ProofReport:
    try:
        return await proof(gateway.services.dynamodb, gateway.sessions, ground)
    finally:
        await gateway.close()


def _demo_ground(model: Model) -> Ground:
    markers = {tenant_id(tenant.name): canary(tenant.name) for tenant in demo_tenants(model)}
    rows: dict[TenantId, list[ItemKey]] = {tenant: [] for tenant in markers}
    for item in seed_items(model, datetime.now(UTC)):
        key = ItemKey(item[model.table.pk]["S"], item[model.table.sk]["S"])
        tenant = tenant_of(key.pk)
        if tenant is not None:
            rows[tenant].append(key)
    return Ground(model, markers, {tenant: tuple(keys[:3]) for tenant, keys in rows.items()})
