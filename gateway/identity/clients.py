"""Machine clients: how to recognise their tokens, and what the settings add for a client.

A machine's token has every machine claim and no user claim; a user's token has no machine claim. Any other token is
refused, so a user who chooses a name that looks like a client's gains nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gateway.identity.claim_path import ClaimPath, claim_name, find_claim
from gateway.identity.errors import TokenRefused
from gateway.model.tenant import TenantId

# INVARIANT: no user has a subject that starts with one of these.
CLIENT_PREFIX = "client:"
SUPPORT_PREFIX = "support:"
RESERVED = (CLIENT_PREFIX, SUPPORT_PREFIX)

_MAX_CLIENT = 200


@dataclass(frozen=True, slots=True)
class KnownClient:
    """What the settings say about a client: its roles, and its tenant if the token names none."""

    roles: frozenset[str] = frozenset()
    tenant: TenantId | None = None


@dataclass(frozen=True, slots=True)
class MachineClients:
    """How an issuer's tokens for machines differ from those for users, and the clients that the settings list."""

    client_claims: tuple[ClaimPath, ...]
    """The first one that exists names the client."""
    signs: Mapping[str, str]
    """Claims and their values in a machine's token; `{client}` is replaced by the client, `{lower}` by the client in
    lower case."""
    user_claims: tuple[ClaimPath, ...] = ()
    """A user's token has at least one of them, a machine's has none. If empty, none is required."""
    roles_claim: ClaimPath | None = None
    """Where a machine's token names its roles; `None` means the same claim as for users."""
    known: Mapping[str, KnownClient] = field(default_factory=lambda: MappingProxyType({}))

    def faults(self) -> list[str]:
        faults = []
        if not self.client_claims:
            faults.append("machine_claims and client_roles require client_claims")
        if not self.signs:
            faults.append("client_claims requires machine_claims, which distinguish machines from users")
        for name, form in self.signs.items():
            if not _usable(form):
                faults.append(f"machine_claims: `{name}` may contain only {{client}} and {{lower}} in braces")
        return faults


def machine_client(claims: Mapping[str, Any], clients: MachineClients | None, hint: str) -> str | None:
    """The id of the client, or `None` for a user; raises `TokenRefused` if the token is not clearly either."""
    if clients is None:
        return None
    client = _client(claims, clients)
    signs = [_has_sign(claims, name, form, client) for name, form in clients.signs.items()]
    user = any(find_claim(claims, path) is not None for path in clients.user_claims)
    if all(signs) and not user:
        if client is None:
            raise TokenRefused(f"claim `{claim_name(clients.client_claims[0])}` missing or malformed")
        return client
    if any(signs) or (clients.user_claims and not user):
        raise TokenRefused("token is neither clearly a user's nor clearly a machine's", hint)
    return None


def _has_sign(claims: Mapping[str, Any], name: str, form: str, client: str | None) -> bool:
    if client is None and "{" in form:
        return False
    expected = form.replace("{client}", client or "").replace("{lower}", (client or "").lower())
    return bool(find_claim(claims, name) == expected)


def _client(claims: Mapping[str, Any], clients: MachineClients) -> str | None:
    values = (find_claim(claims, path) for path in clients.client_claims)
    value = next((value for value in values if value is not None), None)
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_CLIENT or not value.isprintable():
        return None
    return value


def _usable(form: str) -> bool:
    plain = form.replace("{client}", "").replace("{lower}", "")
    return bool(form) and "{" not in plain and "}" not in plain
