from datetime import timedelta

import pytest

from gateway.model.entity import Attribute, Collection, Expiry, Reference, When
from gateway.model.types import Blob, Id, KeyString, Text
from tests.model.build import ATTRIBUTES, fault, on, passes, thing


def sparse(when: When) -> str:
    return fault(thing(indexes=(on("GSI2", when=when),)))


def test_a_right_entity_passes() -> None:
    assert passes(thing(indexes=(on("GSI2", when=When("colour", ("RED",))),)))


def test_a_condition_names_an_attribute() -> None:
    said = sparse(When("size", ("BIG",)))
    assert said.startswith(
        "entity Thing: the condition on GSI2 names the unknown attribute `size`: name one of active,"
    )


@pytest.mark.parametrize("attribute", ["label", "email", "price", "count", "madeAt", "partIds"])
def test_a_condition_is_on_an_enum_a_flag_or_an_id(attribute: str) -> None:
    said = sparse(When(attribute, ("x",)))
    assert (
        said
        == f"entity Thing: the condition on GSI2 needs an enum, a boolean or an id, but `{attribute}` is something else"
    )


@pytest.mark.parametrize(
    ("attribute", "values", "never"),
    [
        ("colour", ("RED", "BLUE"), "['BLUE']"),
        ("colour", ("red",), "['red']"),
        ("active", ("True", "yes"), "['True', 'yes']"),
        ("ownerId", ("a#b",), "['a#b']"),
        ("colour", (), "[]"),
    ],
)
def test_a_condition_can_be_met(attribute: str, values: tuple[str, ...], never: str) -> None:
    said = sparse(When(attribute, values))
    assert said == f"entity Thing: the condition on GSI2 has values that `{attribute}` never takes: {never}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (When("colour", ("RED",)), None),
        (When("colour", ("RED",)), When("colour", ("GREEN", "RED"))),
        (When("colour", ("RED",)), When("active", ("true",))),
    ],
)
def test_an_item_has_one_place_on_an_index(one: When | None, other: When | None) -> None:
    wrong = thing(indexes=(on("GSI3", name="one", when=one), on("GSI3", name="two", pk="EMAIL#{email}", when=other)))
    assert fault(wrong) == "entity Thing: `two` and `one` on GSI3 need conditions that exclude each other"


def test_two_places_on_one_index_may_exclude_each_other() -> None:
    red, green = When("colour", ("RED",)), When("colour", ("GREEN",))
    assert passes(thing(indexes=(on("GSI3", name="one", when=red), on("GSI3", name="two", pk="X#{email}", when=green))))


def test_a_relation_binds_attributes_that_exist() -> None:
    wrong = thing(relations=(Reference(name="owner", pattern="user", description="", bind={"userId": "boss"}),))
    assert fault(wrong).startswith("entity Thing: relation `owner` binds the unknown attribute `boss`: name one of ")


@pytest.mark.parametrize("each", ["parts", "ownerId"])
def test_a_relation_goes_through_a_list(each: str) -> None:
    wrong = thing(relations=(Collection(name="parts", pattern="part", description="", each=each),))
    assert fault(wrong) == f"entity Thing: relation `parts`: `{each}` is not a list"


@pytest.mark.parametrize("expiry", [Expiry(at="madeAt"), Expiry(since="madeAt", after=timedelta(days=30))])
def test_an_item_expires_at_or_after_a_timestamp(expiry: Expiry) -> None:
    assert passes(thing(expiry=expiry))


@pytest.mark.parametrize(
    "expiry",
    [
        Expiry(),
        Expiry(at="madeAt", since="madeAt"),
        Expiry(at="madeAt", after=timedelta(days=1)),
        Expiry(since="madeAt"),
        Expiry(since="madeAt", after=-timedelta(days=1)),
        Expiry(after=timedelta(days=1)),
    ],
)
def test_an_expiry_is_one_of_the_two_kinds(expiry: Expiry) -> None:
    assert fault(thing(expiry=expiry)) == "entity Thing: an expiry has either `at`, or `since` and a time `after` it"


@pytest.mark.parametrize("name", ["born", "label", "count"])
def test_an_expiry_is_by_a_timestamp(name: str) -> None:
    said = f"entity Thing: it expires by `{name}`, which is not a timestamp"
    assert fault(thing(expiry=Expiry(at=name))) == said
    assert fault(thing(expiry=Expiry(since=name, after=timedelta(days=1)))) == said


@pytest.mark.parametrize("kind", [Id(), KeyString()])
def test_only_text_and_bytes_are_compressed(kind: Id | KeyString) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute("extra", kind, "", compressed=True)))
    assert fault(wrong) == "entity Thing: `extra` is compressed; only text and bytes can be"


def test_text_and_bytes_can_be_compressed() -> None:
    large = (Attribute("page", Text(), "", compressed=True), Attribute("photo", Blob(), "", compressed=True))
    assert passes(thing(attributes=(*ATTRIBUTES, *large)))
