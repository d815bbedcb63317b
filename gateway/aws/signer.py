"""Signature version 4 for requests of one form: `POST /`, JSON, the operation named by `X-Amz-Target`."""

import hashlib
import hmac
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from gateway.aws.credentials import Credentials

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Form:
    """What all requests of one operation at one target have in common."""

    region: str
    authority: str
    content_type: str
    operation: str
    # the canonical request before and after the lines that change with the moment and the credentials
    opening: str = field(init=False, repr=False)
    closing: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        opening = f"POST\n/\n\ncontent-type:{_trim(self.content_type)}\nhost:{self.authority}\nx-amz-date:"
        object.__setattr__(self, "opening", opening)
        object.__setattr__(self, "closing", f"x-amz-target:{_trim(self.operation)}\n\n")


class _Key(NamedTuple):
    """What a day's requests with the same credentials in the same region have in common."""

    # already keyed: a copy costs less than a new one
    mac: hmac.HMAC
    scope: str
    token_line: str
    signed_headers: str
    headers: str


class Signer:
    """Derives the signing key once for credentials, day and region; keeps the ones used last."""

    def __init__(self, name: str, keys: int = 16_384) -> None:
        self._name = name
        self._key = lru_cache(maxsize=keys)(self._derive)
        self._stamp = lru_cache(maxsize=8)(_stamp)

    def headers(self, form: Form, credentials: Credentials, body: bytes, moment: float) -> str:
        """The header lines that sign the request; `moment` is in seconds since the epoch."""
        stamp = self._stamp(int(moment))
        key = self._key(credentials, stamp[:8], form.region)
        canonical = (
            f"{form.opening}{stamp}\n{key.token_line}{form.closing}{key.signed_headers}\n"
            f"{hashlib.sha256(body).hexdigest()}"
        )
        to_sign = f"{_ALGORITHM}\n{stamp}\n{key.scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        mac = key.mac.copy()
        mac.update(to_sign.encode())
        return f"X-Amz-Date: {stamp}\r\n{key.headers}{mac.hexdigest()}\r\n"

    def _derive(self, credentials: Credentials, day: str, region: str) -> _Key:
        signing_key = f"AWS4{credentials.secret_key}".encode()
        for part in (day, region, self._name, "aws4_request"):
            signing_key = hmac.digest(signing_key, part.encode(), "sha256")
        scope = f"{day}/{region}/{self._name}/aws4_request"
        token = credentials.session_token
        signed = f"content-type;host;x-amz-date;{'x-amz-security-token;' if token else ''}x-amz-target"
        authorization = f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={signed}, Signature="
        token_header = f"X-Amz-Security-Token: {token}\r\n" if token else ""
        return _Key(
            mac=hmac.new(signing_key, digestmod="sha256"),
            scope=scope,
            token_line=f"x-amz-security-token:{_trim(token)}\n" if token else "",
            signed_headers=signed,
            headers=f"{token_header}Authorization: {authorization}",
        )


def _stamp(second: int) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))


def _trim(value: str) -> str:
    """A header's value as it is signed: without spaces around it, with single ones inside."""
    return " ".join(value.split())
