import re

import pytest

from gateway.errors import ModelError
from gateway.graph.mutation.crud import crud, now
from gateway.model.entity import Attribute, Collection, Copy, Expiry, Key, Reference, When
from gateway.model.model import Domain, Model
from gateway.model.patterns import ItemCollection, Listing, Lookup
from gateway.model.role import Role
from gateway.model.table import Index, TableSpec
from gateway.model.types import Id, KeyString, Text
from tests.model.build import ATTRIBUTES, fault, faults, model, on, passes, thing

LOOKUP = Lookup(name="thing", entity="Thing", description="One.")


def test_an_entity_is_declared_once() -> None:
    assert fault(thing(), thing()) == "entity Thing: is declared twice"


def test_a_pattern_is_declared_once() -> None:
    assert fault(thing(), patterns=(LOOKUP, LOOKUP)) == "pattern thing: is declared twice"


def test_the_name_for_many_is_a_name_like_any_other() -> None:
    many = Lookup(name="thing", many="things", entity="Thing", description="")
    listing = Listing(name="things", entity="Thing", description="")
    assert fault(thing(), patterns=(many, listing)) == "pattern things: is declared twice"


def test_a_domain_is_declared_once() -> None:
    domain = Domain(name="shop", description="", entities=(), patterns=())
    with pytest.raises(ModelError, match="domain shop: is declared twice"):
        Model(domains=(domain, domain))


def test_an_entity_and_a_collection_are_read_together_in_one_way() -> None:
    one, two = (
        ItemCollection(name=name, entity="Thing", collection="parts", description="") for name in ("one", "two")
    )
    assert fault(thing(), patterns=(one, two)) == "entity Thing: two patterns read it together with `parts`"


@pytest.mark.parametrize("name", ["GSI1PK", "GSI3PK"])
def test_a_gsi_key_taken_from_an_attribute_is_not_tenant_scoped(name: str) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute(name, KeyString(), "")))
    assert fault(wrong) == (
        f"entity Thing: `{name}` is the partition key of {name[:4]} itself, so that key is not tenant-scoped; "
        "declare the index key as a template"
    )


def test_an_index_over_an_ordinary_attribute_is_not_tenant_scoped() -> None:
    table = TableSpec(indexes=(Index("ByEmail", "email", "emailSort"),))
    assert "entity Thing: `email` is the partition key of ByEmail itself" in fault(thing(), table=table)


@pytest.mark.parametrize("name", ["PK", "SK", "GSI1SK", "ttl", "EntityType", "CopyOf", "version"])
def test_what_the_gateway_writes_itself_is_no_attribute(name: str) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute(name, Text(), "")))
    assert fault(wrong) == f"entity Thing: `{name}` is written by the gateway itself"


def test_a_place_is_on_an_index_that_exists() -> None:
    said = fault(thing(indexes=(on("GSI9"),)))
    assert said == "entity Thing: index GSI9 does not exist; the table has GSI1, GSI2, GSI3"


def test_a_place_does_not_borrow_the_name_of_another_index() -> None:
    table = TableSpec(indexes=(Index("byOwner", "APK", "ASK"), Index("byDate", "BPK", "BSK")))
    wrong = thing(indexes=(on("byOwner", name="byDate"),))
    assert fault(wrong, table=table) == "entity Thing: its place `byDate` has the name of an index it is not on"


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        ("THING#{thingId}", "META"),
        ("THING#{email}", "META"),
        ("{ownerId}#{thingId}", "META"),
        ("THING#{thingId}", "{ownerId}"),
        ("THING#{colour}#{thingId}", "META"),
    ],
)
def test_two_entities_whose_keys_can_collide_are_named(pk: str, sk: str) -> None:
    one = thing(key=Key(pk="THING#{ownerId}#{thingId}" if pk.count("#") == 2 else "THING#{thingId}", sk="META"))
    other = thing(name="Other", key=Key(pk=pk, sk=sk))
    assert fault(one, other) == (
        f"entity Thing: its key `{one.key.pk}` / `META` can collide with `{pk}` / `{sk}` of Other on the table"
    )


def test_a_copy_can_collide_too() -> None:
    copied = thing(
        name="Other", key=Key(pk="OTHER#{thingId}", sk="X"), copies=(Copy(name="c", pk="THING#{thingId}", sk="META"),)
    )
    assert "can collide with `THING#{thingId}` / `META` of Other on the table" in fault(thing(), copied)


def test_a_copy_can_collide_with_its_own_original() -> None:
    copied = thing(copies=(Copy(name="again", pk="THING#{ownerId}", sk="{thingId}"),))
    assert "can collide with `THING#{ownerId}` / `{thingId}` of Thing on the table" in fault(copied)


def test_index_keys_can_collide_too() -> None:
    other = thing(name="Other", key=Key(pk="OTHER#{thingId}", sk="META"), indexes=(on(),))
    assert fault(thing(indexes=(on(),)), other).endswith("of Other on GSI1")


def test_two_places_of_one_entity_on_one_index_can_collide_too() -> None:
    swapped = (
        on("GSI3", name="one", sk="{thingId}#{email}", when=When("colour", ("RED",))),
        on("GSI3", name="two", sk="{email}#{thingId}", when=When("colour", ("GREEN",))),
    )
    assert fault(thing(indexes=swapped)).endswith("of Thing on GSI3")


def test_the_same_key_on_another_index_is_another_key() -> None:
    other = thing(name="Other", key=Key(pk="OTHER#{thingId}", sk="META"), indexes=(on("GSI2"),))
    assert passes(thing(indexes=(on("GSI1"),)), other)


