"""Values inside keys: one spelling each, in the order of the values, and never a separator."""

import decimal
import enum
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadUserInput
from gateway.model.types import (
    Boolean,
    DecimalNumber,
    EnumOf,
    Id,
    Integer,
    KeyString,
    KeyType,
    Timestamp,
    timestamp_text,
    utc,
)
from gateway.model.types.numbers import exact as exact_number
from tests.model.build import Colour

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMESTAMPS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)  # noqa: DTZ001  the strategy adds the zone
PRICES = st.decimals(0, 99_999_999, allow_nan=False, allow_infinity=False, places=2)


class Nowhere(tzinfo):
    """A time zone that knows nothing: what carries it counts as naive."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        return "nowhere"


class Renamed(enum.Enum):
    OLD = 1
    ALIAS = 1  # noqa: PIE796  an alias is meant


@pytest.mark.parametrize("text", ["a", "0", "u-1", "a.b:c@d+e_f", "A" * 128])
def test_an_id_is_its_own_text(text: str) -> None:
    assert Id().key_text("userId", text) == text


@pytest.mark.parametrize(
    "value",
    ["", "a#b", "#", "-a", ".a", "a b", "a/b", "a\n", "é", "١", "A" * 129, "a\x00", None, 7, ["a"], b"a", "\ud800"],
)
def test_an_invalid_id_is_refused_and_the_attribute_named(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`userId` is not a valid id"):
        Id().key_text("userId", value)


@pytest.mark.parametrize(
    "text", ["ann@example.org", "+49 30 123", "Zoë", "日本", "a" * 256, "é" * 128, '"quoted" name']
)
def test_key_text_is_its_own_text(text: str) -> None:
    assert KeyString().key_text("email", text) == text


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a#b",
        "#",
        "a\x00",
        "a\n",
        "a\x7f",
        "a\x85",
        "\ud800",
        "a\U0010ffff",
        "a" * 257,
        "é" * 129,
        "😀" * 65,
        None,
        7,
    ],
)
def test_what_may_not_stand_in_a_key_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`email` is not a valid key"):
        KeyString().key_text("email", value)


@given(st.text(max_size=80))
def test_no_text_brings_a_separator_into_a_key(text: str) -> None:
    for kind in (Id(), KeyString()):
        try:
            part = kind.key_text("part", text)
        except BadUserInput:
            continue
        assert "#" not in part
        assert 0 < len(part.encode()) <= 256


def test_a_timestamp_is_written_in_utc_with_six_decimals() -> None:
    berlin = timezone(timedelta(hours=2))
    assert timestamp_text("at", datetime(2026, 5, 6, 1, 2, 3, tzinfo=berlin)) == "2026-05-05T23:02:03.000000Z"
    assert timestamp_text("at", datetime(99, 1, 1, tzinfo=UTC)) == "0099-01-01T00:00:00.000000Z"
    assert Timestamp().key_text("at", datetime(2026, 1, 1, 0, 0, 0, 7, tzinfo=UTC)) == "2026-01-01T00:00:00.000007Z"


@given(TIMESTAMPS, TIMESTAMPS)
def test_stored_timestamps_sort_by_time(one: datetime, other: datetime) -> None:
    texts = timestamp_text("at", one), timestamp_text("at", other)
    assert (texts[0] < texts[1]) is (one < other)
    assert (texts[0] == texts[1]) is (one == other)
    assert Timestamp().key_pattern.fullmatch(texts[0])


@pytest.mark.parametrize(
    "value",
    ["2026-01-01T00:00:00Z", None, 0, datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=Nowhere())],  # noqa: DTZ001
)
def test_a_timestamp_without_a_time_zone_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`at` needs a date and time with a time zone"):
        utc("at", value)


@pytest.mark.parametrize(
    "value",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=2))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=2))),
    ],
)
def test_a_timestamp_outside_of_utc_dates_is_refused(value: datetime) -> None:
    with pytest.raises(BadUserInput, match="outside the years"):
        timestamp_text("at", value)


@pytest.mark.parametrize(
    ("value", "width", "scale", "text"),
    [
        (decimal.Decimal("9.99"), 10, 2, "0000000009.99"),
        (decimal.Decimal("9.9900"), 10, 2, "0000000009.99"),
        (decimal.Decimal("1E+3"), 10, 2, "0000001000.00"),
        (0, 3, 0, "000"),
        (decimal.Decimal("-0"), 3, 1, "000.0"),
        (7, 3, 0, "007"),
        (decimal.Decimal("7.0"), 3, 0, "007"),
        (999, 3, 0, "999"),
        (decimal.Decimal("0.05"), 1, 2, "0.05"),
        (decimal.Decimal("1234567890123456789012345678901234.5678"), 34, 4, "1234567890123456789012345678901234.5678"),
    ],
)
def test_numbers_are_padded(value: Any, width: int, scale: int, text: str) -> None:
    assert DecimalNumber().key_text("price", value, width, scale) == text
    assert DecimalNumber().key_pattern.fullmatch(text)


@pytest.mark.parametrize(
    "value",
    [
        -1,
        decimal.Decimal("-0.01"),
        1000,
        decimal.Decimal("999.995"),
        decimal.Decimal("1.001"),
        decimal.Decimal("1e35"),
        10**37,
        decimal.Decimal("1e-100"),
    ],
)
def test_a_number_that_would_not_fit_or_would_be_rounded_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`price` must be 0 or more, below 1e3, with at most 2 decimals"):
        DecimalNumber().key_text("price", value, 3, 2)


@given(PRICES, PRICES)
def test_padded_numbers_sort_as_their_values(one: decimal.Decimal, other: decimal.Decimal) -> None:
    texts = [DecimalNumber().key_text("price", value, 10, 2) for value in (one, other)]
    assert (texts[0] < texts[1]) is (one < other)
    assert (texts[0] == texts[1]) is (one == other)
    assert decimal.Decimal(texts[0]) == one


@given(st.integers(0, 10**12 - 1), st.integers(0, 10**12 - 1))
def test_padded_integers_sort_as_their_values(one: int, other: int) -> None:
    texts = [Integer().key_text("count", value, 12) for value in (one, other)]
    assert (texts[0] < texts[1]) is (one < other)
    assert int(texts[0]) == one


@pytest.mark.parametrize("value", ["1", 1.5, True, None, [1]])
def test_an_inexact_number_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`price` needs a whole number or a decimal"):
        exact_number("price", value)


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_an_infinite_number_is_refused(text: str) -> None:
    with pytest.raises(BadUserInput, match="`price` needs a finite number"):
        exact_number("price", decimal.Decimal(text))


def test_numbers_keep_38_digits_and_not_one_more() -> None:
    exact = decimal.Decimal("1.2345678901234567890123456789012345678")
    assert exact_number("price", exact) == exact
    assert exact_number("price", 10**100) == 10**100
    assert str(exact_number("price", decimal.Decimal("12.50"))) == "12.50"
    assert str(exact_number("price", decimal.Decimal("1." + "0" * 38))) == "1", (
        "39 digits would make the item unreadable"
    )
    with pytest.raises(BadUserInput, match="more than 38 significant digits"):
        exact_number("price", decimal.Decimal("1.23456789012345678901234567890123456789"))
    with pytest.raises(BadUserInput, match="more than 38 significant digits"):
        exact_number("price", 10**40 + 1)


@pytest.mark.parametrize("text", ["1e126", "1e-131", "-1e126"])
def test_a_number_beyond_what_the_table_holds_is_refused(text: str) -> None:
    with pytest.raises(BadUserInput, match="larger or smaller"):
        exact_number("price", decimal.Decimal(text))


def test_there_is_one_zero() -> None:
    assert str(exact_number("price", decimal.Decimal("-0.00"))) == "0"


def test_a_flag_is_true_or_false_and_nothing_like_it() -> None:
    assert [Boolean().key_text("active", value) for value in (True, False)] == ["true", "false"]
    for value in ("false", "", 0, 1, None):
        with pytest.raises(BadUserInput, match="`active` needs true or false"):
            Boolean().key_text("active", value)


def test_a_choice_is_the_name_of_its_member() -> None:
    assert EnumOf(Colour).key_text("colour", Colour.RED) == "RED"
    assert EnumOf(Colour).key_text("colour", "GREEN") == "GREEN"
    assert EnumOf(Renamed).key_text("kind", "ALIAS") == "OLD"


@pytest.mark.parametrize("value", ["red", "BLUE", "", None, 1, ["RED"], Renamed.OLD, "__class__"])
def test_an_unknown_member_is_refused_and_the_members_are_listed(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`colour` is not one of RED, GREEN"):
        EnumOf(Colour).key_text("colour", value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Boolean(), True),
        (Boolean(), False),
        (EnumOf(Colour), Colour.GREEN),
        (Id(), "a1"),
        (KeyString(), "a b"),
        (Integer(), 3),
    ],
)
def test_the_pattern_of_a_type_matches_its_texts(kind: KeyType, value: Any) -> None:
    assert kind.key_pattern.fullmatch(kind.key_text("part", value, 5))
