"""Random tokens: nothing but `Unauthenticated` comes out, and only the original is believed."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.identity.errors import TokenRefused
from gateway.identity.principal import Principal
from gateway.model.tenant import tenant_id
from tests.drawn import drawn
from tests.identity.fixtures import (
    AUDIENCE,
    ISSUER,
    NOW,
    TokenVerifier,
    b64,
    claims,
    ec_key,
    good_token,
    header,
    rsa_key,
    sign,
)

FUZZ = settings(
    max_examples=drawn(120, 15),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ORIGINALS = (good_token(), sign(header(alg="ES256", kid="key-2"), claims(), ec_key(), "ES256"))
CHARACTERS = st.sampled_from('ABCZabcz0189-_+/=. \n\t\x00é{}"') | st.characters()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


class SyncVerifier:
    """A verifier on an event loop of its own, which all examples share."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.verifier = TokenVerifier()

    def verify(self, authorization: Any) -> Principal | None:
        try:
            return self.runner.run(self.verifier.authenticator.verify(authorization)).principal
        except TokenRefused as refused:
            # The last net caught something that a parser should have refused: a defect.
            if refused.reason == "unforeseen failure":
                raise
            return None


@pytest.fixture(scope="module")
def verifier() -> Iterator[SyncVerifier]:
    with asyncio.Runner() as runner:
        yield SyncVerifier(runner)


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, str]:
    """An original and what became of it."""
    original = draw(st.sampled_from(ORIGINALS))
    text = original
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        kind = draw(st.sampled_from(["replace", "insert", "delete", "repeat", "swap parts", "case"]))
        piece = draw(st.text(CHARACTERS, min_size=1, max_size=4))
        if kind == "replace":
            text = text[:start] + piece + text[start + len(piece) :]
        elif kind == "insert":
            text = text[:start] + piece + text[start:]
        elif kind == "delete":
            text = text[:start] + text[end:]
        elif kind == "repeat":
            text = text[:end] + text[start:]
        elif kind == "case":
            text = text[:start] + text[start:end].swapcase() + text[end:]
        else:
            text = ".".join(draw(st.permutations(text.split(".")))) if text.count(".") < 5 else text
    return original, text


@FUZZ
@given(mutations())
def test_a_changed_token_is_never_believed(verifier: SyncVerifier, pair: tuple[str, str]) -> None:
    original, changed = pair
    assert (verifier.verify(f"Bearer {changed}") is not None) is (changed in ORIGINALS)
    assert verifier.verify(f"Bearer {original}") is not None


@FUZZ
@given(st.integers(0, len(ORIGINALS[0]) - 1), st.integers(0, 6))
def test_a_flipped_bit_is_never_believed(verifier: SyncVerifier, position: int, bit: int) -> None:
    token = ORIGINALS[0]
    flipped = token[:position] + chr(ord(token[position]) ^ 1 << bit) + token[position + 1 :]
    assert verifier.verify(f"Bearer {flipped}") is None


@FUZZ
@given(st.none() | st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
@example("Bearer " + "." * 9000)
@example("Bearer \ud800.\ud800.\ud800")
def test_a_random_header_is_never_believed(verifier: SyncVerifier, authorization: str | None) -> None:
    assert verifier.verify(authorization) is None


@FUZZ
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_random_parts_are_never_believed(verifier: SyncVerifier, head: bytes, payload: bytes, signature: bytes) -> None:
    assert verifier.verify(f"Bearer {b64(head)}.{b64(payload)}.{b64(signature)}") is None


@FUZZ
@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "jwk", "x"]), JSON, min_size=1))
def test_a_random_header_part_is_refused_or_read(verifier: SyncVerifier, changes: dict[str, Any]) -> None:
    try:
        token = sign({**header(), **changes}, claims(), rsa_key(), "RS256")
    except UnicodeEncodeError:
        return
    believed = verifier.verify(f"Bearer {token}") is not None
    assert not believed or not {"alg", "kid", "crit", "jwk"} & {
        name for name in changes if changes[name] != header().get(name)
    }


@FUZZ
@given(st.dictionaries(st.sampled_from(sorted([*claims(), "nbf"])), JSON, min_size=1))
def test_random_claims_under_a_good_signature_are_refused_or_make_a_valid_principal(
    verifier: SyncVerifier, changes: dict[str, Any]
) -> None:
    signed = claims(**changes)
    principal = verifier.verify(f"Bearer {sign(header(), signed, rsa_key(), 'RS256')}")
    if principal is not None:
        assert principal.tenant == tenant_id(signed["tenant"])
        assert (principal.subject, principal.issuer) == (signed["sub"], ISSUER)
        assert type(signed["exp"]) is int
        assert signed["exp"] == principal.expires_at > NOW - 60
        assert signed["aud"] in (AUDIENCE, [AUDIENCE])
        assert principal.roles <= {"viewer", "support", "editor", "admin"}
