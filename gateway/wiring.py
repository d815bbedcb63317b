"""Settings as the values that the rooms take."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import boto3
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.aws.sts.reader_role import in_role
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo.examples import load_examples
from gateway.domains import load_domains
from gateway.errors import ConfigurationError, GatewayError
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.manifest import read_manifest
from gateway.graph.http.persisted import Persisted
from gateway.graph.playground.built_page import playground_routes
from gateway.graph.playground.first_query import first_query
from gateway.graph.query.operation import Documents
from gateway.graph.query.price import CostLimits
from gateway.iam.policies.roles import ROLE_NAMES
from gateway.identity.issuer import Issuer
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.metrics.collectors import CacheCollector, DaxCollector
from gateway.ops.metrics.metrics import CONTENT_TYPE, Metrics
from gateway.ops.readiness.pool_check import TenantPool
from gateway.setting_types import IssuerSettings, SiloSettings
from gateway.settings import Settings
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.dax.cluster import DaxCluster, DaxRules, connector
from gateway.store.cache.dax.reads import Ages, Clusters, DaxReads
from gateway.store.cache.keeper import CacheRules
from gateway.store.cache.layers import Layers
from gateway.store.cache.stats import GroupOf
from gateway.store.table import Table

_POOLED = SiloSettings()  # differs in nothing


def issuers(settings: Settings) -> list[Issuer]:
    return [_issuer(issuer, allow_http=settings.environment == "sandbox") for issuer in settings.issuers]


def _issuer(settings: IssuerSettings, *, allow_http: bool) -> Issuer:
    issuer = Issuer(
        issuer=settings.issuer,
        audience=tuple(settings.audience),
        jwks_url=settings.jwks_url,
        algorithms=tuple(settings.algorithms),
        types=tuple(settings.types),
        audience_claim=settings.audience_claim,
        additional_audiences=tuple(settings.additional_audiences),
        subject_claim=settings.subject_claim,
        tenants=None if settings.tenants is None else frozenset(settings.tenants),
        tenant_claim=settings.tenant_claim,
        roles_claim=settings.roles_claim,
        required_claims=settings.required_claims,
        leeway_seconds=settings.leeway_seconds,
        max_lifetime_seconds=settings.max_lifetime_seconds,
        allow_http=allow_http,
    )
    return replace(issuer, role_map=settings.role_map) if settings.role_map else issuer


def tenants(settings: Settings) -> Tenants:
    pooled = _tenancy(settings, _POOLED)
    silos = {_tenant("silos", name): _tenancy(settings, silo) for name, silo in settings.silos.items()}
    suspended = [_tenant("suspended_tenants", name) for name in settings.suspended_tenants]
    known = None if settings.tenants is None else [_tenant("tenants", name) for name in settings.tenants]
    return Tenants(pooled, silos, suspended=suspended, known=known)


def pools(settings: Settings) -> list[TenantPool]:
    """What is checked before requests are taken: the shared table where a tenant is named for it, and every silo."""
    known, name = tenants(settings), settings.readiness_tenant
    shared = (
        []
        if name is None
        else [TenantPool("pooled", _tenant("readiness_tenant", name), _tenancy(settings, _POOLED), True)]
    )
    silos = [_tenant("silos", name) for name in settings.silos if name not in settings.suspended_tenants]
    return [*shared, *(TenantPool(f"silo {tenant}", tenant, known.lookup(tenant), required=False) for tenant in silos)]


def warm_up(settings: Settings, roles: Roles) -> tuple[tuple[TenantId, ...], tuple[str, ...]]:
    """The tenants and roles whose sessions are opened at start."""
    if unknown := [role for role in settings.warm_up_roles if role not in roles.names]:
        raise ConfigurationError([f"warm_up_roles: there is no role `{role}`" for role in unknown])
    names = settings.tenants or () if settings.warm_up_roles else ()
    return tuple(_tenant("tenants", name) for name in names), tuple(settings.warm_up_roles)


def _tenant(where: str, name: str) -> TenantId:
    try:
        return tenant_id(name)
    except GatewayError as error:
        raise ConfigurationError([f"{where}: `{name}`: {error.message}"]) from error


def _tenancy(settings: Settings, silo: SiloSettings) -> Tenancy:
    """What a silo does not say is as for the pooled tenants; another region has another endpoint."""
    region = silo.region or settings.region
    pooled_endpoint = settings.dynamodb_endpoint if region == settings.region else None
    endpoint = silo.dynamodb_endpoint or pooled_endpoint
    return Tenancy(
        table=silo.table_name or settings.table_name,
        role_arn=silo.tenant_role_arn or settings.tenant_role_arn,
        target=AwsTarget(endpoint, region) if endpoint else AwsTarget.regional("dynamodb", region),
        sts_region=region,
        external_id=silo.external_id,
    )


ReadPath = ReadCache | DaxReads | Layers


def read_path(settings: Settings, model: Model, aws: boto3.Session) -> ReadPath | None:
    """What stands between the table and DynamoDB: nothing, the cache of the process, DAX, or both."""
    match settings.cache:
        case "off":
            return None
        case "ttl":
            return _ttl_cache(settings, model)
        case "dax":
            return _dax_reads(settings, model, aws)
        case "ttl+dax":
            return Layers(_ttl_cache(settings, model), _dax_reads(settings, model, aws))


def _ttl_cache(settings: Settings, model: Model) -> ReadCache:
    rules = CacheRules(bytes=settings.cache_max_bytes, flight_seconds=settings.request_timeout_seconds)
    return ReadCache(model, rules, _group_of(settings))


def _group_of(settings: Settings) -> GroupOf:
    """Few groups, since they become labels of metrics."""
    return lambda tenant: "silo" if tenant in settings.silos else "pooled"


def _dax_reads(settings: Settings, model: Model, aws: boto3.Session) -> DaxReads:
    ages = Ages(settings.dax_item_ttl_seconds, settings.dax_query_ttl_seconds)
    items = [each.cached for each in model.entities.values() if each.cached is not None]
    pages = [each.cached for each in model.patterns.values() if isinstance(each, Listing) and each.cached is not None]
    if not any(each.seconds >= ages.items for each in items) and not any(each.seconds >= ages.pages for each in pages):
        raise ConfigurationError(
            ["cache: nothing in the model may be as old as dax_item_ttl_seconds or dax_query_ttl_seconds"]
        )
    rules = DaxRules(threads=settings.dax_threads, seconds=settings.dax_timeout_seconds)
    made: dict[tuple[str, str | None], DaxCluster] = {}

    def cluster(address: str | None, role: str | None, region: str) -> DaxCluster | None:
        if address is None:
            return None
        if (address, role) not in made:
            signer = aws if role is None else in_role(aws, role, region, settings.sts_endpoint)
            made[address, role] = DaxCluster(address, connector(address, region, signer, rules), rules)
        return made[address, role]

    silos = {
        _tenant("silos", name): cluster(silo.dax_endpoint, silo.dax_role_arn, silo.region or settings.region)
        for name, silo in settings.silos.items()
    }
    clusters = Clusters(cluster(settings.dax_endpoint, settings.dax_role_arn, settings.region), silos)
    return DaxReads(model.table, clusters, ages, _group_of(settings))


def metrics_of(
    settings: Settings, documents: Persisted, cache: ReadPath | None, sessions: Sessions, queue: FairQueue, table: Table
) -> Metrics | None:
    """None where nobody could read them."""
    if settings.metrics_port is None and settings.environment != "sandbox":
        return None
    metrics = Metrics(documents.trusted_hashes)
    metrics.gauge("gateway_sessions", "Sessions of tenants that are kept.", lambda: len(sessions))
    metrics.gauge("gateway_operations_running", "Operations that run.", lambda: queue.running)
    metrics.gauge("gateway_operations_queued", "Operations that wait for a place.", lambda: queue.waiting)
    metrics.counter(
        "gateway_foreign_rows", "Rows of other tenants in a tenant's index, left out.", lambda: table.foreign_rows
    )
    layers = (cache.ttl, cache.dax) if isinstance(cache, Layers) else (cache,)
    for layer in layers:
        if isinstance(layer, ReadCache):
            metrics.collect_from(CacheCollector(layer.stats))
        elif isinstance(layer, DaxReads):
            metrics.collect_from(DaxCollector(layer.stats))
    return metrics


def metrics_page(settings: Settings, metrics: Metrics | None) -> list[Route]:
    """In the sandbox beside everything else; in production only on a port of its own, since it asks for no token.

    One of several workers has no page: it would tell of itself alone.
    """
    if metrics is None or settings.environment != "sandbox" or settings.workers > 1:
        return []

    def page(request: Request) -> Response:
        return Response(metrics.page(), media_type=CONTENT_TYPE)

    return [Route("/metrics", page)]


def cost_limits(settings: Settings) -> CostLimits:
    unknown = [name for name in settings.max_cost_by_role if name not in ROLE_NAMES]
    if unknown:
        raise ConfigurationError([f"max_cost_by_role: there is no role `{name}`" for name in unknown])
    return CostLimits(settings.max_cost, settings.max_cost_by_role)


def persisted(settings: Settings, documents: Documents) -> Persisted:
    """Every trusted document is checked against the schema now, and not when a client asks for it."""
    path = settings.trusted_documents
    trusted = read_manifest(path, documents) if path is not None else {}
    return Persisted(trusted, trusted_documents_only=settings.trusted_documents_only)


def playground(settings: Settings) -> list[Route]:
    """The page for people, if it is on; only in the sandbox does it come with a switcher and examples."""
    if not settings.playground:
        return []
    # INVARIANT: whoever has no token learns no name of the schema in production
    told: dict[str, Any] = {"explain": settings.explain, "sandbox": None, "examples": [], "query": "{ __typename }"}
    if settings.environment != "sandbox":
        return playground_routes(told)
    from gateway.sandbox.dev.token_route import sandbox_address, switcher  # noqa: PLC0415  never in production

    served = _served(settings)
    told["query"] = first_query(load_domains(settings.domains).model)
    examples = load_examples(datetime.now(UTC))
    told["examples"] = [asdict(example) for example in examples if example.domain in served]
    if sandbox_address(settings) is not None:
        told["sandbox"] = switcher(settings, shops="commerce" in served)
    return playground_routes(told)


def demo(settings: Settings) -> list[Route]:
    """The order desk, and the tokens for it and for the playground's switcher; only the sandbox has them."""
    if settings.environment != "sandbox":
        return []
    from gateway.sandbox.dev.storefront_page import storefront_routes  # noqa: PLC0415  never in production
    from gateway.sandbox.dev.token_route import sandbox_address, switcher, token_route  # noqa: PLC0415

    address = sandbox_address(settings)
    if address is None:
        return []
    desk = storefront_routes(switcher(settings)) if "commerce" in _served(settings) else []
    return [*desk, token_route(address)]


def _served(settings: Settings) -> set[str]:
    return {domain.name for domain in load_domains(settings.domains).model.domains}
