"""What a mutation takes: its item with copies, marks and index entries, and what its lists write beside it."""

from collections.abc import Callable
from typing import Any

from gateway.graph.mutation import Mutation
from gateway.graph.query.arguments import Arguments, Unfit, Variables
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.types import ListOf, Struct
from gateway.model.units import TRANSACTION, read_units, write_units


def write_price(model: Model, mutation: Mutation, arguments: Arguments) -> Callable[[Variables], tuple[float, float]]:
    lists = [
        field.name for field in mutation.input if isinstance(field.type, ListOf) and isinstance(field.type.of, Struct)
    ]
    item = item_units(model, model.entities[mutation.returns])

    def each(variables: Variables) -> tuple[float, float]:
        try:
            values: dict[str, Any] = arguments.values(variables)
        except Unfit:  # refused when it runs
            return item, 1
        given = values.get("input", {})
        members = sum(len(given.get(name) or ()) for name in lists)
        record = TRANSACTION if "idempotencyKey" in values else 0
        return item + record + members * mutation.member_units, 1

    return each


def item_units(model: Model, entity: Entity) -> float:
    """One item read and written in a transaction, with its copies, its unique values and its index entries."""
    sizes = [pattern.traffic.item_bytes for pattern in model.patterns.values() if pattern.entity == entity.name]
    size = max(sizes, default=500)
    places = len({place.index for place in entity.placements if place.index is not None})
    written = write_units(size, transactional=True) * (1 + len(entity.copies)) + TRANSACTION * len(entity.unique)
    return read_units(size, strong=True) + written + places * write_units(size)
