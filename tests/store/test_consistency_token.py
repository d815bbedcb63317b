"""Consistency tokens: sealed, bound to their caller, short, and harmless when they are old."""

import pytest

from gateway.errors import BadUserInput
from gateway.model.keys import ItemKey
from gateway.model.tenant import partition, tenant_id
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.store.consistency_token import TOKEN_SECONDS, ConsistencyTokens
from gateway.store.cursor import Cursors
from gateway.store.own_writes import MOST_ITEMS, OwnWrites

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
NOW = 1_000_000
CURSORS = Cursors("a secret for tests")
TOKENS = ConsistencyTokens(CURSORS, lambda: NOW)
KEY = ItemKey(partition(ACME, "USER#ada@example.com"), "DETAILS")
PLACES = (
    WrittenPlace("GSI1", partition(ACME, "L"), "X"),
    WrittenPlace("GSI2", None, "Y"),
    WrittenPlace("GSI3", None, None),
)
WRITES = OwnWrites().plus([Written(KEY, PLACES)], NOW)
TOKEN = TOKENS.seal(ACME, "ada", WRITES)


def test_it_is_read_by_any_process_with_the_secret() -> None:
    assert ConsistencyTokens(Cursors("a secret for tests"), lambda: NOW).open(ACME, "ada", TOKEN) == WRITES


def test_it_does_not_show_what_it_holds() -> None:
    assert "ada" not in TOKEN
    assert len(TOKEN) < 400


@pytest.mark.parametrize(("tenant", "subject"), [(GLOBEX, "ada"), (ACME, "bob"), (ACME, "")])
def test_it_is_bound_to_tenant_and_subject(tenant: str, subject: str) -> None:
    with pytest.raises(BadUserInput, match="damaged or not yours"):
        TOKENS.open(tenant_id(tenant), subject, TOKEN)


def test_no_cursor_is_a_token_and_no_token_a_cursor() -> None:
    cursor = CURSORS.seal("acme#ada", "users", {}, "[[],1000000]")
    with pytest.raises(BadUserInput):
        TOKENS.open(ACME, "ada", cursor)
    with pytest.raises(BadUserInput):
        CURSORS.open("acme#ada", "users", {}, TOKEN)


@pytest.mark.parametrize("token", ["", "x", "é", TOKEN[:-2], TOKEN + "A", "A" * 5_000])
def test_a_damaged_one_is_refused(token: str) -> None:
    with pytest.raises(BadUserInput, match="damaged or not yours"):
        TOKENS.open(ACME, "ada", token)


def test_an_old_one_holds_nothing() -> None:
    at_last = ConsistencyTokens(CURSORS, lambda: NOW + TOKEN_SECONDS)
    assert at_last.open(ACME, "ada", TOKEN) == WRITES
    over = ConsistencyTokens(CURSORS, lambda: NOW + TOKEN_SECONDS + 1)
    assert over.open(ACME, "ada", TOKEN) is None


def test_many_long_keys_become_a_short_token_that_stands_for_anything() -> None:
    many = [Written(ItemKey(partition(ACME, f"{number}" * 100), "X" * 500)) for number in range(MOST_ITEMS)]
    token = TOKENS.seal(ACME, "ada", OwnWrites().plus(many, NOW))
    opened = TOKENS.open(ACME, "ada", token)
    assert len(token) < 4_000
    assert opened is not None
    assert opened.anything
