"""What is wrong with a choice, and that each fault names it."""

from dataclasses import replace

import pytest

from gateway.model.entity import Entity
from gateway.model.patterns import AccessPattern, Choice, Counter, Listing, Lookup
from tests.model.build import fault, faults, on, passes, thing

THING = thing(
    indexes=(
        on(sk="THING#{madeAt}#{thingId}"),
        on("GSI2", name="coloured", sk="{colour}#{madeAt}#{thingId}"),
        on("GSI3", name="mailed", pk="MAIL#{email}"),
    )
)
OTHER = thing(
    name="Other", key=THING.key.__class__(pk="OTHER#{thingId}", sk="META"), indexes=(on(pk="OTHERS#{ownerId}"),)
)


def listing(name: str, index: str = "GSI1", entity: str = "Thing", **changes: object) -> Listing:
    return Listing(name=name, entity=entity, index=index, description="", **changes)  # type: ignore[arg-type]


OWNED, COLOURED = listing("owned", between="madeAt"), listing("coloured", "coloured", where=("colour",))
MAILED = listing("mailed", "mailed")
PATTERNS: tuple[AccessPattern, ...] = (OWNED, COLOURED, MAILED)


def choice(*names: str, name: str = "things") -> Choice:
    return Choice(name=name, patterns=names, description="")


def said(*more: AccessPattern | Choice, entities: tuple[Entity, ...] = (THING,)) -> str:
    return fault(*entities, patterns=(*PATTERNS, *more))


def test_listings_that_arguments_tell_apart_are_a_choice() -> None:
    assert passes(THING, patterns=(*PATTERNS, choice("owned", "coloured", "mailed")))
    assert passes(THING, patterns=(*PATTERNS, choice("owned", "coloured", name="owned")))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([choice("owned")], "choice things: it needs two patterns or more; a single pattern is already a field"),
        ([choice("owned", "nothing")], "choice things: `nothing` is not a listing of many items"),
        ([choice("owned", "coloured", name="mailed")], "choice mailed: a pattern has this name; a choice may only"),
        ([choice("owned", "coloured", name="Things")], "choice Things: `Things` is not a name such as ordersOfUser"),
        (
            [choice("owned", "coloured"), choice("owned", "mailed", name="others")],
            "choice things: `owned` is in two choices",
        ),
        (
            [listing("again", between="madeAt"), choice("owned", "again")],
            "choice things: `ownerId` fits `owned` and `again`; give one of them another required argument",
        ),
        (
            [Lookup(name="thing", entity="Thing", description=""), choice("owned", "thing")],
            "choice things: `thing` is not a listing of many items",
        ),
        ([Choice(name="things", patterns="owned", description="")], "choice things: `patterns` must be a tuple"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_choice_is_refused(more: list[AccessPattern | Choice], words: str) -> None:
    assert said(*more).startswith(words)


def test_one_field_lists_one_entity() -> None:
    others = listing("others", entity="Other")
    assert said(others, choice("mailed", "others"), entities=(THING, OTHER)) == (
        "choice things: its patterns must all list the same entity"
    )


def test_a_range_for_one_is_no_value_for_the_other() -> None:
    timed = thing(indexes=(THING.indexes[0], on("GSI2", name="timed", pk="AT#{ownerId}", sk="{madeAt}#{thingId}")))
    exact = listing("exact", "timed", where=("madeAt",))
    assert faults(timed, patterns=(OWNED, exact, choice("owned", "exact"))) == (
        "choice things: `madeAt`, `ownerId` fits `owned` and `exact`; give one of them another required argument",
        "choice things: `madeAt` is a single value in one pattern and a range in the other",
    )


def test_a_choice_has_a_total_count_or_none() -> None:
    counted = replace(OWNED, counter=Counter(2))
    words = "choice things: either all of its patterns must have a counter, or none"
    assert words in fault(THING, patterns=(counted, COLOURED, choice("owned", "coloured")))
    both = (counted, replace(COLOURED, counter=Counter(2)), choice("owned", "coloured"))
    assert passes(THING, patterns=both)
