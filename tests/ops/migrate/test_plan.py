"""What there is to migrate."""

from dataclasses import replace

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.model.entity import Shards
from gateway.ops.migrate.plan import plan
from tests.store.growing import AFTER, NEW, OLD, model


def test_a_change_is_read_from_the_model() -> None:
    assert plan(NEW).reasons == {
        "Ticket": ("schema 2", "`GSI2` moves between 2 and 4 shards", "`GSI1` is being filled"),
    }


def test_where_nothing_is_declared_there_is_nothing_to_do() -> None:
    assert plan(OLD).empty
    assert plan(OLD, ("Ticket",)).reasons == {"Ticket": ()}


def test_the_shipped_model_has_nothing_under_way() -> None:
    assert plan(MODEL).empty


def test_an_unknown_entity_is_refused() -> None:
    with pytest.raises(BadUserInput, match="`Tickte`"):
        plan(NEW, ("Tickte",))


def test_another_target_is_another_migration() -> None:
    place = replace(AFTER.indexes[0], shards=Shards(8, by="ticketId", previous=2))
    other = model(replace(AFTER, indexes=(place, AFTER.indexes[1])))
    assert plan(other).fingerprint != plan(NEW).fingerprint
    assert plan(NEW).fingerprint == plan(NEW).fingerprint
