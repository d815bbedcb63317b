"""Verifies Signature Version 4 as AWS does: who signed a request, for what and when, and whether the signature
matches."""

import hashlib
import hmac
import re
from calendar import timegm
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import gmtime, strftime, strptime

from gateway.sandbox.aws.responses import AwsFault

_ALGORITHM = "AWS4-HMAC-SHA256"
_STAMP = "%Y%m%dT%H%M%SZ"
# AWS documents five minutes for most APIs and fifteen for some; the shorter limit is safe for all
_SKEW_MINUTES = 5
_SCOPE_PARTS = 5
_PARTS = re.compile(r"(Credential|SignedHeaders|Signature)=([^,\s]+)")


@dataclass(frozen=True, slots=True)
class Request:
    """A `POST /` request: header names in lower case, values as they were sent."""

    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)

    def header(self, name: str) -> str | None:
        """The value of a header. A header that was sent twice is ambiguous and refused."""
        values = [value for key, value in self.headers if key == name]
        if len(values) > 1:
            raise AwsFault("IncompleteSignatureException", f"Header '{name}' was sent more than once.")
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Claim:
    """What the Authorization header claims; nothing of it is verified yet."""

    access_key: str
    day: str
    region: str
    api: str
    headers: tuple[str, ...]
    signature: str
    stamp: str

    @property
    def scope(self) -> str:
        return f"{self.day}/{self.region}/{self.api}/aws4_request"


def read_claim(request: Request) -> Claim:
    authorization = request.header("authorization")
    if not authorization:
        raise AwsFault("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    algorithm, _, rest = authorization.partition(" ")
    parts = dict(_PARTS.findall(rest))
    scope = parts.get("Credential", "").split("/")
    stamp = request.header("x-amz-date") or ""
    if algorithm != _ALGORITHM or parts.keys() != {"Credential", "SignedHeaders", "Signature"}:
        raise _incomplete("Authorization header requires Credential, SignedHeaders and Signature.")
    if len(scope) != _SCOPE_PARTS or scope[-1] != "aws4_request":
        raise _incomplete("Credential must have five slash-delimited elements and end in 'aws4_request'.")
    if not re.fullmatch(r"\d{8}T\d{6}Z", stamp) or stamp[:8] != scope[1]:
        raise _incomplete("Date in Credential scope does not match YYYYMMDD from the 'X-Amz-Date' header.")
    signed = tuple(parts["SignedHeaders"].split(";"))
    return Claim(scope[0], scope[1], scope[2], scope[3], signed, parts["Signature"], stamp)


def verify(request: Request, claim: Claim, secret: str, now: float) -> None:
    """Raises unless the whole request was signed with this secret within the last minutes."""
    _check_headers(request, claim.headers)
    expected = _signature(request, claim, secret)
    if not hmac.compare_digest(expected.encode(), claim.signature.encode()):
        raise AwsFault(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
            "Access Key and signing method. Consult the service documentation for details.",
        )
    _check_time(claim.stamp, now)


def _check_headers(request: Request, signed: tuple[str, ...]) -> None:
    present = {name for name, _ in request.headers}
    # INVARIANT: the headers that name the operation, the time or the session are signed.
    needed = {"host"} | {name for name in present if name.startswith("x-amz-")}
    missing = needed - set(signed)
    if missing or set(signed) - present or len(set(signed)) != len(signed):
        absent = ", ".join(sorted(missing or set(signed) - present))
        raise AwsFault("InvalidSignatureException", f"Signed headers and sent headers differ: '{absent}'.")


def _signature(request: Request, claim: Claim, secret: str) -> str:
    lines = "".join(f"{name}:{_canonical(request.headers, name)}\n" for name in sorted(claim.headers))
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = f"POST\n/\n\n{lines}\n{';'.join(claim.headers)}\n{digest}"
    # header values are bytes, and latin-1 preserves each of them
    return signature_of(canonical.encode("latin-1"), claim.stamp, claim.scope, secret)


def signature_of(canonical: bytes, stamp: str, scope: str, secret: str) -> str:
    """The signature of a request in its canonical form; each part of the scope derives another key."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    to_sign = f"{_ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical).hexdigest()}"
    return hmac.digest(key, to_sign.encode(), "sha256").hex()


def _canonical(headers: Iterable[tuple[str, str]], name: str) -> str:
    return ",".join(" ".join(value.split()) for key, value in headers if key == name)


def _check_time(stamp: str, now: float) -> None:
    signed_at = timegm(strptime(stamp, _STAMP))
    ours = strftime(_STAMP, gmtime(now))
    if signed_at < now - _SKEW_MINUTES * 60:
        raise AwsFault("InvalidSignatureException", f"Signature expired: {stamp} is too far before {ours}")
    if signed_at > now + _SKEW_MINUTES * 60:
        raise AwsFault("InvalidSignatureException", f"Signature not yet current: {stamp} is too far after {ours}")


def _incomplete(message: str) -> AwsFault:
    return AwsFault("IncompleteSignatureException", message)
