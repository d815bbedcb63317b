"""Values survive the way through DynamoDB JSON, and wrong ones are refused with the attribute's name."""

import base64
import decimal
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadUserInput, Internal
from gateway.model.entity import Attribute
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    DecimalNumber,
    EnumOf,
    Field,
    Id,
    Integer,
    KeyString,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
    Wire,
)
from tests.store.fixtures import SIZE, Colour

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMESTAMPS = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=ZONES)  # noqa: DTZ001  zones are drawn
DIGITS = st.tuples(st.sampled_from((0, 1)), st.lists(st.integers(0, 9), min_size=1, max_size=38), st.integers(-130, 80))
NUMBERS = DIGITS.map(lambda parts: decimal.Decimal((parts[0], tuple(parts[1]), parts[2]))).filter(
    lambda number: not number or -130 <= number.adjusted() <= 125
)
WHOLE = st.integers(-(10**38) + 1, 10**38 - 1)
LARGE = Attribute("text", Text(100_000), "Large text.", compressed=True)
BYTES = Attribute("image", Blob(), "Large bytes.", compressed=True)
MAGIC = b"\x01b"


def through(kind: AttributeType, value: Any) -> Any:
    """There and back as the wire does it: as JSON."""
    return kind.decoder()(orjson.loads(orjson.dumps(kind.encode("a", value))))


def stored(attribute: Attribute, value: Any) -> Wire:
    wire: Wire = orjson.loads(orjson.dumps(attribute.encode(value)))
    return wire


@given(TEXT)
def test_text_comes_back_as_it_was(text: str) -> None:
    assert through(Text(), text) == text


@given(NUMBERS)
def test_numbers_keep_all_of_their_38_digits(number: decimal.Decimal) -> None:
    assert through(DecimalNumber(), number) == number


@given(WHOLE)
def test_whole_numbers_come_back_as_integers(number: int) -> None:
    back = through(Integer(), number)
    assert back == number
    assert type(back) is int


@given(TIMESTAMPS)
def test_timestamps_come_back_in_utc_to_the_microsecond(timestamp: datetime) -> None:
    back = through(Timestamp(), timestamp)
    assert back == timestamp
    assert back.utcoffset() == timedelta()


@given(st.binary(max_size=200))
def test_bytes_come_back_as_they_were(content: bytes) -> None:
    assert through(Blob(), content) == content


@given(st.frozensets(TEXT, min_size=1, max_size=8), st.frozensets(NUMBERS, min_size=1, max_size=8))
def test_sets_come_back_as_they_were(words: frozenset[str], numbers: frozenset[decimal.Decimal]) -> None:
    assert through(SetOf(Text()), words) == words
    assert through(SetOf(DecimalNumber()), numbers) == numbers


@given(st.lists(st.sampled_from(Colour), max_size=5), st.booleans())
def test_choices_flags_and_lists_come_back_as_they_were(colours: list[Colour], flag: bool) -> None:
    assert through(ListOf(EnumOf(Colour)), colours) == colours
    assert through(Boolean(), flag) is flag


@given(
    st.fixed_dictionaries(
        {"width": NUMBERS},
        optional={
            "unit": st.sampled_from(Colour),
            "marks": st.lists(st.fixed_dictionaries({"at": TIMESTAMPS}), max_size=3),
        },
    )
)
def test_nested_records_come_back_as_they_were(size: dict[str, Any]) -> None:
    assert through(SIZE, size) == size


@given(TEXT, st.integers(1, 60))
def test_large_text_is_stored_compressed(text: str, times: int) -> None:
    text = (text + "x" * 20) * times
    wire = stored(LARGE, text)
    assert ("B" in wire) is (len(text.encode()) >= 1_024)
    assert LARGE.type.decoder()(wire) == text


@given(st.binary(max_size=2_000), st.booleans())
def test_large_bytes_come_back_as_they_were(content: bytes, alike: bool) -> None:
    content = MAGIC + content if alike else content
    assert BYTES.type.decoder()(stored(BYTES, content)) == content


def test_compression_makes_large_text_smaller() -> None:
    assert len(stored(LARGE, "lorem ipsum " * 1_000)["B"]) < 500


def test_bytes_that_look_compressed_can_be_read_back() -> None:
    for content in (MAGIC, MAGIC + b"anything", MAGIC + zlib.compress(b"a")):
        assert through(Blob(), content) == content
        assert through(ListOf(Blob()), [content]) == [content]
        assert Blob().decoder()(stored(BYTES, content)) == content


def test_a_choice_is_stored_by_name_and_a_name_is_taken_for_it() -> None:
    assert EnumOf(Colour).encode("a", Colour.RED) == {"S": "RED"}
    assert EnumOf(Colour).encode("a", "BLUE") == {"S": "BLUE"}


