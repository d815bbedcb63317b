"""Who refers to an item, and what is wrong with what a reference says about removals."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.model.entity import Entity, Key, Reference
from gateway.model.patterns import Listing, Lookup
from tests.graph.mutation.library import MODEL
from tests.model.build import faults, on, passes, thing

PART = Lookup(name="thing", entity="Thing", description="One thing.")
OWNED = Listing(name="thingsOfOwner", entity="Thing", index="GSI1", description="Those of an owner.")


def owned(**more: Any) -> Entity:
    reference = Reference(
        name="owner", pattern="thing", description="Whose it is.", bind={"thingId": "ownerId"}, on_remove="restrict"
    )
    return thing(indexes=(on(),), relations=(replace(reference, **more),))


def test_referrers_are_found_by_the_entity_they_refer_to() -> None:
    pairs = {(name, each.source.name, each.listing.name) for name, found in MODEL.referrers.items() for each in found}
    assert pairs == {
        ("Member", "Loan", "loansOfMember"),
        ("Book", "Loan", "loansOfBook"),
        ("Loan", "Note", "notesOfLoan"),
    }


def test_a_reference_that_a_listing_finds_is_right() -> None:
    assert passes(owned(), patterns=(PART, OWNED))


@pytest.mark.parametrize(
    ("entity", "patterns", "words"),
    [
        (owned(on_remove="delete"), (PART, OWNED), 'has on_remove=\'delete\'; write "restrict" or "cascade"'),
        (owned(), (PART,), "no listing finds every Thing by ['ownerId']"),
        (replace(owned(), indexes=(on(sk="{nick}#{thingId}"),)), (PART, OWNED), "no listing finds every Thing"),
        (owned(on_remove="cascade"), (PART, OWNED), "cascades in a circle"),
    ],
)
def test_a_wrong_one_is_told_what_to_do(entity: Entity, patterns: Any, words: str) -> None:
    [fault] = faults(entity, patterns=patterns)
    assert fault.startswith("entity Thing: relation `owner` ")
    assert words in fault


def test_a_default_that_breaks_a_rule_is_a_fault() -> None:
    attributes = tuple(replace(each, default="") if each.name == "label" else each for each in thing().attributes)
    [fault] = faults(thing(attributes=attributes, key=Key(pk="THING#{thingId}", sk="META")))
    assert fault == "entity Thing: the default of `label` is empty"
