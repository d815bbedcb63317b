"""Encodes a call as an HTTP request with signature version 4, by AWS's clock.

All requests have the same form: `POST /`, with the operation in `X-Amz-Target` or in the body.
"""

import hashlib
import hmac
import time
from dataclasses import dataclass, field

from gateway import __version__
from gateway.aws.wire.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
# AWS accepts signatures within 5 minutes; a smaller difference than this does not explain a refusal
_NOTABLE = 60.0
MOST_OPENINGS = 500  # about 3 KB each


@dataclass(frozen=True, slots=True)
class Form:
    """The common parts of all requests of one operation at one target."""

    authority: str
    content_type: str
    # the value of `X-Amz-Target`; None if the body names the operation
    operation: str | None
    head: str = field(init=False, repr=False)
    # the canonical request before and after the lines that depend on the time and the credentials
    opening: str = field(init=False, repr=False)
    closing: str = field(init=False, repr=False)
    # the names of the signed headers, without and with a session token
    signed: str = field(init=False, repr=False)
    signed_with_token: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        target_header = target_line = target_name = ""
        if self.operation is not None:
            target_header = f"X-Amz-Target: {self.operation}\r\n"
            target_line, target_name = f"x-amz-target:{_trim(self.operation)}\n", ";x-amz-target"
        head = (
            f"POST / HTTP/1.1\r\nHost: {self.authority}\r\nContent-Type: {self.content_type}\r\n{target_header}"
            # compression would take more time than it saves this close to AWS
            f"User-Agent: tenant-graphql-gateway/{__version__}\r\nAccept-Encoding: identity\r\n"
        )
        opening = f"POST\n/\n\ncontent-type:{_trim(self.content_type)}\nhost:{self.authority}\nx-amz-date:"
        names = "content-type;host;x-amz-date"
        object.__setattr__(self, "head", head)
        object.__setattr__(self, "opening", opening)
        object.__setattr__(self, "closing", f"{target_line}\n")
        object.__setattr__(self, "signed", f"{names}{target_name}")
        object.__setattr__(self, "signed_with_token", f"{names};x-amz-security-token{target_name}")


class _Scope:
    """A signer's current day, for which signing keys are derived once per credentials. Compared by identity."""

    __slots__ = ("day", "text")

    def __init__(self, day: str, region: str, service: str) -> None:
        self.day = day
        self.text = f"{day}/{region}/{service}/aws4_request"


class _Opening:
    """What all requests of one form with the same credentials share within a second: everything before the body's hash.

    It refers to both, so that their ids, by which it is found, are not used again while it is kept.
    """

    __slots__ = ("canonical", "credentials", "form", "head", "inner", "outer", "to_sign")

    def __init__(self, form: Form, credentials: Credentials, stamp: str, scope: _Scope) -> None:
        self.form = form
        self.credentials = credentials
        # INVARIANT: a key of another day, region or service is not used.
        key = credentials.signing_key if credentials.scope is scope else _derive(credentials, scope)
        token_line = token_header = ""
        signed = form.signed
        if token := credentials.session_token:
            token_line = f"x-amz-security-token:{_trim(token) if ' ' in token else token}\n"
            token_header = f"X-Amz-Security-Token: {token}\r\n"
            signed = form.signed_with_token
        self.canonical = hashlib.sha256(f"{form.opening}{stamp}\n{token_line}{form.closing}{signed}\n".encode())
        self.to_sign = f"{_ALGORITHM}\n{stamp}\n{scope.text}\n".encode()
        # HMAC-SHA256 of RFC 2104 for a key of up to 64 bytes; `hmac.digest` takes twice the time
        padded = key.ljust(64, b"\0")
        self.inner, self.outer = padded.translate(_INNER), padded.translate(_OUTER)
        self.head = (
            f"{form.head}X-Amz-Date: {stamp}\r\n{token_header}Authorization: {_ALGORITHM} "
            f"Credential={credentials.access_key}/{scope.text}, SignedHeaders={signed}, Signature="
        ).encode("ascii")


class Signer:
    """Signs requests for one service in one region.

    The signing key of a day is derived once and cached in the credentials. What the requests of a second share is
    written once. `offset` is how many seconds AWS's clock is ahead of ours, as far as we know.
    """

    __slots__ = ("_openings", "_region", "_scope", "_second", "_service", "_stamp", "offset")

    def __init__(self, service: str, region: str) -> None:
        self._service = service
        self._region = region
        self._second = -1
        self._stamp = ""
        self._scope = _Scope("", region, service)
        self._openings: dict[tuple[int, int], _Opening] = {}  # by the ids of form and credentials, of this second
        self.offset = 0.0

    def request(self, form: Form, credentials: Credentials, body: bytes, moment: float) -> bytes:
        """Returns the bytes of one attempt, signed for `moment` in seconds since the epoch."""
        second = int(moment)
        if second != self._second:
            self._move_to(second)
        opening = self._openings.get((id(form), id(credentials))) or self._open(form, credentials)
        sha256 = hashlib.sha256
        canonical = opening.canonical.copy()
        canonical.update(sha256(body).hexdigest().encode())
        inner = sha256(opening.inner + opening.to_sign + canonical.hexdigest().encode()).digest()
        signature = sha256(opening.outer + inner).hexdigest()
        return b"%b%b\r\nContent-Length: %d\r\n\r\n%b" % (opening.head, signature.encode(), len(body), body)

    def _open(self, form: Form, credentials: Credentials) -> _Opening:
        if len(self._openings) >= MOST_OPENINGS:
            self._openings.clear()
        opening = _Opening(form, credentials, self._stamp, self._scope)
        self._openings[id(form), id(credentials)] = opening
        return opening

    def correct(self, date: float | None, signed_with: float) -> bool:
        """Adjusts the clock to the time of AWS; returns False if the difference does not explain a refused signature.

        `signed_with` is the offset of the refused request; another call may have adjusted the clock since.
        """
        if date is None:
            return False
        offset = date - time.time()
        if abs(offset - self.offset) >= _NOTABLE:
            self.offset = offset
        return abs(self.offset - signed_with) >= _NOTABLE

    def _move_to(self, second: int) -> None:
        self._second = second
        self._openings.clear()
        self._stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
        if self._scope.day != self._stamp[:8]:
            self._scope = _Scope(self._stamp[:8], self._region, self._service)


def _derive(credentials: Credentials, scope: _Scope) -> bytes:
    key = f"AWS4{credentials.secret_key}".encode()
    for part in scope.text.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    credentials.keep_signing_key(scope, key)
    return key


def _trim(value: str) -> str:
    """Returns a header's value as it is signed: trimmed, with single spaces inside."""
    return " ".join(value.split())
