import decimal
import enum
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BadUserInput
from gateway.model.checks.key_overlap import can_collide, can_match
from gateway.model.entity import Attribute, Entity, Key
from gateway.model.template import Template, parse_template
from gateway.model.types import Boolean, DecimalNumber, EnumOf, Id, Integer, KeyString, KeyType, Timestamp


class Letter(enum.Enum):
    A = 1
    B = 2


class Other(enum.Enum):
    B = 1
    C = 2


KINDS: dict[str, KeyType] = {
    "id": Id(),
    "word": KeyString(),
    "letter": EnumOf(Letter),
    "other": EnumOf(Other),
    "at": Timestamp(),
    "flag": Boolean(),
    "count": Integer(),
    "price": DecimalNumber(),
}
SUBJECT = Entity(
    name="Subject",
    description="Has an attribute of every type that may fill a key.",
    attributes=tuple(Attribute(name, kind, "A part.") for name, kind in KINDS.items()),
    key=Key(pk="{id}", sk="X"),
)
WIDTHS = {"count": "2", "price": "2.1"}
WORDS = ("A", "B", "C", "ORDER")


def owned(text: str) -> tuple[Entity, Template]:
    return SUBJECT, parse_template("entity Subject", text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A", "A"),
        ("A", "{id}"),
        ("{word}", "A"),
        ("A", "{letter}"),
        ("{id}", "{word}"),
        ("{id}", "{at}"),
        ("{word}", "{flag}"),
        ("{id}", "{shard}"),
        ("{id}", "{bucket}"),
        ("{letter}", "{other}"),
        ("{count:2}", "{price:3.1}"),
        ("A#{id}#X", "{id}#B#{word}"),
    ],
)
def test_keys_that_can_be_equal_can_collide(one: str, other: str) -> None:
    assert can_collide(owned(one), owned(other))
    assert can_collide(owned(other), owned(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A", "B"),
        ("ORDER", "ORDERS"),
        ("A", "A#{id}"),
        ("A#{id}", "B#{id}"),
        ("C", "{letter}"),
        ("A", "{at}"),
        ("A", "{count:2}"),
        ("TRUE", "{flag}"),
        ("A", "{shard}"),
        ("A", "{bucket}"),
        ("{letter}", "{at}"),
        ("{id}#A", "{id}#B"),
    ],
)
def test_keys_that_differ_in_a_part_cannot_collide(one: str, other: str) -> None:
    assert not can_collide(owned(one), owned(other))
    assert not can_collide(owned(other), owned(one))


def test_enums_without_a_member_in_common_cannot_collide() -> None:
    class Third(enum.Enum):
        C = 1

    third = Entity(
        name="Third", description="", attributes=(Attribute("third", EnumOf(Third), ""),), key=Key(pk="{third}", sk="X")
    )
    assert not can_collide(owned("{letter}"), (third, parse_template("entity Third", "{third}")))


DERIVED_TEXTS = {"shard": ("0", "7", "12"), "bucket": ("2026-01", "2026-01-31", "2026-01-31-07")}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from([*WORDS, "7", "07", "07.5", "true", "2026-01-31", "2026-01-31T00:00:00.000000Z", "x"]),
    "word": st.sampled_from([*WORDS, "7", "12", "12.5", "false", "2026-01", "2026-01-31T00:00:00.000000Z", "é "]),
    "letter": st.sampled_from(Letter),
    "other": st.sampled_from(Other),
    "at": st.sampled_from([datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]),
    "flag": st.booleans(),
    "count": st.sampled_from([7, 12]),
    "price": st.sampled_from([decimal.Decimal("7.5"), decimal.Decimal("12.5")]),
    **{name: st.sampled_from(texts) for name, texts in DERIVED_TEXTS.items()},
}
# one part of a key: how it stands in a template, and the text it becomes
Part = tuple[str, str]


def hole_of(name: str) -> str:
    return f"{{{name}:{WIDTHS[name]}}}" if name in WIDTHS else f"{{{name}}}"


def text_of(name: str, value: Any) -> str:
    width, _, scale = WIDTHS.get(name, "0").partition(".")
    return KINDS[name].key_text(name, value, int(width), int(scale or 0)) if name in KINDS else str(value)


def parts_of(name: str) -> st.SearchStrategy[Part]:
    return VALUES[name].map(lambda value: (hole_of(name), text_of(name, value)))


PARTS: st.SearchStrategy[Part] = st.one_of(
    st.sampled_from(WORDS).map(lambda word: (word, word)), *(parts_of(name) for name in VALUES)
)


def as_value(name: str, text: str) -> Any:
    match name:
        case "at":
            return datetime.fromisoformat(text)
        case "flag":
            return {"true": True, "false": False}[text]
        case "count":
            return int(text)
        case "price":
            return decimal.Decimal(text)
    return text


def can_be(name: str, text: str) -> bool:
    """Whether an attribute has a value that becomes exactly this text; found by trying, not by `overlap`."""
    if name in DERIVED_TEXTS:
        return text in DERIVED_TEXTS[name]
    try:
        return text_of(name, as_value(name, text)) == text
    except (BadUserInput, ArithmeticError, ValueError, KeyError):
        return False


def spellings(text: str) -> list[str]:
    """Every part of a template that can become this text."""
    return [*(word for word in WORDS if word == text), *(hole_of(name) for name in VALUES if can_be(name, text))]


@given(st.data(), st.lists(PARTS, min_size=1, max_size=4))
def test_two_templates_that_render_one_key_are_always_found_to_collide(data: st.DataObject, parts: list[Part]) -> None:
    one = "#".join(part for part, _ in parts)
    other = "#".join(data.draw(st.sampled_from(spellings(text))) for _, text in parts)
    assert can_collide(owned(one), owned(other))


@given(st.lists(PARTS, min_size=1, max_size=4), st.integers(0, 4))
def test_a_key_that_starts_with_words_is_always_found_to_match_them(parts: list[Part], count: int) -> None:
    template = "#".join(part for part, _ in parts)
    words = tuple(takewhile(WORDS.__contains__, (text for _, text in parts[:count])))
    assert can_match(words, owned(template))


@pytest.mark.parametrize(
    ("words", "template", "found"),
    [
        ((), "{id}", True),
        (("A",), "A#{id}", True),
        (("A",), "{id}#X", True),
        (("ORDER",), "ORDERS#{id}", False),
        (("A", "B"), "A", False),
        (("A", "B"), "A#{id}", True),
        (("A",), "{at}#{id}", False),
    ],
)
def test_a_key_matches_the_words_it_can_start_with(words: tuple[str, ...], template: str, found: bool) -> None:
    assert can_match(words, owned(template)) is found
