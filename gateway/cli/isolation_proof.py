"""The proof of isolation, put to work: on a sandbox of its own, or on the account that the settings name."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3

from gateway.app import Gateway, build_gateway
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.isolation.attack import Ground
from gateway.ops.isolation.prove import proof, unmarked
from gateway.ops.isolation.report import ProofReport
from gateway.ops.policies.files import write_policies
from gateway.sandbox.dev.records import CANARIES, demo_items
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import Settings


async def prove_on_sandbox(domains: Sequence[str] = ()) -> ProofReport:
    """Of the shipped domains, with the policies in the directory of the settings; or of others, with their own."""
    model = load_domains(domains).model
    with TemporaryDirectory() as directory:
        own = Path(directory) if domains else None
        changes: dict[str, Any] = {}
        if own is not None:
            write_policies(own, model)
            changes = {"domains": list(domains), "policies_dir": own}
        # thousands of denials are what it is about; the report tells those that were missing
        with Sandbox(Options(port=0, policies=own, log="WARNING", domains=tuple(domains))) as sandbox:
            keys = sandbox.ready.gateway
            aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
            return await _prove(build_gateway(sandbox.settings(**changes), aws=aws), _demo_ground(model))


async def prove_on_account(settings: Settings) -> ProofReport:
    """With the gateway's own credentials, as a request would; nothing is written to other tenants' rows."""
    if not settings.tenants or len(settings.tenants) < 2:
        raise ConfigurationError(["tenants: a proof of isolation needs two tenants by name"])
    ground = unmarked(load_domains(settings.domains).model, [tenant_id(name) for name in settings.tenants])
    return await _prove(build_gateway(settings), ground)


async def _prove(gateway: Gateway, ground: Ground) -> ProofReport:
    try:
        return await proof(gateway.services.dynamodb, gateway.sessions, ground)
    finally:
        await gateway.close()


def _demo_ground(model: Model) -> Ground:
    markers = {tenant_id(name): marker for name, marker in CANARIES.items()}
    rows: dict[TenantId, list[ItemKey]] = {tenant: [] for tenant in markers}
    for item in demo_items(model, datetime.now(UTC)):
        tenant = tenant_id(item["PK"]["S"].split("#")[1])
        rows[tenant].append(ItemKey(item["PK"]["S"], item["SK"]["S"]))
    return Ground(model, markers, {tenant: tuple(keys[:3]) for tenant, keys in rows.items()})
