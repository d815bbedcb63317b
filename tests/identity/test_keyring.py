"""Tests of how keys are kept fresh."""

import asyncio
from typing import Any

import pytest

from gateway.identity.errors import KeysUnavailable, TokenRefused
from gateway.identity.issuer import Freshness
from gateway.identity.keyring import Keyring
from tests.identity.fixtures import Clock, Publisher, issuer, public_jwk, rsa_key, settle

FRESHNESS = Freshness(ttl=300, cooldown=10, stale=600, timeout=5)
UNAVAILABLE = "signing keys of the issuer are unavailable"


class KeyringSetup:
    """A keyring with its issuer and its clock at hand."""

    def __init__(self, freshness: Freshness = FRESHNESS, **publisher: Any) -> None:
        self.clock = Clock()
        self.publisher = Publisher(**publisher)
        self.keyring = Keyring(issuer(freshness=freshness), self.publisher, self.clock)

    async def has(self, key_id: str) -> bool:
        try:
            return (await self.keyring.find(key_id)).key_id == key_id
        except (TokenRefused, KeysUnavailable):
            return False


async def test_keys_are_fetched_once_while_they_are_fresh() -> None:
    setup = KeyringSetup()
    assert [await setup.has("key-1") for _ in range(5)] == [True] * 5
    assert setup.publisher.fetches == 1


async def test_many_at_once_share_one_fetch() -> None:
    setup = KeyringSetup()
    assert all(await asyncio.gather(*(setup.has("key-1") for _ in range(50))))
    assert setup.publisher.fetches == 1


async def test_a_thousand_unknown_key_ids_cost_one_fetch_per_cool_down() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    for expected in (1, 2, 3):
        assert not any(await asyncio.gather(*(setup.has(f"unknown-{number}") for number in range(1000))))
        assert setup.publisher.fetches == expected
        setup.clock.now += FRESHNESS.cooldown


async def test_a_new_key_is_found_as_soon_as_the_cool_down_is_over() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.keys.append(public_jwk(rsa_key("other"), "new"))
    assert not await setup.has("new")
    setup.clock.now += FRESHNESS.cooldown
    assert await setup.has("new")


async def test_a_removed_key_stops_verifying_after_a_refresh() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    del setup.publisher.keys[0]
    assert await setup.has("key-1")
    setup.clock.now += FRESHNESS.ttl
    assert not await setup.has("key-1")


async def test_keys_are_refreshed_ahead_of_expiry_and_nobody_waits() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.gate = asyncio.Event()
    setup.clock.now += FRESHNESS.ttl * 0.8
    assert await setup.has("key-1")
    await settle()
    assert setup.publisher.fetches == 2
    setup.publisher.gate.set()
    await settle()
    setup.clock.now += FRESHNESS.ttl * 0.7
    assert await setup.has("key-1")
    assert setup.publisher.fetches == 2


async def test_past_their_ttl_keys_are_believed_only_after_asking_the_issuer() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.clock.now += FRESHNESS.ttl
    setup.publisher.gate = asyncio.Event()
    waiting = asyncio.create_task(setup.has("key-1"))
    await settle()
    assert not waiting.done()
    setup.publisher.keys.clear()
    setup.publisher.gate.set()
    assert not await waiting


async def test_known_keys_serve_a_bounded_time_while_the_issuer_is_down() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.failure = OSError("connection refused")
    setup.clock.now += FRESHNESS.ttl + FRESHNESS.stale - 1
    assert await setup.has("key-1")
    setup.clock.now += 1
    with pytest.raises(KeysUnavailable, match=UNAVAILABLE) as caught:
        await setup.keyring.find("key-1")
    assert caught.value.__cause__ is setup.publisher.failure


async def test_an_issuer_that_just_failed_is_not_waited_for() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.failure = OSError("connection refused")
    setup.clock.now += FRESHNESS.ttl
    assert await setup.has("key-1")
    setup.publisher.gate = asyncio.Event()
    setup.clock.now += FRESHNESS.cooldown
    assert await setup.has("key-1")  # would hang here
    await settle()
    assert setup.publisher.fetches == 3
    setup.publisher.failure = None
    setup.publisher.keys.clear()
    setup.publisher.gate.set()
    await settle()
    assert not await setup.has("key-1")


async def test_an_issuer_that_failed_long_ago_is_asked_before_old_keys_are_believed() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.failure = OSError("connection refused")
    setup.clock.now += FRESHNESS.ttl
    assert await setup.has("key-1")
    setup.publisher.failure = None
    setup.publisher.keys.clear()
    setup.clock.now += 2 * FRESHNESS.cooldown
    assert not await setup.has("key-1")


async def test_an_issuer_that_was_never_reached_verifies_nothing_and_is_asked_once_per_cool_down() -> None:
    setup = KeyringSetup(failure=OSError("no route"))
    for _ in range(3):
        with pytest.raises(KeysUnavailable, match=UNAVAILABLE):
            await setup.keyring.find("key-1")
    assert setup.publisher.fetches == 1
    setup.publisher.failure = None
    setup.clock.now += FRESHNESS.cooldown
    assert await setup.has("key-1")


async def test_a_malformed_answer_does_not_replace_good_keys() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.publisher.keys = [None] * 101
    setup.clock.now += FRESHNESS.cooldown
    assert not await setup.has("unknown")
    assert setup.publisher.fetches == 2
    assert await setup.has("key-1")


async def test_a_skipped_key_is_refused_with_the_reason_for_the_log() -> None:
    setup = KeyringSetup(keys=[public_jwk(rsa_key(), "key-1", use="enc")])
    with pytest.raises(TokenRefused, match="unknown signing key") as caught:
        await setup.keyring.find("key-1")
    assert caught.value.reason == "`use` is not `sig`"


async def test_a_fetch_that_takes_too_long_is_given_up() -> None:
    setup = KeyringSetup(Freshness(timeout=0.01), gate=asyncio.Event())
    async with asyncio.timeout(60):
        with pytest.raises(KeysUnavailable, match=UNAVAILABLE) as caught:
            await setup.keyring.find("key-1")
    assert isinstance(caught.value.__cause__, TimeoutError)


async def test_a_cancelled_request_leaves_the_fetch_to_the_others() -> None:
    setup = KeyringSetup(gate=asyncio.Event())
    first, second = (asyncio.create_task(setup.has("key-1")) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    assert first.cancelled()
    assert setup.publisher.gate is not None
    setup.publisher.gate.set()
    assert await second
    assert setup.publisher.fetches == 1


async def test_a_clock_set_back_does_not_prolong_the_life_of_keys() -> None:
    setup = KeyringSetup()
    assert await setup.has("key-1")
    setup.clock.now -= 3600
    setup.publisher.keys.clear()
    assert not await setup.has("key-1")


async def test_closing_ends_the_fetch_under_way_and_those_who_wait_are_refused() -> None:
    setup = KeyringSetup(gate=asyncio.Event())
    waiting = asyncio.create_task(setup.has("key-1"))
    await settle()
    await setup.keyring.close()
    assert not await waiting


async def test_closing_what_was_never_used_is_quiet() -> None:
    setup = KeyringSetup()
    await setup.keyring.close()
    assert setup.publisher.fetches == 0
