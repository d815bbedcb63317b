"""A trusted token issuer with its settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError
from gateway.identity.claim_path import ClaimPath
from gateway.identity.clients import MachineClients
from gateway.identity.support import SupportRules
from gateway.model.role import STANDARD_ROLES
from gateway.model.tenant import TenantId
from gateway.setting_presets import GENERAL, Need

# python-jose does not support PS* and EdDSA; ES384 and ES512 need curves that we do not accept. HS* must never be
# added.
ASYMMETRIC = frozenset({"RS256", "RS384", "RS512", "ES256"})
MAX_LEEWAY_SECONDS = 60
_LISTS = ("audience", "additional_audiences", "algorithms", "types")


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long fetched keys are trusted, in seconds."""

    ttl: float = 300
    cooldown: float = 10
    """The minimum time between two fetches: a flood of unknown key ids costs one fetch per cool-down."""
    stale: float = 3600
    """How long after the ttl keys are still used while the issuer cannot be reached; then every token is refused."""
    timeout: float = 5

    def faults(self) -> list[str]:
        names = ("ttl", "cooldown", "timeout")
        faults = [f"{name} must be above 0 and finite" for name in names if not 0 < getattr(self, name) < math.inf]
        if not 0 <= self.stale < math.inf:
            faults.append("stale must be finite and not negative")
        if self.cooldown > self.ttl:
            faults.append("cooldown must not exceed ttl")
        return faults


@dataclass(frozen=True, slots=True)
class Issuer:
    """Claims are named by their exact name (`custom:tenant`, `https://example.com/tenant`), by a dotted path, or by
    a tuple of the names that lead to them."""

    issuer: str
    audience: tuple[str, ...]
    jwks_url: str
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    types: tuple[str | None, ...] = (None, "jwt", "at+jwt")
    """Header `typ` in lower case; `None` allows a token without it, such as Cognito's. RFC 9068 issuers:
    `("at+jwt",)`."""
    audience_claim: ClaimPath = "aud"
    """`client_id` for Cognito's access tokens, which have no `aud`; an `aud` that is present must match anyway."""
    additional_audiences: tuple[str, ...] = ()
    """May be listed next to our audience (Auth0 adds its userinfo address); any other audience is refused."""
    subject_claim: ClaimPath = "sub"
    tenant_claim: ClaimPath = "tenant"
    tenant_map: Mapping[str, TenantId] = field(default_factory=dict)
    """Maps values of the tenant claim to tenants; if it is not empty, other values are refused."""
    tenant_is_membership: bool = False
    """The tenant claim may also be a list or an object with exactly one name (Keycloak)."""
    tenants: frozenset[str] | None = None
    """The tenants this issuer may name: set it when a customer brings their own issuer. `None` means all."""
    roles_claim: ClaimPath = "roles"
    role_map: Mapping[str, str] = field(default_factory=lambda: {role.name: role.name for role in STANDARD_ROLES})
    """Maps roles in the token to roles of the gateway; others are ignored."""
    required_claims: Mapping[str, str] = field(default_factory=dict)
    """Claims that must have exactly this value: `{"token_use": "access"}` for Cognito."""
    leeway_seconds: int = 30
    max_lifetime_seconds: int = 86_400
    freshness: Freshness = field(default_factory=Freshness)
    allow_http: bool = False
    """Keys over plain http: for the sandbox only."""
    machines: MachineClients | None = None
    """How to distinguish machines from users; `None` treats every token as a user's."""
    support: SupportRules | None = None
    """`None` refuses every token with an `act` claim."""
    hints: Mapping[Need, str] = field(default_factory=lambda: GENERAL)
    """What to do at the provider if a claim is missing; for the log."""

    def __post_init__(self) -> None:
        faults = [*self._missing(), *_url_faults(self.jwks_url, self.allow_http), *self.freshness.faults()]
        faults += [fault for part in (self.machines, self.support) if part is not None for fault in part.faults()]
        if not self.algorithms or not ASYMMETRIC.issuperset(self.algorithms):
            faults.append(f"algorithms must be some of {', '.join(sorted(ASYMMETRIC))}")
        if not 0 <= self.leeway_seconds <= MAX_LEEWAY_SECONDS:
            faults.append(f"leeway_seconds must be between 0 and {MAX_LEEWAY_SECONDS}")
        if self.max_lifetime_seconds <= 0:
            faults.append("max_lifetime_seconds must be above 0")
        if faults:
            raise ConfigurationError([f"issuer `{self.issuer}`: {fault}" for fault in faults])
        self._freeze()

    def _freeze(self) -> None:
        for name in _LISTS:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("role_map", "required_claims", "tenant_map"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if self.tenants is not None:
            object.__setattr__(self, "tenants", frozenset(self.tenants))

    def _missing(self) -> list[str]:
        claims = ("issuer", "audience_claim", "subject_claim", "tenant_claim", "roles_claim")
        faults = [f"{name} is empty" for name in claims if not getattr(self, name)]
        # A bare string would be searched for substrings.
        faults += [f"{name} is not a list" for name in (*_LISTS, "tenants") if isinstance(getattr(self, name), str)]
        if not self.audience or not all(self.audience):
            faults.append("audience is empty")
        return faults


def _url_faults(url: str, allow_http: bool) -> list[str]:
    if not url.isascii() or not url.isprintable() or " " in url:
        return ["jwks_url holds characters a URL may not have"]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return ["jwks_url is not a URL"]
    faults = []
    if parts.scheme != "https" and not (allow_http and parts.scheme == "http"):
        faults.append("jwks_url must start with https://")
    if not host or parts.username is not None or parts.fragment:
        faults.append("jwks_url must have a host, no user and no fragment")
    return faults
