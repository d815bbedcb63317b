"""Builds the sandbox: an account, an engine with the table and its demo rows, a token issuer and the front."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time
from typing import Any

from starlette.applications import Starlette

from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.model.demo import demo_tenants
from gateway.model.model import Model
from gateway.sandbox.aws.account import Registry, administrator
from gateway.sandbox.aws.engine import Engine, Forwarded
from gateway.sandbox.aws.front import Front
from gateway.sandbox.aws.policies import account_with, deployment_of, gateway_caller, read_policies, stream_role
from gateway.sandbox.aws.s3 import SandboxS3
from gateway.sandbox.aws.tables import create, fill
from gateway.sandbox.dev.issuer import PATH, TokenIssuer, routes
from gateway.sandbox.dev.seeds import seed_items
from gateway.sandbox.dev.support_grants import grant_route
from gateway.sandbox.ready import Options, Ready
from gateway.settings import DEMO_DOMAINS

Seed = Callable[[Model, datetime], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class SandboxAssembly:
    app: Starlette
    ready: Ready
    files: SandboxS3


def engine_for(options: Options) -> Engine:
    if options.dynamodb_endpoint is not None:
        return Forwarded(options.dynamodb_endpoint, options.region)
    try:
        # importing moto takes half a second, and other engines do not need it
        from gateway.sandbox.aws.embedded import Embedded  # noqa: PLC0415
    except ImportError as error:
        fault = "the embedded engine needs moto: pip install 'tenant-graphql-gateway[sandbox]'"
        raise ConfigurationError([fault]) from error
    return Embedded(options.account, options.region)


async def build(options: Options, engine: Engine, url: str, seed: Seed = seed_items) -> SandboxAssembly:
    """`url` is the address at which the application will be served."""
    deployment = deployment_of(options.account, options.region, options.table)
    model = load_domains(options.domains or DEMO_DOMAINS).model
    policies = read_policies(deployment, model, options.policies)
    account = account_with(deployment, policies)
    seeded = await create(engine, options.table, model.table)
    if seeded:
        await fill(engine, options.table, seed(model, datetime.now(UTC)))
    admin, gateway = administrator(account), gateway_caller(account, deployment, policies)
    registry = Registry()
    for caller in (admin, gateway):
        registry.add(caller)
    tenants = tuple(tenant.name for tenant in demo_tenants(model))
    ready = Ready(
        url=url,
        region=options.region,
        table=options.table,
        role_arn=deployment.tenant_role,
        stream_role_arn=stream_role(deployment),
        tenants=tenants,
        seeded=seeded,
        admin=admin.credentials,
        gateway=gateway.credentials,
        bucket=deployment.bucket,
    )
    issuer = TokenIssuer(url + PATH, frozenset(tenants), roles=tuple(model.roles))
    files = SandboxS3(account, registry, time, deployment.bucket)
    # the routes of files take every other path
    extra = [*routes(issuer), grant_route(issuer), *files.routes()]
    return SandboxAssembly(Front(account, registry, engine).app(extra), ready, files)
