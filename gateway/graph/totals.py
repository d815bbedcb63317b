"""Sums over a fixed number of items, such as likes over the shards of their counter."""

from decimal import Decimal
from typing import Any

from strawberry import Info

from gateway.graph.context import Context
from gateway.graph.resolvers import Resolver, value_of
from gateway.model.entity import Total
from gateway.model.model import Model
from gateway.model.relation_checks import bound_attribute, own_parameters
from gateway.store.rows import Item


def total(model: Model, relation: Total) -> Resolver:
    """The items of all parents go into the same batches; what does not exist counts nothing."""
    lookup = model.lookup(relation.pattern)
    own = own_parameters(model, relation)
    attributes = frozenset({relation.attribute})

    async def resolve(root: Item, info: Info) -> int | Decimal:
        context: Context = info.context
        shared = {name: value_of(root, bound_attribute(relation, name)) for name in own}
        wanted: list[dict[str, Any]] = [
            {**shared, **relation.fixed, relation.over: number} for number in range(relation.count)
        ]
        found = await context.reader.items(lookup, list(wanted), attributes)
        return sum(value_of(item, relation.attribute) or 0 for item in found if item is not None)

    return resolve
