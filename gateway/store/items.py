"""Items as they are stored: keys, index keys, copies, expiry and discriminator are derived here, never given."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.entity import Entity, Placement
from gateway.model.keys import item_key, rendered
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.store.codec import Wire, encode_attribute


def items_for(
    model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any], version: int = 1
) -> list[Wire]:
    """The item and its copies; they are written together or not at all."""
    content = _content(model, entity, values, version)
    original = {**_key(model, entity, tenant, values, entity.primary), **content}
    # INVARIANT: index keys are derived by the model, never taken from input.
    original |= _index_keys(model, entity, tenant, values)
    copies = (place for place in entity.placements[1:] if place.index is None)
    return [original, *(_copy(model, entity, tenant, values, content, place) for place in copies)]


def _content(model: Model, entity: Entity, values: Mapping[str, Any], version: int) -> Wire:
    unknown = set(values) - set(entity.attribute)
    if unknown:
        raise BadUserInput(f"{entity.name} has no attribute `{min(unknown)}`")
    content: Wire = {model.table.entity_type: {"S": entity.name}, model.table.version: {"N": str(version)}}
    if entity.schema > 1:
        content[model.table.schema] = {"N": str(entity.schema)}
    for attribute in entity.attributes:
        value = values.get(attribute.name)
        if value is not None:
            content[attribute.name] = encode_attribute(attribute, value)
        elif attribute.required:
            raise BadUserInput(f"`{attribute.name}` of {entity.name} is required")
    expires = expires_at(entity, values)
    if expires is not None:
        content[model.table.ttl] = {"N": str(int(expires.timestamp()))}
    return content


def expires_at(entity: Entity, values: Mapping[str, Any]) -> datetime | None:
    if entity.expiry is None:
        return None
    moment = values.get(entity.expiry.at or entity.expiry.since or "")
    return moment + entity.expiry.after if isinstance(moment, datetime) else None


def _key(model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any], place: Placement) -> Wire:
    key = item_key(tenant, entity, values, place)
    return {model.table.pk: {"S": key.pk}, model.table.sk: {"S": key.sk}}


def _index_keys(model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any]) -> Wire:
    attributes = {index.name: index for index in model.table.indexes}
    keys: Wire = {}
    for place in entity.placements:
        texts = rendered(entity, place, values) if place.index is not None else None
        if place.index is not None and texts is not None:
            index = attributes[place.index]
            keys |= {index.pk: {"S": partition(tenant, texts[0])}, index.sk: {"S": texts[1]}}
    return keys


def _copy(
    model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any], content: Wire, place: Placement
) -> Wire:
    # a copy has no index keys, or the item would be found twice
    return {**_key(model, entity, tenant, values, place), **content, model.table.copy_of: {"S": place.name}}
