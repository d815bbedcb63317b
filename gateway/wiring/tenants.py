"""Builds issuers, tenants and the rules of their sessions from the settings."""

from collections.abc import Collection
from dataclasses import replace

from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.s3 import FileBucket
from gateway.errors import ConfigurationError, GatewayError
from gateway.identity.claim_path import claim_path
from gateway.identity.clients import KnownClient, MachineClients
from gateway.identity.issuer import Issuer
from gateway.identity.support import SupportRules
from gateway.model.model import Model
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.readiness.pool_check import TenantPool
from gateway.setting_presets import hints_of
from gateway.setting_types import IssuerSettings, SiloSettings
from gateway.settings import Settings

_POOLED = SiloSettings()  # adds no settings


def issuers(settings: Settings, roles: Collection[str]) -> list[Issuer]:
    """The trusted token issuers; `roles` are the model's, which tokens name unless a `role_map` translates them."""
    return [issuer_of(issuer, roles, allow_http=settings.environment == "sandbox") for issuer in settings.issuers]


def issuer_of(settings: IssuerSettings, roles: Collection[str], *, allow_http: bool) -> Issuer:
    issuer = Issuer(
        issuer=settings.issuer,
        audience=tuple(settings.audience),
        jwks_url=settings.jwks_url,
        algorithms=tuple(settings.algorithms),
        types=tuple(settings.types),
        audience_claim=claim_path(settings.audience_claim),
        additional_audiences=tuple(settings.additional_audiences),
        subject_claim=claim_path(settings.subject_claim),
        tenants=None if settings.tenants is None else frozenset(settings.tenants),
        tenant_claim=claim_path(settings.tenant_claim),
        tenant_map={value: TenantId(tenant) for value, tenant in settings.tenant_map.items()},
        tenant_is_membership=settings.tenant_is_membership,
        roles_claim=claim_path(settings.roles_claim),
        required_claims=settings.required_claims,
        leeway_seconds=settings.leeway_seconds,
        max_lifetime_seconds=settings.max_lifetime_seconds,
        allow_http=allow_http,
        machines=_machines(settings),
        support=_support(settings),
        hints=hints_of(settings.preset),
    )
    return replace(issuer, role_map=settings.role_map or {role: role for role in roles})


def _machines(settings: IssuerSettings) -> MachineClients | None:
    if not (settings.client_claims or settings.machine_claims or settings.client_roles):
        return None
    clients = {
        client: KnownClient(frozenset(entry.roles), None if entry.tenant is None else TenantId(entry.tenant))
        for client, entry in settings.client_roles.items()
    }
    roles_claim = None if settings.client_roles_claim is None else claim_path(settings.client_roles_claim)
    return MachineClients(
        client_claims=tuple(map(claim_path, settings.client_claims)),
        signs=dict(settings.machine_claims),
        user_claims=tuple(map(claim_path, settings.user_claims)),
        roles_claim=roles_claim,
        known=clients,
    )


def _support(settings: IssuerSettings) -> SupportRules | None:
    rules = settings.support
    if rules is None:
        return None
    actor, reason = tuple(rules.actor_claim), claim_path(rules.reason_claim)
    return SupportRules(rules.role, rules.max_minutes * 60, actor, reason, rules.only)


def pooled_tenancy(settings: Settings) -> Tenancy:
    """The tenancy of all tenants without a table of their own."""
    return _tenancy(settings, _POOLED)


def tenants(settings: Settings) -> Tenants:
    pooled = pooled_tenancy(settings)
    silos = {_tenant("silos", name): _tenancy(settings, silo) for name, silo in settings.silos.items()}
    suspended = [_tenant("suspended_tenants", name) for name in settings.suspended_tenants]
    listed = None if settings.tenants is None else [_tenant("tenants", name) for name in settings.tenants]
    return Tenants(pooled, silos, suspended=suspended, known=listed)


def pools(settings: Settings) -> list[TenantPool]:
    """What readiness checks: the shared table, if a tenant is named for it, and every silo that is not suspended."""
    directory, name = tenants(settings), settings.readiness_tenant
    silos = [_tenant("silos", silo) for silo in settings.silos if silo not in settings.suspended_tenants]
    checked = [TenantPool(f"silo {tenant}", tenant, directory.lookup(tenant), required=False) for tenant in silos]
    if name is None:
        return checked
    return [TenantPool("pooled", _tenant("readiness_tenant", name), _tenancy(settings, _POOLED), True), *checked]


