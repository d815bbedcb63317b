"""The parts that a change affects: the same Update as comparing the whole items, and the same size."""

from typing import Any

import orjson
import pytest

from gateway.demo import MODEL
from gateway.model.entity import Entity
from gateway.model.tenant import tenant_id
from gateway.store.write.items import check_size, items_before_and_after, items_for, parts_before_and_after
from gateway.store.write.rewrite import difference

ACME = tenant_id("acme")
ALONE = [entity for entity in MODEL.entities.values() if not entity.copies]


def values_of(entity: Entity) -> dict[str, Any]:
    return {attribute.name: attribute.type.sample for attribute in entity.attributes}


@pytest.mark.parametrize("entity", ALONE, ids=lambda entity: entity.name)
def test_the_parts_differ_as_the_whole_items_do(entity: Entity) -> None:
    """Each optional attribute is removed and added again, so that items enter and leave their indexes."""
    values = values_of(entity)
    for attribute in entity.attributes:
        without = {name: value for name, value in values.items() if name != attribute.name}
        if attribute.required or attribute.name in entity.key_names:
            continue
        for before, changes in ((values, {attribute.name: None}), (without, {attribute.name: values[attribute.name]})):
            after = {name: value for name, value in {**before, **changes}.items() if value is not None}
            [old, *_], [new, *_] = items_before_and_after(MODEL, entity, ACME, before, changes, 2)
            old_parts, new_parts, size = parts_before_and_after(MODEL, entity, ACME, before, after, changes)
            expected, found = difference(old, new), difference(old_parts, new_parts)
            assert (found.sets, found.removes) == (expected.sets, expected.removes)
            assert size == check_size(entity.name, new)


@pytest.mark.parametrize("entity", ALONE, ids=lambda entity: entity.name)
def test_keys_are_not_longer_than_the_model_says(entity: Entity) -> None:
    [item] = items_for(MODEL, entity, ACME, values_of(entity))
    spec = MODEL.table
    keys = {spec.pk, spec.sk, *(name for index in spec.indexes for name in (index.pk, index.sk))}
    text = orjson.dumps({name: value for name, value in item.items() if name in keys})
    assert len(text) <= MODEL.longest_keys[entity.name]


@pytest.mark.parametrize("length", [10, 2_900, 3_000, 3_500, 3_900, 4_090, 4_900])
def test_the_size_of_a_larger_item_is_that_of_the_whole_item(length: int) -> None:
    entity = MODEL.entities["Comment"]
    before, changes = values_of(entity), {"body": "x" * length}
    _, [new, *_] = items_before_and_after(MODEL, entity, ACME, before, changes, 2)
    _, _, size = parts_before_and_after(MODEL, entity, ACME, before, {**before, **changes}, changes)
    assert size == check_size(entity.name, new)
