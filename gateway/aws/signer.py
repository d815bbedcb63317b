"""Signature version 4 for requests of one form: `POST /`, the operation named by `X-Amz-Target` or by the body."""

import hashlib
import hmac
import time
from dataclasses import dataclass, field

from gateway.aws.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Form:
    """What all requests of one operation at one target have in common."""

    region: str
    authority: str
    content_type: str
    # the value of `X-Amz-Target`; None where the body names the operation
    operation: str | None
    # the canonical request before and after the lines that change with the moment and the credentials
    opening: str = field(init=False, repr=False)
    closing: str = field(init=False, repr=False)
    # the names of the signed headers, without and with a session token
    signed: str = field(init=False, repr=False)
    signed_with_token: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        opening = f"POST\n/\n\ncontent-type:{_trim(self.content_type)}\nhost:{self.authority}\nx-amz-date:"
        target_line, target_name = "", ""
        if self.operation is not None:
            target_line, target_name = f"x-amz-target:{_trim(self.operation)}\n", ";x-amz-target"
        names = "content-type;host;x-amz-date"
        object.__setattr__(self, "opening", opening)
        object.__setattr__(self, "closing", f"{target_line}\n")
        object.__setattr__(self, "signed", f"{names}{target_name}")
        object.__setattr__(self, "signed_with_token", f"{names};x-amz-security-token{target_name}")


class _Scope:
    """A day in a region: signing keys are derived for it, once for each credentials. Compared by identity."""

    __slots__ = ("day", "text")

    def __init__(self, day: str, region: str, name: str) -> None:
        self.day = day
        self.text = f"{day}/{region}/{name}/aws4_request"


class Signer:
    """Derives the signing key once for credentials, day and region; the credentials keep it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._second = -1
        self._stamp = ""
        # of the day that was signed last, by region
        self._scopes: dict[str, _Scope] = {}

    def headers(self, form: Form, credentials: Credentials, body: bytes, moment: float) -> str:
        """The header lines that sign the request; `moment` is in seconds since the epoch."""
        second = int(moment)
        if second != self._second:
            self._stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
            self._second = second
        stamp = self._stamp
        scope = self._scopes.get(form.region)
        # INVARIANT: a key of another day is not used.
        if scope is None or scope.day != stamp[:8]:
            scope = self._scopes[form.region] = _Scope(stamp[:8], form.region, self._name)
        key = credentials.signing_key if credentials.scope is scope else _derive(credentials, scope)
        token_line = token_header = ""
        signed = form.signed
        if token := credentials.session_token:
            token_line = f"x-amz-security-token:{_trim(token) if ' ' in token else token}\n"
            token_header = f"X-Amz-Security-Token: {token}\r\n"
            signed = form.signed_with_token
        canonical = f"{form.opening}{stamp}\n{token_line}{form.closing}{signed}\n{hashlib.sha256(body).hexdigest()}"
        to_sign = f"{_ALGORITHM}\n{stamp}\n{scope.text}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        return (
            f"X-Amz-Date: {stamp}\r\n{token_header}Authorization: {_ALGORITHM} "
            f"Credential={credentials.access_key}/{scope.text}, SignedHeaders={signed}, "
            f"Signature={hmac.digest(key, to_sign.encode(), 'sha256').hex()}\r\n"
        )


def _derive(credentials: Credentials, scope: _Scope) -> bytes:
    key = f"AWS4{credentials.secret_key}".encode()
    for part in scope.text.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    credentials.keep_signing_key(scope, key)
    return key


def _trim(value: str) -> str:
    """A header's value as it is signed: without spaces around it, with single ones inside."""
    return " ".join(value.split())
