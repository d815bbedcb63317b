"""Scalars: one text form out, nothing lax in."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gateway.errors import BadUserInput
from gateway.model.types import Blob, DecimalNumber, Timestamp

TIMESTAMP, DECIMAL, BYTES = Timestamp.scalar, DecimalNumber.scalar, Blob.scalar


def test_values_come_back_as_they_went_out() -> None:
    east = timezone(timedelta(hours=2))
    for scalar, value in (
        (TIMESTAMP, datetime(2026, 1, 31, 12, 0, 0, 120_000, tzinfo=UTC)),
        (DECIMAL, Decimal("12345678901234567890.12")),
        (BYTES, b"\x00\xff"),
    ):
        assert scalar.serialize is not None
        assert scalar.parse is not None
        assert scalar.parse(scalar.serialize(value)) == value
    assert TIMESTAMP.serialize is not None
    assert TIMESTAMP.serialize(datetime(2026, 1, 31, 12, tzinfo=east)) == "2026-01-31T10:00:00Z"
    assert DECIMAL.serialize is not None
    assert DECIMAL.serialize(Decimal("1E+3")) == "1000"


@pytest.mark.parametrize("text", ["", "2026-01-31T12:00:00", "soon", 5, None, "0001-01-01T00:00:00+14:00"])
def test_a_timestamp_needs_date_time_and_zone(text: object) -> None:
    assert TIMESTAMP.parse is not None
    with pytest.raises(BadUserInput):
        TIMESTAMP.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-W05-6T12:00:00Z",
        "20260131T120000Z",
        "2026-01-31 12:00:00Z",
        "2026-01-31T12Z",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+02",
        "2026-01-31T12:00:00+02:00:30",
        "2026-02-30T12:00:00Z",
        "2026-01-31T12:00:00Z\n",
        "٢٠٢٦-01-31T12:00:00Z",
    ],
)
def test_a_timestamp_is_written_as_in_rfc_3339(text: str) -> None:
    assert TIMESTAMP.parse is not None
    with pytest.raises(BadUserInput, match="is written like `2026-01-31T12:00:00Z`"):
        TIMESTAMP.parse(text)


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00.5Z", "2026-01-31t12:00:00.500000z", "2026-01-31T14:00:00.50+02:00"]
)
def test_every_form_of_rfc_3339_is_read(text: str) -> None:
    assert TIMESTAMP.parse is not None
    assert TIMESTAMP.parse(text) == datetime(2026, 1, 31, 12, 0, 0, 500_000, tzinfo=UTC)


def test_no_digit_of_a_timestamp_is_lost() -> None:
    assert TIMESTAMP.parse is not None
    with pytest.raises(BadUserInput, match="at most 6 digits"):
        TIMESTAMP.parse("2026-01-31T12:00:00.1234567Z")


@pytest.mark.parametrize("value", ["1e5", "NaN", "Infinity", "", 1.5, True, None, "1" * 39, "٣"])
def test_a_decimal_is_exact(value: object) -> None:
    assert DECIMAL.parse is not None
    with pytest.raises(BadUserInput):
        DECIMAL.parse(value)


@pytest.mark.parametrize("value", ["1" * 39, int("1" * 39), "0." + "1" * 39])
def test_a_decimal_that_is_too_long_is_reported_as_such(value: object) -> None:
    assert DECIMAL.parse is not None
    with pytest.raises(BadUserInput, match="at most 38 digits"):
        DECIMAL.parse(value)


@pytest.mark.parametrize("value", ["%", 5, None])
def test_bytes_are_base64(value: object) -> None:
    assert BYTES.parse is not None
    with pytest.raises(BadUserInput):
        BYTES.parse(value)
