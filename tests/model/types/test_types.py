"""What every type says about itself: its documentation, and a sample that is valid."""

import pytest

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
    KeyType,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
)
from tests.model.build import Colour


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Text(200), "text, up to 200 characters"),
        (Id(), "id"),
        (KeyString(), "text without `#`"),
        (Integer(), "whole number"),
        (DecimalNumber(), "decimal"),
        (Boolean(), "true or false"),
        (Timestamp(), "timestamp (UTC)"),
        (EnumOf(Colour), "Colour: RED, GREEN"),
        (Blob(1_000), "up to 1,000 bytes"),
        (SetOf(Id()), "set of: id"),
        (ListOf(Id(), 5), "list of at most 5: id"),
        (Struct("Size", (Field("x", Id(), ""), Field("y", Id(), "", required=False))), "Size: x, y?"),
    ],
)
def test_every_type_documents_itself(kind: AttributeType, words: str) -> None:
    assert kind.documentation == words


ADDRESS = Struct("Address", (Field("city", Text(), "The city."), Field("code", KeyString(), "Post code.")))


@pytest.mark.parametrize(
    "kind",
    [
        Text(3),
        Id(),
        KeyString(),
        Integer(),
        DecimalNumber(),
        Boolean(),
        Timestamp(),
        EnumOf(Colour),
        Blob(3),
        SetOf(Id()),
        ListOf(ADDRESS),
        ADDRESS,
    ],
)
def test_a_sample_is_a_valid_value(kind: AttributeType) -> None:
    assert kind.decoder()(kind.encode("a", kind.sample)) == kind.sample


@pytest.mark.parametrize(
    "kind", [Id(), KeyString(), Integer(), DecimalNumber(), Boolean(), Timestamp(), EnumOf(Colour)]
)
def test_a_sample_fills_a_key_and_is_read_back_from_it(kind: KeyType) -> None:
    text = kind.key_text("a", kind.sample, 5, 2)
    assert kind.key_pattern.fullmatch(text)
    assert kind.key_value(text) == kind.sample
    assert len(text.encode()) <= kind.key_length(5, 2)
    assert kind.key_value("#") is None
