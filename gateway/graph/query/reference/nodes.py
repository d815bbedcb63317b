"""Global ids in the schema: the id of an item, and the item of an id."""

from typing import Any

from gateway.errors import BadUserInput
from gateway.graph.global_id import global_id, read_global_id
from gateway.graph.query.reference.context import Context
from gateway.graph.query.reference.resolvers import Info, Resolver, value_of
from gateway.graph.query.tree import NodeField
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key, key_parts
from gateway.model.tenant import TenantId
from gateway.store.rows import Item


def item_id(entity: Entity) -> Resolver:
    def resolve(root: Item, info: Info) -> str:
        context: Context = info.context
        values = {name: value_of(root, name) for name in entity.key_names}
        parts = {**key_parts(entity, entity.primary.pk, values), **key_parts(entity, entity.primary.sk, values)}
        return global_id(context.reader.tenant, entity.name, tuple(parts[name] for name in entity.key_names))

    return resolve


def node_key(tenant: TenantId, entity: Entity, parts: tuple[str, ...]) -> ItemKey | None:
    """The key that the parts of a global id name, or None: anybody can make an id of parts that are none."""
    if len(parts) != len(entity.key_names):
        return None
    # only attributes that can fill a key are named in one: that is checked with the entity
    kinds: list[Any] = [entity.attribute[name].type for name in entity.key_names]
    named = zip(entity.key_names, kinds, parts, strict=True)
    values = {name: kind.key_value(text) for name, kind, text in named}
    try:
        return item_key(tenant, entity, values)
    except BadUserInput:
        return None


async def find_node(context: Context, field: NodeField, text: str) -> Item | None:
    """By global id; unknown, foreign and forged ids alike are nothing."""
    tenant = context.reader.tenant
    found = read_global_id(tenant, text)
    if found is None or found[0] not in field.items:
        return None
    lookup, item = field.items[found[0]]
    key = node_key(tenant, item.entity, found[1])
    return None if key is None else (await context.reader.items_at(lookup, (key,), item.attributes))[key]
