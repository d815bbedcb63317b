"""Sums over a fixed number of items, such as likes over the shards of their counter."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from gateway.graph.context import Context
from gateway.graph.resolvers import Info, Resolver, value_of
from gateway.model.entity import Total
from gateway.model.model import Model
from gateway.model.relation_checks import bound_attribute, own_parameters
from gateway.store.rows import Item


def members(relation: Total, own: tuple[str, ...], item: Item) -> list[dict[str, Any]]:
    """What finds the items to sum; `own` are the parameters that the item itself fills."""
    shared = {name: value_of(item, bound_attribute(relation, name)) for name in own}
    return [{**shared, **relation.fixed, relation.over: number} for number in range(relation.count)]


def summed(relation: Total, found: Iterable[Item | None]) -> int | Decimal:
    """What does not exist counts nothing."""
    return sum(value_of(item, relation.attribute) or 0 for item in found if item is not None)


def total(model: Model, relation: Total) -> Resolver:
    """The items of all parents go into the same batches."""
    lookup, own = model.lookup(relation.pattern), own_parameters(model, relation)

    async def resolve(root: Item, info: Info) -> int | Decimal:
        context: Context = info.context
        wanted = list[Any](members(relation, own, root))
        return summed(relation, await context.reader.items(lookup, wanted, frozenset({relation.attribute})))

    return resolve
