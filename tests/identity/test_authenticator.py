"""Tests of the whole way from a header to a Principal."""

import inspect
import json

import jose.exceptions
import pytest

from gateway.errors import ConfigurationError, Unauthenticated, Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.errors import TokenRefused
from gateway.identity.issuer import Freshness
from tests.identity.fixtures import (
    AUDIENCE,
    NOW,
    TokenVerifier,
    claims,
    ec_key,
    good_token,
    header,
    issuer,
    public_jwk,
    rsa_key,
    sign,
)

JOSE_ERRORS = [error for _, error in inspect.getmembers(jose.exceptions, inspect.isclass)]
OTHER_ERRORS = [TypeError, OverflowError, RecursionError, KeyError, ValueError, MemoryError, AssertionError]


async def test_rs256_and_es256_tokens_are_believed() -> None:
    verifier = TokenVerifier()
    assert (await verifier.principal(good_token())).tenant == "acme"
    token = sign(header(alg="ES256", kid="key-2"), claims(sub="user-2"), ec_key(), "ES256")
    assert (await verifier.principal(token)).subject == "user-2"
    assert verifier.publisher.fetches == 1


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_the_scheme_is_read_in_any_case(scheme: str) -> None:
    assert (await TokenVerifier().authenticator.verify(f"{scheme} {good_token()}")).principal.tenant == "acme"


@pytest.mark.parametrize(
    "pattern",
    [
        *("", " ", "{}", " {}", "Bearer", "Bearer ", "Bearer  {}", "Bearer {} ", " Bearer {}", "Bearer\t{}"),
        *("Basic {}", "Bearer {} {}", "Bearer {}, Bearer {}", "Bearer, {}", "Bearer:{}", "BearerX {}", "DPoP {}"),
    ],
)
async def test_a_header_of_another_form_is_refused(pattern: str) -> None:
    with pytest.raises(TokenRefused, match="authorization header is not `Bearer <token>`"):
        await TokenVerifier().authenticator.verify(pattern.replace("{}", good_token()))


async def test_a_missing_header_is_refused() -> None:
    with pytest.raises(TokenRefused, match="authorization header missing"):
        await TokenVerifier().authenticator.verify(None)


async def test_each_issuer_has_its_own_keys_and_rules() -> None:
    other = issuer(issuer="https://other.example", audience=("other",), tenants=frozenset({"globex"}))
    verifier = TokenVerifier(issuers=(issuer(), other))
    assert (await verifier.principal(good_token())).issuer == "https://issuer.example/"
    token = good_token(iss="https://other.example", aud="other", tenant="globex")
    assert (await verifier.principal(token)).issuer == "https://other.example"
    foreign = good_token(iss="https://other.example", aud="other", tenant="acme")
    assert (await verifier.refusal(foreign)).message == "the issuer may not speak for this tenant"
    mixed = good_token(iss="https://other.example", aud=AUDIENCE, tenant="globex")
    assert (await verifier.refusal(mixed)).message == "token is for another audience"


async def test_a_key_of_one_issuer_does_not_verify_tokens_of_another() -> None:
    own = {"https://issuer.example/jwks.json": rsa_key(), "https://other.example/jwks": rsa_key("other")}

    async def fetch(url: str) -> bytes:
        return json.dumps({"keys": [public_jwk(own[url], "key-1")]}).encode()

    other = issuer(issuer="https://other.example", jwks_url="https://other.example/jwks")
    authenticator = Authenticator([issuer(), other], fetch=fetch, clock=lambda: NOW)
    forged = sign(header(), claims(), rsa_key("other"), "RS256")
    with pytest.raises(TokenRefused, match="signature does not match"):
        await authenticator.verify(f"Bearer {forged}")
    honest = sign(header(), claims(iss="https://other.example"), rsa_key("other"), "RS256")
    assert (await authenticator.verify(f"Bearer {honest}")).principal.issuer == "https://other.example"


def test_an_issuer_listed_twice_is_a_fault_of_configuration() -> None:
    with pytest.raises(ConfigurationError, match="listed twice"):
        Authenticator([issuer(), issuer(audience=("other",))])


@pytest.mark.parametrize("error", [*JOSE_ERRORS, *OTHER_ERRORS], ids=lambda error: error.__name__)
async def test_every_error_of_jose_is_a_refusal(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise error("secret detail")

    monkeypatch.setattr("gateway.identity.keys.jws.verify", fail)
    refusal = await TokenVerifier().refusal(good_token())
    assert isinstance(refusal, Unauthenticated)
    assert "secret" not in refusal.message + refusal.reason
    assert isinstance(refusal.__cause__, error)


async def test_a_refusal_says_nothing_of_the_token() -> None:
    refusal = await TokenVerifier().refusal(good_token(tenant="ac#me", sub="somebody"))
    assert refusal.message == "claim `tenant` names no tenant"
    assert "ac#me" not in refusal.message + refusal.reason


async def test_a_token_that_nobody_can_judge_is_not_refused_but_to_be_tried_again() -> None:
    """A user that gets a 401 signs in again; with an issuer that is down, all would at once."""
    verifier = TokenVerifier()
    verifier.publisher.failure = OSError("gone")
    with pytest.raises(Unavailable):
        await verifier.principal(good_token())


async def test_a_key_that_is_new_while_the_issuer_is_down_may_be_good_and_one_that_it_does_not_publish_is_not() -> None:
    verifier = TokenVerifier(issuers=(issuer(freshness=Freshness(ttl=300, cooldown=5, stale=600)),))
    assert await verifier.accepts(good_token())
    unknown = sign(header(kid="another"), claims(), rsa_key(), "RS256")
    assert not await verifier.accepts(unknown)
    verifier.clock.now += 6
    verifier.publisher.failure = OSError("gone")
    with pytest.raises(Unavailable):
        await verifier.principal(unknown)
    assert await verifier.accepts(good_token()), "known keys still serve"


async def test_closing_ends_every_keyring() -> None:
    verifier = TokenVerifier()
    await verifier.principal(good_token())
    await verifier.authenticator.close()
    assert await verifier.accepts(good_token())


async def test_an_expired_token_holds_no_longer_while_its_issuer_cannot_be_reached() -> None:
    verifier = TokenVerifier()
    verified = await verifier.authenticator.verify(f"Bearer {good_token()}")
    verifier.publisher.failure = OSError("down")
    verifier.clock.now = NOW + 30 * 86_400
    assert not await verifier.authenticator.still_holds(verified)
