"""Values of rows as an answer has them; what the reference executor answers differently is left to it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from gateway.graph.query.lane.columns import decimal, int32, integer, one_of, utc_only
from gateway.graph.query.lane.fallback import FallBack


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-7", -7), ("1E+2", 100), ("2147483647", 2_147_483_647)])
def test_a_stored_number_is_an_int(text: str, value: int) -> None:
    assert integer(text) == value


@pytest.mark.parametrize("text", ["", "x", "2147483648", "-2147483649", "NaN", "Infinity", "--1"])
def test_what_graphql_calls_no_int_falls_back(text: str) -> None:
    with pytest.raises(FallBack):
        integer(text)


def test_an_int_of_python_has_the_same_bounds() -> None:
    assert int32(-2_147_483_648) == -2_147_483_648
    with pytest.raises(FallBack):
        int32(2_147_483_648)


def test_a_decimal_is_written_without_an_exponent() -> None:
    assert [decimal(text) for text in ("1.50", "1E+3", "1E-7")] == ["1.50", "1000", "0.0000001"]
    with pytest.raises(FallBack):
        decimal("a lot")


def test_a_timestamp_is_in_utc() -> None:
    now = datetime(2026, 11, 17, tzinfo=UTC)
    assert utc_only(now) is now
    for other in (now.replace(tzinfo=None), now.astimezone(timezone(timedelta(hours=1)))):
        with pytest.raises(FallBack):
            utc_only(other)


def test_the_type_of_an_enum_is_made_once() -> None:
    assert one_of("A", "B") is one_of("A", "B")
    assert one_of("A", "B") is not one_of("A")
