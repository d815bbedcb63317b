"""Texts as numbers, dates, booleans, bytes and addresses: stricter than Python's own readers."""

from decimal import Decimal

import pytest

from gateway.iam.language import scalars


@pytest.mark.parametrize("text", ["0", "-1", "+1.50", ".5", "5.", "1e3", "1E-3"])
def test_numbers(text: str) -> None:
    assert scalars.number(text) == Decimal(text)


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1_000", "NaN", "Infinity", "\u0661", "0x1", "1e99999", "1\n", "."])
def test_invalid_numbers(text: str) -> None:
    assert scalars.number(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", "0"),
        ("1970-02", "2678400"),
        ("1970-01-02", "86400"),
        ("1970-01-01T00:01Z", "60"),
        ("1970-01-01T00:00:01Z", "1"),
        ("1970-01-01T00:00:00.25Z", "0.25"),
        ("1970-01-01T01:00:00+01:00", "0"),
        ("1969-12-31T23:00:00-01:30", "1800"),
        ("0", "0"),
        ("-5", "-5"),
        ("1767225600.5", "1767225600.5"),
    ],
)
def test_timestamps(text: str, seconds: str) -> None:
    assert scalars.timestamp(text) == Decimal(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0000",
        "1970-13",
        "1970-02-30",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01T00:00:00+25:00",
        "now",
        "1e5",
    ],
)
def test_invalid_timestamps(text: str) -> None:
    assert scalars.timestamp(text) is None


def test_booleans_bytes_and_addresses() -> None:
    assert scalars.boolean("TRUE") is True
    assert scalars.boolean("false") is False
    assert scalars.boolean("1") is None
    assert scalars.octets("YQ==") == b"a"
    assert scalars.octets("YQ") is None
    assert scalars.octets("\u00e9") is None
    assert str(scalars.address("10.0.0.1")) == "10.0.0.1"
    assert scalars.address("10.0.0.0/8") is None
    assert str(scalars.network("10.1.2.3/8")) == "10.0.0.0/8"
    assert scalars.network("10.0.0.0/99") is None


def test_folding_touches_ascii_only() -> None:
    assert scalars.ascii_folded("\u00c9A\u212aK") == "\u00c9a\u212ak"
