from dataclasses import replace

import pytest

from gateway.errors import ModelError
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.role import Role
from gateway.model.role_reach import visible_patterns
from gateway.model.table import Index, TableSpec
from tests.model.build import ATTRIBUTES, fault, model, on, passes, thing

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")


def said(*indexes: Index) -> str:
    return fault(thing(), table=TableSpec(indexes=indexes))


def test_a_table_may_have_no_index_at_all() -> None:
    assert passes(thing(), table=TableSpec(indexes=()))


@pytest.mark.parametrize("pk", ["SK", "EntityType", "GSI1SK", "GSI1PK", "PK"])
def test_an_index_over_a_key_that_is_not_its_own_is_not_tenant_scoped(pk: str) -> None:
    inverted = Index("Inverted", pk, "InvertedSK")
    assert f"its key `{pk}` is used twice, so it is not tenant-scoped by itself" in said(inverted, GSI1)


def test_an_inverted_index_is_named_in_the_fault() -> None:
    assert said(Index("Inverted", "SK", "PK")).startswith("index Inverted: its key `SK`")


def test_the_table_uses_each_attribute_for_one_thing() -> None:
    assert fault(thing(), table=TableSpec(ttl="version")).startswith("table: one of its own attributes is used twice")


@pytest.mark.parametrize("name", ["GI", "by status", "x" * 256, "by/status"])
def test_an_index_has_a_name_that_dynamodb_takes(name: str) -> None:
    assert (
        said(Index(name, "GSI1PK", "GSI1SK")) == f"index {name}: a name has 3 to 255 letters, digits, `_`, `.` and `-`"
    )


def test_an_index_is_declared_once() -> None:
    assert said(GSI1, Index("GSI1", "GSI2PK", "GSI2SK")) == "index GSI1: is declared twice"


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        (Index("GSI1", projection="SOME"), "its projection must be one of ALL, KEYS_ONLY, INCLUDE, not `SOME`"),  # type: ignore[arg-type]
        (
            Index("GSI1", attributes=("word",)),
            'it names attributes, but its projection is ALL; give it `projection="INC',
        ),
        (Index("GSI1", projection="INCLUDE"), "its projection is INCLUDE, but it names no attributes; name those that"),
        (
            Index("GSI1", projection="INCLUDE", attributes=tuple(f"a{n}" for n in range(17))),
            "it includes 17 attributes, and the gateway needs 4 more; DynamoDB allows 20, so use ALL",
        ),
        (
            Index("GSI1", projection="INCLUDE", attributes=("thingId", "version")),
            "it always includes `version`; leave it out",
        ),
    ],
)
def test_a_projection_that_dynamodb_does_not_take_is_named_with_its_fix(index: Index, fault: str) -> None:
    assert said(index).startswith(f"index GSI1: {fault}")


def test_an_attribute_that_no_entity_on_the_index_has_is_named() -> None:
    index = Index("GSI1", projection="INCLUDE", attributes=("thingId", "nmae"))
    entity = thing(indexes=(on(),))
    assert fault(entity, table=TableSpec(indexes=(index,))) == (
        "index GSI1: it includes `nmae`, which is not an attribute of Thing; they have "
        f"{sorted(each.name for each in ATTRIBUTES)}"
    )
    right = replace(index, attributes=("thingId",))
    assert passes(entity, table=TableSpec(indexes=(right,)))


def test_all_indexes_together_include_a_hundred_attributes() -> None:
    indexes = tuple(
        Index(f"GSI{n}", projection="INCLUDE", attributes=tuple(f"a{number}" for number in range(16))) for n in range(6)
    )
    assert said(*indexes) == "table: its indexes include 120 attributes, DynamoDB allows 100; use ALL for some"


def test_a_string_where_a_tuple_belongs_is_named() -> None:
    wrong = Index("GSI1", projection="INCLUDE", attributes="word")  # type: ignore[arg-type]
    assert said(wrong) == "table: `attributes` must be a tuple; write `('word',)`, with a comma after the only member"


def test_domains_declare_further_indexes_and_do_not_contradict_each_other() -> None:
    fourth = Index("GSI4", projection="KEYS_ONLY")
    one = Domain(name="one", description="One.", entities=(thing(),), patterns=(), indexes=(fourth,))
    other = Domain(name="other", description="Other.", entities=(), patterns=(), indexes=(fourth,))
    model = Model(domains=(one, other))
    assert [index.name for index in model.table.indexes] == ["GSI1", "GSI2", "GSI3", "GSI4"]
    with pytest.raises(ModelError) as caught:
        Model(domains=(one, replace(other, indexes=(Index("GSI4"),))))
    assert caught.value.faults == ("index GSI4: the domains one and other declare it differently",)
    with pytest.raises(ModelError) as caught:
        Model(domains=(replace(one, indexes=(replace(fourth, attributes="a"),)),))  # type: ignore[arg-type]
    assert caught.value.faults[0].startswith("domain one: index GSI4: `attributes` must be a tuple")


def test_a_filter_needs_what_it_compares_in_the_index() -> None:
    entity = thing(indexes=(on(),))
    listing = Listing(name="things", entity="Thing", index="GSI1", description="Things.", filter=("label",))
    table = TableSpec(indexes=(Index("GSI1", projection="KEYS_ONLY"),))
    assert fault(entity, patterns=(listing,), table=table) == (
        "pattern things: it filters by `label`, which GSI1 does not carry; add it to the attributes of the index, or "
        "leave it out of `filter`"
    )
    assert passes(entity, patterns=(listing,))


def test_dynamodb_allows_twenty_indexes() -> None:
    indexes = tuple(Index(f"GSI{n}", f"GSI{n}PK", f"GSI{n}SK") for n in range(21))
    assert said(*indexes) == "table: it has 21 indexes, DynamoDB allows 20"
    assert passes(thing(), table=TableSpec(indexes=indexes[:20]))


def test_a_list_that_reads_through_the_table_does_not_open_the_table_to_a_role() -> None:
    entity = thing(indexes=(on(),))
    patterns = (
        Lookup(name="thing", entity="Thing", description="One."),
        Listing(name="things", entity="Thing", index="GSI1", description="Things."),
    )
    table = TableSpec(indexes=(Index("GSI1", projection="INCLUDE", attributes=("label",)),))
    role = Role(name="lister", description="lists", reads=("things",))
    with pytest.raises(ModelError) as caught:
        model(entity, patterns=patterns, roles=(role,), table=table)
    [said] = caught.value.faults
    assert said == (
        "role lister: `things` reads from the table what GSI1 does not carry, and the role does not read Thing by its "
        "key: name Thing in `reads`, or give GSI1 all its attributes"
    )
    reader = replace(role, reads=("Thing",))
    assert "things" in visible_patterns(model(entity, patterns=patterns, roles=(reader,), table=table), reader)
    few = replace(role, shows=("label",))
    keys = tuple(each.name for each in ATTRIBUTES if each.name in ("thingId", "ownerId", "label"))
    carrying = TableSpec(indexes=(Index("GSI1", projection="INCLUDE", attributes=keys),))
    personal = thing(
        indexes=(on(),), attributes=tuple(replace(each, personal=each.name not in keys) for each in ATTRIBUTES)
    )
    # all that it sees is in the index
    assert visible_patterns(model(personal, patterns=patterns, roles=(few,), table=carrying), few) == ("things",)
