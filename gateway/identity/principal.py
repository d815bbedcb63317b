"""Who a request acts for: what is left of a token once it has been believed."""

from dataclasses import dataclass

from gateway.identity.support import SupportAccess
from gateway.model.tenant import TenantId


@dataclass(frozen=True, slots=True)
class Principal:
    tenant: TenantId
    subject: str
    """`client:<id>` for a machine, `support:<actor>` for support access; no user has such a subject."""
    roles: frozenset[str]
    issuer: str
    expires_at: int
    """The `exp` of the token, epoch seconds, without leeway."""
    support: SupportAccess | None = None
    """Who really acts, where the token grants support access."""
