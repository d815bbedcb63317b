"""What a mutation takes: its item with copies, marks and index entries, and what its lists write beside it."""

from graphql import FieldNode

from gateway.graph.arguments import Variables, argument_value, length
from gateway.graph.cost import Each
from gateway.graph.mutation import Mutation
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.types import ListOf, Struct
from gateway.model.units import TRANSACTION, read_units, write_units


def write_price(model: Model, mutation: Mutation, node: FieldNode) -> Each:
    lists = [
        field.name for field in mutation.input if isinstance(field.type, ListOf) and isinstance(field.type.of, Struct)
    ]
    item = item_units(model, model.entities[mutation.returns])
    given, key = argument_value(node, "input"), argument_value(node, "idempotencyKey")

    def each(variables: Variables) -> tuple[float, float]:
        values = given(variables) if lists else None
        members = sum(length(values.get(name)) for name in lists) if isinstance(values, dict) else 0
        record = TRANSACTION if key(variables) is not None else 0
        return item + record + members * mutation.member_units, 1

    return each


def item_units(model: Model, entity: Entity) -> float:
    """One item read and written in a transaction, with its copies, its unique values and its index entries."""
    sizes = [pattern.traffic.item_bytes for pattern in model.patterns.values() if pattern.entity == entity.name]
    size = max(sizes, default=500)
    places = len({place.index for place in entity.placements if place.index is not None})
    written = write_units(size, transactional=True) * (1 + len(entity.copies)) + TRANSACTION * len(entity.unique)
    return read_units(size, strong=True) + written + places * write_units(size)
