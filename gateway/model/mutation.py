"""A mutation as declared data: an input, a function that makes the change, and what its payload has."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.model.types import Field

if TYPE_CHECKING:
    # the model knows nothing of the store but the types of these functions' parameters and results
    from gateway.store.rows import Item
    from gateway.store.write.change import Change
    from gateway.store.write.writer import MutationResult, Writer

RESULTS = "results"  # of the payload of a bulk mutation

Run = Callable[["Writer", dict[str, Any]], Awaitable["MutationResult"]]
Add = Callable[["Writer", "Change", "Item | None", dict[str, Any]], Awaitable["Item"]]


@dataclass(frozen=True, slots=True)
class Step:
    """What a mutation does with one item: it adds to a change, which may be that of many items."""

    add: Add  # gets the stored item, where it `reads` one, and the input
    reads: bool = False  # whether the input has the key of an item that must exist


@dataclass(frozen=True, slots=True)
class Bulk:
    """The mutation of one item that a bulk mutation repeats; `atomic` is all items or none."""

    of: "Mutation"
    max_items: int
    atomic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change that callers can ask for; `run` gets a `Writer` and the input and answers a `MutationResult`.

    `returns` is the entity in the payload; `extras` are further fields of the payload, such as a count.
    `member_units` is the estimated cost, in capacity units, of each member of a list in the input.
    `removes` tells that it removes items, so a role that may not remove them may not call it.
    `acts_as` names the acting role in whose session it runs for a caller whose own role does not write `returns`: a
    session of the same tenant and subject, for what the caller itself may not touch.
    `faults` are mistakes in the declaration; they are reported together with those of the model.
    `bulk` tells that it repeats another mutation for many items.
    """

    name: str
    description: str
    returns: str
    input: tuple[Field, ...]
    run: Run
    extras: tuple[Field, ...] = ()
    member_units: float = 6
    removes: bool = False
    acts_as: str | None = None
    deprecated: str | None = None
    faults: tuple[str, ...] = ()
    bulk: Bulk | None = None

    @property
    def step(self) -> Step | None:
        """Of a generated mutation; one whose `run` was replaced has none."""
        found = getattr(self.run, "step", None)
        return found if isinstance(found, Step) else None

    @property
    def item_field(self) -> str:
        """The field of its payload, or of each of its results, that holds the item."""
        return self.returns[0].lower() + self.returns[1:]
