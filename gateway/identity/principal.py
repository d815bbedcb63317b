"""Who a request acts for: what is left of a token once it has been believed."""

from dataclasses import dataclass

from gateway.model.tenant import TenantId


@dataclass(frozen=True, slots=True)
class Principal:
    tenant: TenantId
    subject: str
    roles: frozenset[str]
    issuer: str
    expires_at: int
    """The `exp` of the token, epoch seconds, without leeway."""
