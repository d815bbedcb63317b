"""Bulk mutations: a generated mutation of one item, for many items in one request."""

from typing import Any

from gateway.model.mutation import Bulk, Mutation
from gateway.model.types import Field, ListOf, Struct
from gateway.store.write.bulk import ITEMS, bulk_write
from gateway.store.write.writer import MutationResult, Writer

_ATOMIC = "All items are written in one transaction, or none of them."
_EACH = "Each item is written or refused separately; `results` says which."


def bulk(*mutations: Mutation, max_items: int = 50, atomic: bool = False) -> tuple[Mutation, ...]:
    """Returns `bulkCreateThing` for `createThing`, and so on; `atomic` means all items of a request or none."""
    return tuple(_bulk(Bulk(mutation, max_items, atomic)) for mutation in mutations)


def _bulk(declared: Bulk) -> Mutation:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        return await bulk_write(writer, declared, values[ITEMS])

    single = declared.of
    title = single.name[0].upper() + single.name[1:]
    # the type of its members is the input type of the mutation of one item
    members = ListOf(Struct(title, single.input, f"Input of `{single.name}`."), max_items=declared.max_items)
    return Mutation(
        name=f"bulk{title}",
        description=f"`{single.name}` for up to {declared.max_items} items. {_ATOMIC if declared.atomic else _EACH}",
        returns=single.returns,
        input=(Field(ITEMS, members, f"The inputs of `{single.name}`: 1 to {declared.max_items}."),),
        run=run,
        removes=single.removes,
        acts_as=single.acts_as,
        faults=single.faults,
        bulk=declared,
    )
