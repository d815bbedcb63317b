"""Thousands of small models: whatever the checks let pass keeps items apart, as rendering their keys shows."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.entity import Attribute, Collection, Copy, Entity, Key, OnIndex, Placement
from gateway.model.keys import rendered
from gateway.model.model import Domain, Model
from gateway.model.patterns import AccessPattern, ItemCollection, Listing
from gateway.model.types import EnumOf, Id, Timestamp
from tests.drawn import drawn
from tests.model.build import Colour

ATTRIBUTES = (
    Attribute("x", Id(), ""),
    Attribute("y", Id(), ""),
    Attribute("colour", EnumOf(Colour), ""),
    Attribute("at", Timestamp(), ""),
)
ITEMS: list[dict[str, Any]] = [
    {"x": x, "y": y, "colour": colour, "at": datetime(2026, 1, 1, tzinfo=UTC)}
    for x, y, colour in product(("A", "RED"), ("A", "RED", "2026-01-01T00:00:00.000000Z"), Colour)
]
PARTITIONS = ("A#{x}", "A#{y}", "{x}#{y}", "A#{colour}#{x}", "AB#{x}")
SORTS = ("A", "AB", "{y}", "A#{y}", "AB#{y}", "{colour}#{y}", "{at}#{y}", "A#{at}#{y}")
PLACES: list[dict[str, Any]] = [
    {"pk": pk, "sk": sk, "low_cardinality_reason": "a test"} for pk, sk in product(PARTITIONS, SORTS)
]

# `make test` takes one in so many of the models; the number divides no length, so that every word has its turn
EVERY = drawn(1, 11)

# where a row lies, and whose it is: index, partition, sort key -> entity, place, what identifies the item
Row = tuple[str | None, str, str]
Owner = tuple[str, str, tuple[Any, ...]]


def made(entities: tuple[Entity, ...], patterns: tuple[AccessPattern, ...]) -> Model | None:
    try:
        domain = Domain(name="test", description="", entities=entities, patterns=patterns)
        return Model(domains=(domain,))
    except ModelError:
        return None


def rows(model: Model) -> Iterator[tuple[Row, Owner]]:
    for entity in model.entities.values():
        for place, item in product(entity.placements, ITEMS):
            texts = rendered(entity, place, item)
            assert texts is not None
            owner = (entity.name, place.name, tuple(item[name] for name in entity.key_names))
            yield (place.index, *texts), owner


def assert_apart(model: Model) -> dict[Row, Owner]:
    """No two items share a key."""
    table: dict[Row, Owner] = {}
    for row, owner in rows(model):
        assert table.setdefault(row, owner) == owner, (model.entities, row)
    return table


def found(place: Placement, row: Row) -> bool:
    """Whether a listing of this place, asked for this row's partition, answers with the row."""
    prefix = place.sk.prefix({})
    return row[0] == place.index and (row[2].startswith(prefix) if place.sk.holes else row[2] == prefix)


def entity(name: str, key: dict[str, Any], **more: Any) -> Entity:
    return Entity(name=name, description="", attributes=ATTRIBUTES, key=Key(**key), **more)


def assert_listing_is_pure(model: Model, name: str) -> None:
    place = model.place(model.listing(name))
    table = assert_apart(model)
    own = {row[:2] for row, owner in table.items() if owner[:2] == ("One", place.name)}
    for row, owner in table.items():
        if row[:2] in own and found(place, row):
            assert owner[:2] == ("One", place.name), (model.entities, row, owner)


@pytest.mark.no_cover
def test_two_entities_in_the_table_stay_apart_and_listings_do_not_mix_them() -> None:
    accepted = 0
    listing = Listing(name="ones", entity="One", description="")
    pairs = list(product(PLACES, PLACES))[::EVERY]
    for here, there in pairs:
        model = made((entity("One", here), entity("Two", there)), (listing,))
        if model is not None:
            accepted += 1
            assert_listing_is_pure(model, "ones")
    assert 200 // EVERY < accepted < len(pairs)


@pytest.mark.no_cover
def test_copies_and_indexes_stay_apart_too() -> None:
    accepted = 0
    triples = list(product((Copy, OnIndex), PLACES, PLACES[::3]))[::EVERY]
    for kind, here, there in triples:
        where: dict[str, Any] = {"index": "GSI1"} if kind is OnIndex else {}
        part = "indexes" if kind is OnIndex else "copies"
        one = entity("One", {"pk": "ONE#{y}", "sk": "ONE"}, **{part: (kind(name="place", **here, **where),)})
        two = entity("Two", {"pk": "TWO#{y}", "sk": "TWO"}, **{part: (kind(name="place", **there, **where),)})
        model = made((one, two), (Listing(name="ones", entity="One", index="place", description=""),))
        if model is not None:
            accepted += 1
            assert_listing_is_pure(model, "ones")
    assert 200 // EVERY < accepted < len(triples)


WORDS = ("A", "AA", "B", "BA", "C", "C#A")


def between(model: Model) -> tuple[str, str]:
    """The sort keys that one Query for both reads."""
    root, prefix = model.entities["Root"].primary.sk.text, model.entities["Leaf"].primary.sk.prefix({})
    return (root, f"{prefix}\U0010ffff") if root < prefix else (prefix, root)


@pytest.mark.no_cover
def test_one_query_for_two_reads_nothing_else_and_the_item_first() -> None:
    accepted = 0
    together = ItemCollection(name="both", entity="Root", collection="leaves", description="")
    others = [*WORDS, *(f"{word}#{{y}}" for word in WORDS), "{y}", "{at}#{y}"]
    for root_sk, word, other_sk, newest_first in list(product(WORDS, WORDS, others, (True, False)))[::EVERY]:
        leaves = Collection(name="leaves", pattern="leavesOfRoot", description="")
        root = entity("Root", {"pk": "R#{x}", "sk": root_sk}, relations=(leaves,))
        leaf = entity("Leaf", {"pk": "R#{x}", "sk": f"{word}#{{at}}#{{y}}"})
        other = entity("Other", {"pk": "R#{x}", "sk": other_sk})
        listing = Listing(name="leavesOfRoot", entity="Leaf", newest_first=newest_first, description="")
        model = made((root, leaf, other), (listing, together))
        if model is None:
            continue
        accepted += 1
        low, high = between(model)
        read = sorted((row[2], owner[0]) for row, owner in assert_apart(model).items() if low <= row[2] <= high)
        assert {name for _, name in read} == {"Root", "Leaf"}, (root_sk, word, other_sk)
        assert (read[-1] if newest_first else read[0])[1] == "Root"
    assert accepted > 50 // EVERY
