"""What a request to AWS is signed with."""

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

    def __post_init__(self) -> None:
        # INVARIANT: key and token are printable ASCII, so nothing in them can end a header and start another.
        for text in (self.access_key, self.session_token or ""):
            if not (text.isascii() and text.isprintable()):
                raise Internal("an access key and a session token are printable ascii")
