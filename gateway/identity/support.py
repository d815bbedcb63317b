"""Support access: a person of the platform acts in one tenant for some minutes, for a stated reason (RFC 8693 `act`).

A grant is a token with the claims `act` (the person), `jti` (the id by which it is revoked), a reason and one
tenant. Only an issuer whose settings have `support` may sign one, and the person acts in one role, whatever the
token says.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gateway.identity.claim_path import ClaimPath, claim_name, find_claim
from gateway.identity.errors import TokenRefused

MAX_SUPPORT_SECONDS = 30 * 60
ACT = "act"
MAX_REASON = 200

_GRANT_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
# the characters that AWS accepts in a source identity
_ACTOR = re.compile(r"[A-Za-z0-9_+=,.@-]{2,128}")


@dataclass(frozen=True, slots=True)
class SupportRules:
    """Restricts the grants of an issuer."""

    role: str = "support"
    max_seconds: int = MAX_SUPPORT_SECONDS
    actor_claim: ClaimPath = (ACT, "sub")
    reason_claim: ClaimPath = "reason"
    only: bool = True
    """Every token of the issuer must be a grant; false if the issuer also signs tokens of users."""

    def faults(self) -> list[str]:
        faults = []
        if not self.role or not self.reason_claim:
            faults.append("support needs a role and a reason_claim")
        if not 0 < self.max_seconds <= MAX_SUPPORT_SECONDS:
            faults.append(f"support access lasts at most {MAX_SUPPORT_SECONDS // 60} minutes")
        if self.actor_claim[0] != ACT or isinstance(self.actor_claim, str):
            faults.append("support.actor_claim must be a list that starts with `act`")
        return faults


@dataclass(frozen=True, slots=True)
class SupportAccess:
    """A verified grant: who really acts, and why."""

    grant_id: str
    actor: str
    reason: str


def is_grant_id(text: object) -> bool:
    return isinstance(text, str) and _GRANT_ID.fullmatch(text) is not None


def is_actor(text: object) -> bool:
    return isinstance(text, str) and _ACTOR.fullmatch(text) is not None


def is_reason(text: object) -> bool:
    return isinstance(text, str) and len(text.strip()) > 0 and len(text) <= MAX_REASON and text.isprintable()


def support_access(claims: Mapping[str, Any], rules: SupportRules | None, seconds: int) -> SupportAccess | None:
    """The grant in these claims, or `None` for any other token; `seconds` is from `iat` to `exp`."""
    # INVARIANT: an issuer whose settings do not allow support access cannot grant it, whatever it signs.
    if rules is None:
        if ACT in claims:
            raise TokenRefused("the issuer may not grant support access", "`act` from an issuer without `support`")
        return None
    # a grant that lost its actor must not become a user's token
    if ACT not in claims and not rules.only and find_claim(claims, rules.reason_claim) is None:
        return None
    support = SupportAccess(_grant_id(claims), _actor(claims, rules), _reason(claims, rules))
    with naming_grant(support):
        if seconds > rules.max_seconds:
            raise TokenRefused("support access lasts too long", "from `iat` to `exp` is above the maximum of a grant")
    return support


@contextmanager
def naming_grant(support: SupportAccess) -> Iterator[None]:
    """A refusal in the block names the grant, so that its log line says who tried."""
    try:
        yield
    except TokenRefused as error:
        error.support = support
        raise


def _grant_id(claims: Mapping[str, Any]) -> str:
    grant_id = claims.get("jti")
    if not isinstance(grant_id, str) or not is_grant_id(grant_id):
        raise TokenRefused("claim `jti` missing or malformed", "`jti` of a grant is 8 to 64 of A-Z, a-z, 0-9, _ and -")
    return grant_id


def _actor(claims: Mapping[str, Any], rules: SupportRules) -> str:
    act = claims.get(ACT)
    # A nested `act` would name a delegating person, and it would not be clear who is accountable.
    if not isinstance(act, Mapping) or ACT in act:
        raise TokenRefused("claim `act` missing or malformed", "`act` must be an object for one actor")
    actor = find_claim(claims, rules.actor_claim)
    if not isinstance(actor, str) or not is_actor(actor):
        name = claim_name(rules.actor_claim)
        raise TokenRefused(
            f"claim `{name}` missing or malformed",
            f"`{name}` must name a person as AWS can record it: 2 to 128 of A-Z, a-z, 0-9 and _+=,.@-",
        )
    return actor


def _reason(claims: Mapping[str, Any], rules: SupportRules) -> str:
    reason = find_claim(claims, rules.reason_claim)
    if not isinstance(reason, str) or not is_reason(reason):
        raise TokenRefused(f"claim `{claim_name(rules.reason_claim)}` missing or malformed", "a grant needs a reason")
    return reason
