"""Support grants of the sandbox's issuer, and the client that asks for one.

In production, an issuer of your own signs them: see docs/identity.md.
"""

import secrets
from dataclasses import asdict, dataclass
from typing import Any

from starlette.routing import Route

from gateway.errors import BadUserInput, Unavailable
from gateway.identity.support import MAX_REASON, MAX_SUPPORT_SECONDS, is_actor, is_reason
from gateway.sandbox.dev.issuer import AUDIENCE, TokenIssuer, ask_issuer, json_object, signing_route

_MEMBERS = {"tenant", "actor", "reason", "minutes"}


@dataclass(frozen=True, slots=True)
class SupportGrant:
    """A signed grant, the id by which it is revoked, and when it ends in epoch seconds."""

    token: str
    grant_id: str
    expires_at: int


def sign_grant(issuer: TokenIssuer, tenant: object, actor: object, reason: object, minutes: object) -> SupportGrant:
    """Raises `BadUserInput`."""
    issuer.check_tenant(tenant)
    if not is_actor(actor):
        raise BadUserInput("actor must have 2 to 128 letters, digits and _+=,.@-")
    if not is_reason(reason):
        raise BadUserInput(f"reason must have 1 to {MAX_REASON} printable characters")
    longest = MAX_SUPPORT_SECONDS // 60
    if isinstance(minutes, bool) or not isinstance(minutes, int) or not 1 <= minutes <= longest:
        raise BadUserInput(f"minutes must be a whole number from 1 to {longest}")
    now, grant_id = int(issuer.clock()), secrets.token_hex(8)
    claims = {
        "iss": issuer.issuer,
        "aud": AUDIENCE,
        "sub": "support",
        "jti": grant_id,
        "tenant": tenant,
        "act": {"sub": actor},
        "reason": reason,
        "iat": now,
        "exp": now + minutes * 60,
    }
    return SupportGrant(issuer.sign(claims), grant_id, now + minutes * 60)


def grant_route(issuer: TokenIssuer) -> Route:
    def grant(body: bytes) -> dict[str, Any]:
        request = json_object(body)
        if request.keys() != _MEMBERS:
            raise BadUserInput(f"send a JSON object with {', '.join(sorted(_MEMBERS))}")
        return asdict(sign_grant(issuer, **request))

    return signing_route("support", grant)


def ask_for_grant(url: str, tenant: str, actor: str, reason: str, minutes: int) -> SupportGrant:
    request = {"tenant": tenant, "actor": actor, "reason": reason, "minutes": minutes}
    match ask_issuer(url, "support", request):
        case {"token": str(token), "grant_id": str(grant_id), "expires_at": int(expires_at)}:
            return SupportGrant(token, grant_id, expires_at)
    raise Unavailable(f"the server at {url} is not a sandbox")
