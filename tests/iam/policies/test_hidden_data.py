"""Where personal information shows: by attribute name, and in keys."""

from dataclasses import replace

import pytest

from gateway.demo import MODEL
from gateway.errors import ModelError
from gateway.iam.policies.hidden_data import (
    PersonalKey,
    hidden_partitions,
    personal_attributes,
    personal_keys,
    personal_names,
)
from gateway.model.entity import Attribute, Key
from gateway.model.types import Id, KeyString
from tests.model.build import ATTRIBUTES, model, on, thing

MAIL = Attribute("mail", KeyString(), "Whom to write to.", personal=True)


def test_personal_attributes_are_known_by_name() -> None:
    names = personal_attributes(MODEL)
    assert list(names) == sorted(set(names))
    assert set(names) >= {"email", "name"}


def test_a_name_is_personal_in_every_entity_or_in_none() -> None:
    other = thing(
        name="Other", attributes=(*ATTRIBUTES[:-1], replace(MAIL, personal=False)), key=Key(pk="O#{thingId}", sk="X")
    )
    with pytest.raises(ModelError, match="entity Other: `mail` is personal in Thing and not here"):
        personal_attributes(model(thing(attributes=(*ATTRIBUTES, MAIL)), other))
    both = thing(name="Other", attributes=(*ATTRIBUTES[:-1], MAIL), key=Key(pk="O#{thingId}", sk="X"))
    assert personal_attributes(model(thing(attributes=(*ATTRIBUTES, MAIL)), both)) == ("mail",)


def test_keys_that_show_a_personal_attribute_are_listed_with_where_they_are_held() -> None:
    made = model(thing(attributes=(*ATTRIBUTES, MAIL), indexes=(on(pk="OWNER#{ownerId}", sk="MAIL#{mail}#{thingId}"),)))
    assert personal_keys(made) == (PersonalKey("Thing", "mail", "MAIL#{mail}#{thingId}", "GSI1SK"),)
    assert hidden_partitions(made, frozenset(personal_attributes(made))) == ()


def test_a_partition_is_named_by_its_words_with_a_wildcard_for_each_attribute() -> None:
    made = model(thing(attributes=(*ATTRIBUTES, MAIL), indexes=(on(pk="OWNER#{ownerId}#MAIL#{mail}"),)))
    assert hidden_partitions(made, frozenset(personal_attributes(made))) == ("OWNER#*#MAIL#*",)
    place = made.entities["Thing"].placements[-1]
    assert personal_names(made.entities["Thing"], place.pk) == {"mail"}


def test_the_shipped_model_names_its_personal_partitions() -> None:
    assert set(hidden_partitions(MODEL, frozenset(personal_attributes(MODEL)))) >= {"EMAIL#*", "PHONE#*"}


def test_a_partition_of_nothing_but_a_personal_attribute_is_refused() -> None:
    person = Attribute("personId", Id(), "Who it is.", personal=True)
    made = model(thing(attributes=(*ATTRIBUTES, person), indexes=(on(pk="{personId}"),)))
    with pytest.raises(ModelError, match="needs a word in capitals"):
        hidden_partitions(made, frozenset(personal_attributes(made)))