def test_numbers_in_any_spelling_can_be_read() -> None:
    assert Integer().decoder()({"N": "1E+3"}) == 1_000
    assert Integer().decoder()({"N": "-7"}) == -7
    assert DecimalNumber().decoder()({"N": "1.50"}) == decimal.Decimal("1.5")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(3), "four"),
        (Text(), 7),
        (Text(), "half a pair \ud800"),
        (Id(), "a#b"),
        (Id(), ""),
        (KeyString(), "tab\t"),
        (Integer(), decimal.Decimal("1.5")),
        (Integer(), True),
        (Integer(), decimal.Decimal("1E+999999")),
        (DecimalNumber(), 1.5),
        (DecimalNumber(), decimal.Decimal("1" * 39)),
        (DecimalNumber(), decimal.Decimal("NaN")),
        (DecimalNumber(), decimal.Decimal("1E+126")),
        (Boolean(), 1),
        (Timestamp(), datetime(2026, 1, 1)),  # noqa: DTZ001  that is what is wrong with it
        (Timestamp(), "2026-01-01T00:00:00Z"),
        (Timestamp(), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
        (EnumOf(Colour), "GREEN"),
        (EnumOf(Colour), None),
        (Blob(2), b"abc"),
        (Blob(), "text"),
        (SetOf(Text()), frozenset()),
        (SetOf(Text()), ["a"]),
        (SetOf(DecimalNumber()), {1, "a"}),
        (ListOf(Id(), 1), ["a", "b"]),
        (ListOf(Id()), "ab"),
        (ListOf(Id()), [None]),
        (SIZE, {"width": 1, "depth": 2}),
        (SIZE, {"unit": Colour.RED}),
        (SIZE, {"width": None}),
        (SIZE, "wide"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_the_attribute(kind: AttributeType, value: Any) -> None:
    with pytest.raises(BadUserInput, match="`a"):
        kind.encode("a", value)


def test_a_fault_in_a_nested_record_names_its_path() -> None:
    inner = Struct("Inner", (Field("b", Struct("Deep", (Field("c", Integer(), "C."),)), "B."),))
    with pytest.raises(BadUserInput, match=r"`a\.b\.c` needs a whole number"):
        inner.encode("a", {"b": {"c": decimal.Decimal("0.5")}})


def test_an_optional_field_that_is_none_is_left_out() -> None:
    assert SIZE.encode("a", {"width": 1, "unit": None}) == {"M": {"width": {"N": "1"}}}


def test_what_could_not_be_read_back_is_not_written() -> None:
    endless = Attribute("text", Text(10_000_000), "Endless text.", compressed=True)
    largest = "x" * 4_000_000
    assert endless.type.decoder()(stored(endless, largest)) == largest
    with pytest.raises(BadUserInput, match="`text` has 4000001 bytes"):
        endless.encode(largest + "x")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\x02tzzz", "unknown compression"),
        (b"\x01tnot zlib", "cannot be decompressed"),
        (b"\x01t" + zlib.compress(b"abc")[:-3], "truncated"),
        (b"\x01t" + zlib.compress(bytes(4_000_002)), "larger than allowed"),
    ],
)
def test_spoilt_compression_is_our_fault_and_has_a_limit(content: bytes, fault: str) -> None:
    with pytest.raises(Internal, match=fault):
        Text().decoder()({"B": base64.b64encode(content).decode()})


@pytest.mark.parametrize(
    "kind", [DecimalNumber(), Integer(), Timestamp(), Boolean(), EnumOf(Colour), SetOf(Id()), ListOf(Id()), SIZE]
)
def test_a_decoder_never_makes_up_a_value_for_another_type(kind: AttributeType) -> None:
    read: Callable[[Wire], Any] = kind.decoder()
    with pytest.raises(KeyError):
        read({"NULL": True})


def test_the_timestamp_is_written_with_six_decimals_in_utc() -> None:
    timestamp = datetime(2026, 1, 31, 23, 30, tzinfo=timezone(timedelta(hours=1)))
    assert Timestamp().encode("a", timestamp) == {"S": "2026-01-31T22:30:00.000000Z"}
    assert through(Timestamp(), timestamp) == datetime(2026, 1, 31, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-31T10:00:00.1234564Z", "2026-01-31T10:00:00.123456+00:00"),
        ("2026-01-31T10:00:00.1234565Z", "2026-01-31T10:00:00.123457+00:00"),
        ("2026-01-31T23:59:59.99999990Z", "2026-02-01T00:00:00+00:00"),
    ],
)
def test_what_is_finer_than_a_microsecond_is_rounded_as_lanes_round_it(text: str, value: str) -> None:
    assert Timestamp().decoder()({"S": text}).isoformat() == value
    assert msgspec.convert(text, datetime).isoformat() == value
