"""Upgrades that a model may not declare, and declarations of a change under way that contradict themselves."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.docs.patterns import access_patterns
from gateway.model.entity import Attribute, Entity, Key, Shards, Upgrade
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.tenant import tenant_of
from gateway.model.types import Id, Text
from tests.store.growing import AFTER, BEFORE, FULL_NAME, NEW, SPLIT, model

SECRET = Attribute("secret", Text(10), "Personal.", personal=True)


def nothing(values: Any) -> dict[str, Any]:
    return {}


def faults_of(entity: Entity, *patterns: Listing) -> str:
    domain = model(BEFORE).domains[0]
    with pytest.raises(ModelError) as caught:
        Model(domains=(replace(domain, entities=(entity,), patterns=patterns),))
    return caught.value.message


@pytest.mark.parametrize(
    ("schema", "steps"), [(2, ()), (1, (2,)), (3, (2,)), (3, (3, 2)), (0, ()), (3, (2, 2)), (2, (2, 3))]
)
def test_every_step_of_a_schema_has_its_upgrade(schema: int, steps: tuple[int, ...]) -> None:
    upgrades = tuple(replace(SPLIT, to=step) for step in steps)
    assert "needs one upgrade to each schema" in faults_of(replace(AFTER, schema=schema, upgrades=upgrades))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"gives": ("nobody",)}, "neither the entity declares nor a later upgrade needs"),
        ({"gives": ("ticketId",)}, "would be another item"),
        ({"gives": ("openedAt",)}, "would be another item"),
        ({"gives": ("effort",), "needs": (SECRET,)}, "must be personal, because it is derived"),
    ],
)
def test_an_upgrade_neither_moves_an_item_nor_shows_what_is_hidden(changes: dict[str, Any], expected: str) -> None:
    assert expected in faults_of(replace(AFTER, upgrades=(replace(SPLIT, change=nothing, **changes),)))


def test_what_is_unique_cannot_be_upgraded() -> None:
    entity = replace(AFTER, unique=("familyName",))
    assert "unique" in faults_of(entity)


def test_an_upgrade_may_give_what_a_later_one_needs() -> None:
    between = Attribute("between", Text(10), "For a while.", personal=True)
    first = Upgrade(to=2, needs=(FULL_NAME,), gives=("between",), change=nothing)
    second = Upgrade(to=3, needs=(between,), gives=("givenName",), change=nothing)
    entity = replace(AFTER, schema=3, upgrades=(first, second))
    assert model(entity).entities["Ticket"].retired == {"fullName", "between"}


def test_an_index_that_is_being_filled_is_not_read() -> None:
    early = Listing(name="ticketsByName", entity="Ticket", index="GSI1", description="By name.")
    assert "`GSI1` is still being filled" in faults_of(AFTER, early)


@pytest.mark.parametrize("previous", [0, 1, 257])
def test_there_were_as_many_shards_as_there_may_be(previous: int) -> None:
    place = replace(AFTER.indexes[0], shards=Shards(4, by="ticketId", previous=previous))
    assert f"has {previous} shards" in faults_of(replace(AFTER, indexes=(place,)))


def test_the_shards_of_a_key_do_not_change() -> None:
    key = Key(pk="THING#{thingId}#{shard}", sk="META", shards=Shards(4, by="thingId", previous=2))
    entity = Entity(name="Thing", description="It.", attributes=(Attribute("thingId", Id(), "Its id."),), key=key)
    assert "only an index can change its shards" in faults_of(entity)


def test_the_page_shows_what_is_under_way() -> None:
    page = access_patterns(NEW)
    assert "Query on 4 shards, in parallel" in page
    assert "moving from or to 2 shards, 4 are written" in page
    assert "being filled, not read yet" in page
    assert "stored by schema 2" in page


@pytest.mark.parametrize(
    ("key", "tenant"),
    [
        ("TENANT#acme#USER#1", "acme"),
        ("TENANT#acme#", "acme"),
        ("TENANT#acme", None),
        ("TENANT#Acme#USER#1", None),
        ("TENANT##USER#1", None),
        ("OTHER#acme#USER#1", None),
        ("", None),
    ],
)
def test_a_partition_key_names_its_tenant(key: str, tenant: str | None) -> None:
    assert tenant_of(key) == tenant
