"""Tests of key sets."""

import json
from typing import Any

import pytest

from gateway.identity.keys import MAX_BYTES, KeySet, read_key_set
from tests.identity.fixtures import ec_key, public_jwk, rsa_key

GOOD = public_jwk(rsa_key(), "good")


def key_set(*keys: Any) -> KeySet:
    return read_key_set(json.dumps({"keys": keys}).encode(), ("RS256", "ES256"))


def test_usable_keys_are_found_by_their_id() -> None:
    found = key_set(GOOD, public_jwk(ec_key(), "curve"))
    assert set(found.keys) == {"good", "curve"}
    assert not found.skipped


@pytest.mark.parametrize("bad", [None, 1, "text", [], {}, {"kty": "RSA"}, {"kid": 5}, {**GOOD, "kid": None}])
def test_a_nameless_or_shapeless_entry_spoils_only_itself(bad: object) -> None:
    assert set(key_set(bad, GOOD, bad).keys) == {"good"}


def test_an_unusable_key_is_skipped_with_its_reason() -> None:
    found = key_set(GOOD, {**GOOD, "kid": "enc", "use": "enc"}, {"kty": "oct", "kid": "secret", "k": "AQAB"})
    assert set(found.keys) == {"good"}
    assert found.skipped == {"enc": "`use` is not `sig`", "secret": "a private or symmetric key was published"}


@pytest.mark.parametrize("twin", [GOOD, public_jwk(ec_key(), "good"), {**GOOD, "use": "enc"}, {"kid": "good"}])
def test_a_key_id_names_exactly_one_key_and_where_two_share_it_neither_verifies_anything(twin: dict[str, Any]) -> None:
    found = key_set(GOOD, twin, public_jwk(rsa_key("other"), "unique"))
    assert set(found.keys) == {"unique"}
    assert found.skipped == {"good": "two keys share this `kid`"}


def test_an_empty_set_is_a_set_without_keys() -> None:
    assert key_set() == KeySet()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"keys":null}',
        b'{"keys":{}}',
        b'{"keys":[],"keys":[]}',
        json.dumps({"keys": [GOOD | {"kid": str(number)} for number in range(101)]}).encode(),
        b'{"keys":[]}' + b" " * MAX_BYTES,
    ],
)
def test_an_invalid_key_set_is_refused_as_a_whole(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_key_set(raw, ("RS256",))