def test_a_wrong_template_is_found_when_the_model_is_made() -> None:
    assert fault(thing(key=Key(pk="thing", sk="META"))).startswith("entity Thing: key `thing` has the part `thing`")
    assert "entity Thing: key `TENANT#{thingId}`" in fault(thing(key=Key(pk="TENANT#{thingId}", sk="META")))


def test_every_fault_of_every_part_is_reported_at_once() -> None:
    wrong_key = thing(name="First", key=Key(pk="first", sk="{nothing"), unique=("mail",))
    wrong_index = thing(name="Second", key=Key(pk="SECOND#{thingId}", sk="META"), indexes=(on("GSI9"),))
    busy = thing(name="Third", key=Key(pk="THIRD#{colour}", sk="{thingId}"), expiry=None)
    right = thing(
        relations=(
            Reference(name="lost", pattern="nowhere", description=""),
            Collection(name="waits", pattern="firsts", description=""),
        )
    )
    patterns = (
        Listing(name="firsts", entity="First", description=""),
        Listing(name="things", entity="Thing", index="GSI7", description=""),
        Lookup(name="other", entity="Other", description=""),
        ItemCollection(name="both", entity="Thing", collection="parts", description=""),
    )
    found = faults(wrong_key, wrong_index, busy, right, patterns=patterns)
    cut = re.compile("; between.*|: declare shards.*|: name one of.*")
    assert [cut.sub("", fault) for fault in found] == [
        "entity First: `unique` names the unknown attribute `mail`: did you mean `email`?",
        "entity First: key `first` has the part `first`",
        "entity First: key `{nothing` has the part `{nothing`",
        "entity Second: index GSI9 does not exist; the table has GSI1, GSI2, GSI3",
        "entity Third: key `THIRD#{colour}` has few values, so many items share one partition",
        "pattern things: there is no index or place `GSI7`, Thing has ['primary']",
        "pattern other: there is no entity Other",
        "entity Thing: relation `lost` names the unknown pattern `nowhere`",
        "pattern both: Thing has no collection `parts`",
    ]
    assert all(fault in str(ModelError(*found)) for fault in found)


def test_a_wrong_type_or_key_hides_no_unknown_name_and_no_unknown_index() -> None:
    untyped = (Attribute("thingId", Id, "Its id."), *ATTRIBUTES[1:])  # type: ignore[arg-type]
    wrong = thing(
        attributes=untyped,
        key=Key(pk="THING#{thingIdd}", sk="META"),
        indexes=(on(pk="STATE#{state}"),),
        unique=("mail",),
    )
    key = thing(name="Second", key=Key(pk="SECOND#{nothing}", sk="META"))
    patterns = (
        Listing(name="things", entity="Thing", index="GSI9", description=""),
        Listing(name="seconds", entity="Second", index="GSI8", description=""),
    )
    wrong_type, *others = faults(wrong, key, patterns=patterns)
    assert wrong_type.startswith("entity Thing: `thingId`")
    assert [re.sub(": did.*|: name one of.*", "", fault) for fault in others] == [
        "entity Thing: `unique` names the unknown attribute `mail`",
        "entity Thing: key `THING#{thingIdd}`: the attribute `thingIdd` is unknown",
        "entity Thing: key `STATE#{state}`: the attribute `state` is unknown",
        "entity Second: key `SECOND#{nothing}`: the attribute `nothing` is unknown",
        "pattern things: there is no index or place `GSI9`, Thing has ['primary', 'GSI1']",
        "pattern seconds: there is no index or place `GSI8`, Second has ['primary']",
    ]


def test_a_fault_of_an_entity_hides_no_other_unless_its_keys_are_wrong() -> None:
    wrong = thing(unique=("mail",), expiry=Expiry(at="label"), upgrades=(), schema=2)
    patterns = (Listing(name="things", entity="Thing", index="GSI7", description=""),)
    mutations = crud(wrong, filled={"madeat": now})
    role = Role(name="clerk", description="", reads=("Thnig",))
    with pytest.raises(ModelError) as caught:
        model(wrong, patterns=patterns, mutations=mutations, roles=(role,))
    assert [fault.partition(": did")[0].partition("; there")[0] for fault in caught.value.faults] == [
        "entity Thing: `unique` names the unknown attribute `mail`",
        "entity Thing: it expires by `label`, which is not a timestamp",
        "entity Thing: schema 2 needs one upgrade to each schema from 2 on, in their order",
        "pattern things: there is no index or place `GSI7`, Thing has ['primary']",
        "mutation createThing: `filled` names `madeat`, which Thing does not declare",
        "role clerk: `reads` names `Thnig`, which the model does not declare",
    ]


def test_names_that_depend_on_a_faulty_entity_are_not_guessed() -> None:
    """An entity that cannot be read has attributes and mutations that nobody knows yet."""
    wrong = thing(attributes=[*ATTRIBUTES])
    role = Role(name="clerk", description="", reads=("Thing",), hides=("label",), mutations=("createThing",))
    with pytest.raises(ModelError) as caught:
        model(wrong, roles=(role,))
    assert [*caught.value.faults] == ["entity Thing: `attributes` must be a tuple, not a `list`"]


def test_what_relies_on_a_faulty_part_waits_for_it() -> None:
    """Together relies on the collection, that on its pattern, and that on the entity: one fault is one sentence."""
    root = thing(
        key=Key(pk="THING#{thingId}", sk="META"),
        relations=(Collection(name="parts", pattern="partsOf", description=""),),
    )
    part = thing(name="Part", key=Key(pk="THING#{thingId}", sk="PART#{ownerId"))
    patterns = (
        Listing(name="partsOf", entity="Part", description="", between="nothing"),
        ItemCollection(name="both", entity="Thing", collection="parts", description=""),
    )
    [fault] = faults(root, part, patterns=patterns)
    assert fault.startswith("entity Part: key `PART#{ownerId` has the part")
