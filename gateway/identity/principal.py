"""Who a request acts for: the result of verifying a token."""

from dataclasses import dataclass

from gateway.errors import Forbidden
from gateway.identity.support import SupportAccess
from gateway.model.tenant import TenantId
from gateway.model.types import Id


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
    """The person who really acts, if the token grants support access."""


def subject_id(subject: str, needed_by: str) -> str:
    """The subject, if it is safe in a key; otherwise raises `Forbidden`."""
    # INVARIANT: what becomes a part of keys has no '#', '*', '?' or '$', and can be the value of a session tag.
    if Id.key_pattern.fullmatch(subject) is None:
        raise Forbidden(
            f"the subject of the token is not an id, which {needed_by} needs: letters, digits and `._:@+-`; "
            "let `subject_claim` name a claim that has one"
        )
    return subject
