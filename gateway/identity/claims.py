"""Checks the claims of a verified token and turns them into a Principal."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gateway.errors import BadUserInput
from gateway.identity.errors import TokenRefused
from gateway.identity.issuer import Issuer
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id

_YEAR_10000 = 253_402_300_800  # no date library goes further
_MAX_SUBJECT = 255


def read_principal(claims: Mapping[str, Any], issuer: Issuer, now: float) -> Principal:
    if claims.get("iss") != issuer.issuer:
        raise TokenRefused("unknown issuer", "claim `iss` is not the issuer whose key was used")
    expires_at = _expiry(claims, issuer, now)
    _check_audience(claims, issuer)
    for name, value in issuer.required_claims.items():
        if _claim(claims, name) != value:
            raise TokenRefused(f"claim `{name}` does not have the required value")
    _subject(claims, "sub")
    return Principal(
        tenant=_tenant(claims, issuer),
        subject=_subject(claims, issuer.subject_claim),
        roles=_roles(claims, issuer),
        issuer=issuer.issuer,
        expires_at=expires_at,
    )


def expires(expires_at: int, issuer: Issuer) -> int:
    """From then on a token with this `exp` is refused."""
    return expires_at + issuer.leeway_seconds


def _expiry(claims: Mapping[str, Any], issuer: Issuer, now: float) -> int:
    expires_at, issued_at = _moment(claims, "exp"), _moment(claims, "iat")
    not_before = _moment(claims, "nbf") if "nbf" in claims else issued_at
    if now >= expires(expires_at, issuer):
        raise TokenRefused("token expired")
    if max(issued_at, not_before) > now + issuer.leeway_seconds:
        raise TokenRefused("token not valid yet")
    if not 0 < expires_at - issued_at <= issuer.max_lifetime_seconds:
        raise TokenRefused("token lives too long", "from `iat` to `exp` is negative or above the maximum life")
    return expires_at


def _moment(claims: Mapping[str, Any], name: str) -> int:
    value = claims.get(name)
    # Not isinstance: `true` is an int in Python.
    if type(value) is not int or not 0 <= value < _YEAR_10000:
        raise TokenRefused(f"claim `{name}` missing or malformed")
    return value


def _check_audience(claims: Mapping[str, Any], issuer: Issuer) -> None:
    names = [issuer.audience_claim]
    if "aud" in claims and "aud" not in names:
        names.append("aud")
    for name in names:
        value = _claim(claims, name)
        audiences = [value] if isinstance(value, str) else value
        if not isinstance(audiences, list) or not all(isinstance(audience, str) for audience in audiences):
            raise TokenRefused(f"claim `{name}` missing or malformed")
        # INVARIANT: a token made for others too is refused, or they could use here what was shown to them.
        if set(issuer.audience).isdisjoint(audiences) or not set(audiences) <= _company(issuer):
            raise TokenRefused("token is for another audience")


def _company(issuer: Issuer) -> set[str]:
    return {*issuer.audience, *issuer.additional_audiences}


def _subject(claims: Mapping[str, Any], name: str) -> str:
    value = _claim(claims, name)
    # It goes to logs and to CloudTrail: no control characters, no lone surrogates.
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_SUBJECT or not value.isprintable():
        raise TokenRefused(f"claim `{name}` missing or malformed")
    return value


def _tenant(claims: Mapping[str, Any], issuer: Issuer) -> TenantId:
    try:
        tenant = tenant_id(_claim(claims, issuer.tenant_claim))
    except BadUserInput as error:
        raise TokenRefused(f"claim `{issuer.tenant_claim}` names no tenant") from error
    if issuer.tenants is not None and tenant not in issuer.tenants:
        raise TokenRefused("the issuer may not speak for this tenant")
    return tenant


def _roles(claims: Mapping[str, Any], issuer: Issuer) -> frozenset[str]:
    value = _claim(claims, issuer.roles_claim)
    named = value.split(" ") if isinstance(value, str) else [] if value is None else value
    if not isinstance(named, list) or not all(isinstance(role, str) for role in named):
        raise TokenRefused(f"claim `{issuer.roles_claim}` is neither a list of names nor names with spaces between")
    return _one_set(frozenset(issuer.role_map[role] for role in named if role in issuer.role_map))


@lru_cache(maxsize=1_024)
def _one_set(roles: frozenset[str]) -> frozenset[str]:
    """One object for all callers with the same roles: many callers are remembered."""
    return roles


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """The value under the exact name or at the dotted path, `None` where there is neither."""
    nested: Any = claims
    for step in name.split("."):
        nested = nested.get(step) if isinstance(nested, Mapping) else None
    if name in claims and "." in name and nested is not None:
        raise TokenRefused(f"claim `{name}` is ambiguous", "it is there by its name and by its path")
    return claims.get(name) if name in claims else nested