def session_rules(settings: Settings) -> SessionRules:
    return SessionRules(
        seconds=settings.session_duration_seconds,
        sessions=settings.max_sessions,
        calls_per_second=settings.max_sts_calls_per_second,
        # no caller waits longer than a request may take
        call_seconds=settings.request_timeout_seconds,
        per_subject=settings.session_per_subject,
    )


def check_roles(settings: Settings, model: Model) -> None:
    """Raises `ConfigurationError` if a caller, a machine or support access would have a role that does not exist."""
    named = [(f"issuers.{number}", issuer) for number, issuer in enumerate(settings.issuers)]
    used = [
        (f"{where}.client_roles.{client}", role)
        for where, issuer in named
        for client, entry in issuer.client_roles.items()
        for role in entry.roles
    ]
    used += [(f"{where}.role_map.{name}", role) for where, issuer in named for name, role in issuer.role_map.items()]
    if settings.environment == "production":
        # the sandbox grants support access whichever roles the domains have
        used += [(f"{where}.support", issuer.support.role) for where, issuer in named if issuer.support is not None]
    if unknown := [(where, role) for where, role in used if role not in model.roles]:
        raise ConfigurationError([f"{where}: there is no role `{role}`" for where, role in unknown])


def warm_up(settings: Settings, model: Model) -> tuple[tuple[TenantId, ...], tuple[str, ...]]:
    """The tenants and roles whose sessions are opened at start."""
    if unknown := [role for role in settings.warm_up_roles if role not in model.roles]:
        raise ConfigurationError([f"warm_up_roles: there is no role `{role}`" for role in unknown])
    if own := [role for role in settings.warm_up_roles if model.roles[role].own]:
        raise ConfigurationError([f"warm_up_roles: a session of `{role}` is that of one subject" for role in own])
    names = settings.tenants or () if settings.warm_up_roles else ()
    return tuple(_tenant("tenants", name) for name in names), tuple(settings.warm_up_roles)


def _tenant(where: str, name: str) -> TenantId:
    try:
        return tenant_id(name)
    except GatewayError as error:
        raise ConfigurationError([f"{where}: `{name}`: {error.message}"]) from error


def _tenancy(settings: Settings, silo: SiloSettings) -> Tenancy:
    """Values that a silo does not set are those of the pooled tenants, except the endpoint in another region."""
    region = silo.region or settings.region
    pooled_endpoint = settings.dynamodb_endpoint if region == settings.region else None
    endpoint = silo.dynamodb_endpoint or pooled_endpoint
    return Tenancy(
        table=silo.table_name or settings.table_name,
        role_arn=silo.tenant_role_arn or settings.tenant_role_arn,
        target=AwsTarget(endpoint, region) if endpoint else AwsTarget.regional("dynamodb", region),
        sts_region=region,
        external_id=silo.external_id,
        files=_files(settings, silo, region),
    )


def _files(settings: Settings, silo: SiloSettings, region: str) -> FileBucket | None:
    here = region == settings.region
    name = silo.files_bucket or (settings.files_bucket if here else None)
    if name is None:
        return None
    named = settings.s3_endpoint if here else None
    target = AwsTarget(named, region) if named else AwsTarget.regional("s3", region)
    return FileBucket(name, target, in_path=named is not None, seconds=settings.file_url_seconds)


def check_files(settings: Settings, model: Model) -> None:
    """Raises `ConfigurationError` if the model has files and some tenants have no bucket for them."""
    first = next((f"{entity.name}.{entity.files[0].name}" for entity in model.entities.values() if entity.files), None)
    if first is None:
        return
    faults = [] if settings.files_bucket else [f"files_bucket: required, because `{first}` is a file"]
    faults += [
        f"silos.{name}.files_bucket: required, because `{first}` is a file and the silo is in another region"
        for name, silo in settings.silos.items()
        if settings.files_bucket and _tenancy(settings, silo).files is None
    ]
    if faults:
        raise ConfigurationError(faults)
