"""Checks the claims of a verified token and turns them into a Principal: a user, a machine or a support grant."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gateway.errors import BadUserInput
from gateway.identity.claim_path import ClaimPath, claim_name, find_claim
from gateway.identity.clients import CLIENT_PREFIX, RESERVED, SUPPORT_PREFIX, KnownClient, machine_client
from gateway.identity.errors import TokenRefused
from gateway.identity.issuer import Issuer
from gateway.identity.principal import Principal
from gateway.identity.support import SupportAccess, naming_grant, support_access
from gateway.model.tenant import TenantId, tenant_id
from gateway.setting_presets import Need

_YEAR_10000 = 253_402_300_800  # date libraries end here
_MAX_SUBJECT = 255
_UNKNOWN = KnownClient()


def read_principal(claims: Mapping[str, Any], issuer: Issuer, now: float) -> Principal:
    if claims.get("iss") != issuer.issuer:
        raise TokenRefused("unknown issuer", "claim `iss` is not the issuer whose key was used")
    issued_at, expires_at = _times(claims, issuer, now)
    _check_audience(claims, issuer)
    for name, value in issuer.required_claims.items():
        if find_claim(claims, name) != value:
            raise TokenRefused(f"claim `{name}` does not have the required value")
    subject = _text(claims, "sub")
    support = support_access(claims, issuer.support, expires_at - issued_at)
    if support is not None:
        with naming_grant(support):
            return _support(claims, issuer, support, expires_at, now)
    client = machine_client(claims, issuer.machines, issuer.hints["kind"])
    if client is not None:
        return _machine(claims, issuer, client, expires_at)
    if issuer.subject_claim != "sub":
        subject = _text(claims, issuer.subject_claim)
    # INVARIANT: a user is never taken for a machine or for support, whatever name the issuer lets it choose.
    if subject.startswith(RESERVED):
        raise TokenRefused(f"claim `{claim_name(issuer.subject_claim)}` starts with a reserved prefix")
    roles = _roles(claims, issuer, issuer.roles_claim)
    return Principal(_tenant(claims, issuer, "tenant"), subject, roles, issuer.issuer, expires_at)


def expires(principal: Principal, issuer: Issuer) -> int:
    """From then on the token is refused. Support access ends exactly when it says."""
    return principal.expires_at + (issuer.leeway_seconds if principal.support is None else 0)


def roles_missing(principal: Principal, issuer: Issuer) -> str:
    """Why no role was found, for the log."""
    machine = principal.subject.startswith(CLIENT_PREFIX)
    path = issuer.roles_claim if not machine or issuer.machines is None else issuer.machines.roles_claim
    hint = issuer.hints["client_roles" if machine else "roles"]
    return f"claim `{claim_name(path or issuer.roles_claim)}` names no role of the gateway: {hint}"


def _support(
    claims: Mapping[str, Any], issuer: Issuer, support: SupportAccess, expires_at: int, now: float
) -> Principal:
    assert issuer.support is not None  # noqa: S101  else there is no grant
    if now >= expires_at:
        raise TokenRefused("token expired")
    role = issuer.support.role
    # INVARIANT: support access has one role; a token that claims more is refused rather than trimmed.
    if not _roles(claims, issuer, issuer.roles_claim) <= {role}:
        raise TokenRefused("support access has no other role", "the roles of the grant are not the role of support")
    tenant = _tenant(claims, issuer, "tenant")
    subject = f"{SUPPORT_PREFIX}{support.actor}"
    return Principal(tenant, subject, _one_set(frozenset((role,))), issuer.issuer, expires_at, support)


def _machine(claims: Mapping[str, Any], issuer: Issuer, client: str, expires_at: int) -> Principal:
    assert issuer.machines is not None  # noqa: S101  else there is no machine
    listed_client = issuer.machines.known.get(client, _UNKNOWN)
    path = issuer.machines.roles_claim or issuer.roles_claim
    roles = listed_client.roles or _roles(claims, issuer, path)
    tenant = listed_client.tenant
    if tenant is None or find_claim(claims, issuer.tenant_claim) is not None:
        tenant = _tenant(claims, issuer, "client_tenant")
    # INVARIANT: a client that the settings tie to a tenant acts in no other, whatever its token says.
    if listed_client.tenant not in (None, tenant):
        raise TokenRefused("the client may not act for this tenant", "the token and `client_roles` name two tenants")
    _check_speaks_for(issuer, tenant)
    return Principal(tenant, f"{CLIENT_PREFIX}{client}", _one_set(roles), issuer.issuer, expires_at)


def _times(claims: Mapping[str, Any], issuer: Issuer, now: float) -> tuple[int, int]:
    """`iat` and `exp`."""
    expires_at, issued_at = _timestamp(claims, "exp"), _timestamp(claims, "iat")
    not_before = _timestamp(claims, "nbf") if "nbf" in claims else issued_at
    if now >= expires_at + issuer.leeway_seconds:
        raise TokenRefused("token expired")
    if max(issued_at, not_before) > now + issuer.leeway_seconds:
        raise TokenRefused("token not valid yet")
    if not 0 < expires_at - issued_at <= issuer.max_lifetime_seconds:
        raise TokenRefused("token lives too long", "from `iat` to `exp` is negative or above the maximum life")
    return issued_at, expires_at


def _timestamp(claims: Mapping[str, Any], name: str) -> int:
    value = claims.get(name)
    # Not isinstance: `true` is an int in Python.
    if type(value) is not int or not 0 <= value < _YEAR_10000:
        raise TokenRefused(f"claim `{name}` missing or malformed")
    return value


def _check_audience(claims: Mapping[str, Any], issuer: Issuer) -> None:
    company = {*issuer.audience, *issuer.additional_audiences}
    for path in dict.fromkeys((issuer.audience_claim, *(("aud",) if "aud" in claims else ()))):
        value = find_claim(claims, path)
        audiences = [value] if isinstance(value, str) else value
        if not isinstance(audiences, list) or not all(isinstance(audience, str) for audience in audiences):
            raise TokenRefused(f"claim `{claim_name(path)}` missing or malformed")
        # INVARIANT: a token that is also made for other audiences is refused, or they could replay it here.
        if set(issuer.audience).isdisjoint(audiences) or not set(audiences) <= company:
            raise TokenRefused("token is for another audience")


def _text(claims: Mapping[str, Any], path: ClaimPath) -> str:
    value = find_claim(claims, path)
    # It appears in logs and CloudTrail: no control characters, no lone surrogates.
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_SUBJECT or not value.isprintable():
        raise TokenRefused(f"claim `{claim_name(path)}` missing or malformed")
    return value


def _tenant(claims: Mapping[str, Any], issuer: Issuer, need: Need) -> TenantId:
    name, value = claim_name(issuer.tenant_claim), find_claim(claims, issuer.tenant_claim)
    if value is None:
        raise TokenRefused(f"claim `{name}` is missing", f"claim `{name}` is missing: {issuer.hints[need]}")
    if issuer.tenant_is_membership:
        value = _only_member(value, name)
    try:
        tenant = _mapped(value, issuer, name) if issuer.tenant_map else tenant_id(value)
    except BadUserInput as error:
        raise TokenRefused(f"claim `{name}` names no tenant") from error
    _check_speaks_for(issuer, tenant)
    return tenant


def _mapped(value: object, issuer: Issuer, name: str) -> TenantId:
    if not isinstance(value, str) or value not in issuer.tenant_map:
        raise TokenRefused(f"claim `{name}` names no tenant", f"`tenant_map` does not list the value of `{name}`")
    return issuer.tenant_map[value]


def _only_member(value: object, name: str) -> object:
    """The only name in a list or an object; the gateway does not choose among several."""
    if isinstance(value, str):
        return value
    members = list(value) if isinstance(value, list | Mapping) else []
    if len(members) != 1:
        raise TokenRefused(f"claim `{name}` must name one tenant", "it names none or several: request one of them")
    return members[0]


def _check_speaks_for(issuer: Issuer, tenant: TenantId) -> None:
    if issuer.tenants is not None and tenant not in issuer.tenants:
        raise TokenRefused("the issuer may not speak for this tenant")


def _roles(claims: Mapping[str, Any], issuer: Issuer, path: ClaimPath) -> frozenset[str]:
    value = find_claim(claims, path)
    named = value.split(" ") if isinstance(value, str) else [] if value is None else value
    if not isinstance(named, list) or not all(isinstance(role, str) for role in named):
        raise TokenRefused(f"claim `{claim_name(path)}` is neither a list of names nor names with spaces between")
    return _one_set(frozenset(issuer.role_map[role] for role in named if role in issuer.role_map))


@lru_cache(maxsize=1_024)
def _one_set(roles: frozenset[str]) -> frozenset[str]:
    """One shared object for all callers with the same roles, because many callers are remembered."""
    return roles
