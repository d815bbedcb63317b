"""A cursor opens for the tenant, the listing and the arguments it was made for, and for nothing else."""

import base64
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadUserInput
from gateway.store.cursor import Cursors
from gateway.store.plan import Range
from tests.store.fixtures import ACME, GLOBEX, Colour

CURSORS = Cursors("a secret for tests")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ARGUMENTS: dict[str, Any] = {
    "kind": "door",
    "colour": Colour.RED,
    "open": True,
    "at": Range(NOON, None),
    "price": Range(Decimal("1.50"), 3),
}
POSITION = "2026-03-01T12:00:00.000000Z#someone@example.com"
CURSOR = CURSORS.seal(ACME, "things", ARGUMENTS, POSITION)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


def opened(cursor: str) -> str:
    return CURSORS.open(ACME, "things", ARGUMENTS, cursor)


@given(TEXT)
def test_a_position_comes_back_as_it_was(position: str) -> None:
    assert opened(CURSORS.seal(ACME, "things", ARGUMENTS, position)) == position


def test_a_cursor_does_not_reveal_its_position() -> None:
    assert b"example" not in base64.urlsafe_b64decode(CURSOR + "==")


def test_equal_positions_have_equal_cursors() -> None:
    assert CURSORS.seal(ACME, "things", ARGUMENTS, POSITION) == CURSOR


@given(st.integers(0, len(CURSOR) * 8 - 1))
def test_one_flipped_bit_of_the_text_is_refused(bit: int) -> None:
    flipped = bytearray(CURSOR.encode())
    flipped[bit // 8] ^= 1 << bit % 8
    with pytest.raises(BadUserInput):
        opened(flipped.decode("latin-1"))


@given(st.data())
def test_one_flipped_bit_of_the_content_is_refused(data: st.DataObject) -> None:
    raw = bytearray(base64.urlsafe_b64decode(CURSOR + "=" * (-len(CURSOR) % 4)))
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(BadUserInput):
        opened(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())


@given(st.integers(0, len(CURSOR) - 1))
def test_a_truncated_cursor_is_refused(length: int) -> None:
    with pytest.raises(BadUserInput):
        opened(CURSOR[:length])


@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_whatever_a_caller_makes_up_is_refused(cursor: str) -> None:
    with pytest.raises(BadUserInput):
        opened(cursor)


@pytest.mark.parametrize(
    "cursor",
    ["", "=", "é" * 20, "日本", "\x00", "\ud800", "A" * 5_000, CURSOR * 70, CURSOR + "=", CURSOR + "\n", " " + CURSOR],
)
def test_a_cursor_of_a_wrong_shape_is_refused(cursor: str) -> None:
    with pytest.raises(BadUserInput, match="the cursor does not belong to this list and these arguments"):
        opened(cursor)


def test_a_cursor_longer_than_any_key_is_not_even_looked_at() -> None:
    with pytest.raises(BadUserInput):
        opened(CURSORS.seal(ACME, "things", ARGUMENTS, "x" * 3_500))


def test_a_cursor_of_another_version_is_refused() -> None:
    raw = base64.urlsafe_b64decode(CURSOR + "=" * (-len(CURSOR) % 4))
    assert raw[0] == 1
    with pytest.raises(BadUserInput):
        opened(base64.urlsafe_b64encode(b"\x02" + raw[1:]).rstrip(b"=").decode())


@pytest.mark.parametrize(
    ("tenant", "listing", "changes"),
    [
        (GLOBEX, "things", {}),
        (ACME, "thing", {}),
        (ACME, "things", {"kind": "gate"}),
        (ACME, "things", {"kind": None}),
        (ACME, "things", {"colour": Colour.BLUE}),
        (ACME, "things", {"open": False}),
        (ACME, "things", {"at": Range(None, NOON)}),
        (ACME, "things", {"at": Range(NOON, NOON)}),
        (ACME, "things", {"at": Range(NOON + timedelta(microseconds=1), None)}),
        (ACME, "things", {"price": Range(Decimal("1.51"), 3)}),
        (ACME, "things", {"more": "x"}),
    ],
)
def test_a_cursor_of_another_tenant_listing_or_question_is_refused(
    tenant: Any, listing: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(BadUserInput):
        CURSORS.open(tenant, listing, {**ARGUMENTS, **changes}, CURSOR)


def test_numbers_are_compared_in_all_of_their_digits() -> None:
    one, other = (Decimal(f"1.{'0' * 36}{digit}") for digit in (1, 2))
    cursor = CURSORS.seal(ACME, "things", {"price": one}, POSITION)
    with pytest.raises(BadUserInput):
        CURSORS.open(ACME, "things", {"price": other}, cursor)


def test_the_same_question_in_other_words_is_the_same_question() -> None:
    same = {
        "price": Range(Decimal("1.5000"), Decimal("3.0")),
        "at": Range(NOON.astimezone(timezone(timedelta(hours=9))), None),
        "open": True,
        "colour": Colour.RED,
        "kind": "door",
        "shade": None,
    }
    assert CURSORS.open(ACME, "things", same, CURSOR) == POSITION


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "\ud800"},
        {"kind": object()},
        {"at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))},
        {"price": Decimal("sNaN")},
        {"price": 10**40},
        {"price": Decimal("1E+999999")},
    ],
)
def test_arguments_that_are_wrong_themselves_do_no_harm(arguments: dict[str, Any]) -> None:
    with pytest.raises(BadUserInput):
        CURSORS.open(ACME, "things", arguments, CURSOR)


def test_a_listing_cannot_be_shifted_into_the_arguments() -> None:
    cursor = CURSORS.seal(ACME, "ab", {}, POSITION)
    with pytest.raises(BadUserInput):
        CURSORS.open(ACME, "a", {"b": ""}, cursor)


def test_another_secret_opens_nothing() -> None:
    with pytest.raises(BadUserInput):
        Cursors("another secret").open(ACME, "things", ARGUMENTS, CURSOR)
