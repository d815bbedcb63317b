"""From a signed request to the one who signed it; everything that is wrong with it is a fault as AWS words it."""

import hmac

from gateway.sandbox.account import Caller, Registry
from gateway.sandbox.sigv4 import Claim, Request, read_claim, verify
from gateway.sandbox.wire import AwsFault


def authenticate(request: Request, registry: Registry, scope: tuple[str, str], now: float) -> Caller:
    """`scope` is the region and the API that the signature must be for."""
    claim = read_claim(request)
    _check_scope(claim, scope)
    caller = registry.find(claim.access_key)
    token = request.header("x-amz-security-token")
    # INVARIANT: a key of a session is nothing without that session's token.
    if caller is None or not _same(caller.credentials.session_token, token):
        raise AwsFault("UnrecognizedClientException", "The security token included in the request is invalid.")
    verify(request, claim, caller.credentials.secret_key, now)
    if caller.credentials.expires_at <= now:
        raise AwsFault("ExpiredTokenException", "The security token included in the request is expired")
    return caller


def _check_scope(claim: Claim, scope: tuple[str, str]) -> None:
    region, api = scope
    if claim.region != region:
        message = f"Credential should be scoped to a valid region, not '{claim.region}': the sandbox is in {region}."
        raise AwsFault("InvalidSignatureException", message)
    if claim.api != api:
        raise AwsFault("InvalidSignatureException", f"Credential should be scoped to correct service: '{api}'.")


def _same(expected: str | None, given: str | None) -> bool:
    return hmac.compare_digest((expected or "").encode(), (given or "").encode("latin-1"))
