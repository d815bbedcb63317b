"""The credentials that sign a request to AWS."""

from dataclasses import dataclass, field
from math import inf

from gateway.errors import Internal


@dataclass(frozen=True, slots=True)
class Credentials:
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    # seconds since the epoch; static credentials never expire
    expires_at: float = inf
    owner: str = field(default="", compare=False)  # the tenant of a session: tenants take turns on the wire
    # the latest derived signing key and its scope, kept for as long as the credentials
    scope: object = field(default=None, init=False, repr=False, compare=False)
    signing_key: bytes = field(default=b"", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # INVARIANT: key and token are printable ASCII, so nothing in them can end a header and start another.
        for text in (self.access_key, self.session_token or ""):
            if not (text.isascii() and text.isprintable()):
                raise Internal("an access key and a session token are printable ascii")

    def keep_signing_key(self, scope: object, signing_key: bytes) -> None:
        object.__setattr__(self, "signing_key", signing_key)
        object.__setattr__(self, "scope", scope)
