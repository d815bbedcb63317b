"""Tests with the attack corpus and with attacks that need more than one token."""

import asyncio

import pytest

from gateway.identity.issuer import Freshness
from tests.identity.attacks import ATTACKS, PARTS, stray_bits, with_header, with_own_key
from tests.identity.fixtures import TokenVerifier, claims, good_token, header, issuer, public_jwk, rsa_key, sign


@pytest.mark.parametrize("name", ATTACKS)
async def test_the_attack_is_refused_for_its_own_reason(name: str) -> None:
    make, reason = ATTACKS[name]
    verifier = TokenVerifier()
    assert await verifier.accepts(good_token()), "the honest twin must pass"
    assert (await verifier.refusal(make())).reason == reason


@pytest.mark.parametrize(
    "tenant",
    [
        "ac#me",
        "*",
        "ácme",
        "\N{KELVIN SIGN}elvin",
        "a" * 300,
        "",
        7,
        ["acme"],
        {"id": "acme"},
        "acme\n",
        "?",
        "..",
        "${x}",
    ],
)
async def test_a_signed_token_with_a_bad_tenant_is_refused(tenant: object) -> None:
    assert (await TokenVerifier().refusal(good_token(tenant=tenant))).message == "claim `tenant` names no tenant"


@pytest.mark.parametrize("exponent", range(1, 4))
async def test_stray_bits_are_refused_in_every_part_that_has_room_for_them(exponent: int) -> None:
    verifier = TokenVerifier()
    for part in range(3):
        token = good_token(pad="x" * exponent)
        parts = token.split(".")
        if len(parts[part]) % 4:
            parts[part] = stray_bits(parts[part])
            assert (await verifier.refusal(".".join(parts))).reason == PARTS


async def test_an_id_token_is_told_apart_by_a_required_claim_even_for_our_audience() -> None:
    verifier = TokenVerifier(issuers=(issuer(required_claims={"token_use": "access"}),))
    assert await verifier.accepts(good_token(token_use="access"))
    assert (
        await verifier.refusal(good_token(token_use="id"))
    ).message == "claim `token_use` does not have the required value"


async def test_an_id_token_is_told_apart_by_its_type_where_the_issuer_follows_rfc_9068() -> None:
    verifier = TokenVerifier(issuers=(issuer(types=("at+jwt",)),))
    assert await verifier.accepts(with_header(typ="at+jwt"))
    for kind in ("JWT", ...):
        assert (await verifier.refusal(with_header(typ=kind))).message == "token type not allowed"


async def test_a_token_without_a_type_is_believed_by_default_as_cognito_sends_none() -> None:
    assert await TokenVerifier().accepts(with_header(typ=...))


async def test_a_key_that_names_its_algorithm_is_not_used_with_another() -> None:
    verifier = TokenVerifier(issuers=(issuer(algorithms=("RS256", "RS512")),))
    verifier.publisher.keys = [public_jwk(rsa_key(), "key-1", alg="RS512")]
    assert (await verifier.refusal(good_token())).reason == "the key is not for this algorithm"
    assert await verifier.accepts(sign(header(alg="RS512"), claims(), rsa_key(), "RS512"))


async def test_two_keys_of_one_id_verify_nothing() -> None:
    verifier = TokenVerifier()
    verifier.publisher.keys.append(public_jwk(rsa_key("attacker"), "key-1"))
    for token in (good_token(), with_own_key()):
        assert (await verifier.refusal(token)).reason == "two keys share this `kid`"


async def test_a_key_for_encryption_verifies_nothing() -> None:
    verifier = TokenVerifier()
    verifier.publisher.keys = [public_jwk(rsa_key(), "key-1", use="enc")]
    assert (await verifier.refusal(good_token())).reason == "`use` is not `sig`"


async def test_a_thousand_unknown_keys_do_not_stampede_the_issuer() -> None:
    verifier = TokenVerifier()
    assert await verifier.accepts(good_token())
    verifier.clock.now += Freshness().cooldown
    tokens = [with_own_key(kid=f"unknown-{number}") for number in range(5)] * 200
    refusals = await asyncio.gather(*(verifier.refusal(token) for token in tokens))
    assert {refusal.message for refusal in refusals} == {"unknown signing key"}
    assert verifier.publisher.fetches == 2
    assert await verifier.accepts(good_token())


async def test_tokens_of_unknown_issuers_fetch_nothing() -> None:
    verifier = TokenVerifier()
    assert (await verifier.refusal(good_token(iss="https://attacker.example/"))).message == "unknown issuer"
    assert verifier.publisher.fetches == 0


async def test_a_rotated_out_key_stops_verifying() -> None:
    verifier, token = TokenVerifier(), good_token()
    assert await verifier.accepts(token)
    verifier.publisher.keys = [public_jwk(rsa_key("new"), "key-9")]
    verifier.clock.now += Freshness().ttl
    assert (await verifier.refusal(token)).message == "unknown signing key"
    assert (await verifier.refusal(good_token(sub="user-2"))).message == "unknown signing key"
    assert await verifier.accepts(sign(header(kid="key-9"), claims(), rsa_key("new"), "RS256"))
