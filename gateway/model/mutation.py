"""A mutation as declared data: an input, a function that makes the change, and the fields of its payload."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.model.types import Field

if TYPE_CHECKING:
    # the model uses only the types of these functions' parameters and results, nothing else of the store
    from gateway.store.rows import Item
    from gateway.store.write.change import Change
    from gateway.store.write.writer import MutationResult, Writer

RESULTS = "results"  # of the payload of a bulk mutation

Run = Callable[["Writer", dict[str, Any]], Awaitable["MutationResult"]]
Add = Callable[["Writer", "Change", "Item | None", dict[str, Any]], Awaitable["Item"]]


@dataclass(frozen=True, slots=True)
class Step:
    """What a mutation does with one item: it adds to a change, which may cover many items."""

    add: Add  # gets the input and, if it `reads` one, the stored item
    reads: bool = False  # whether the input has the key of an item that must exist


@dataclass(frozen=True, slots=True)
class Bulk:
    """The single-item mutation that a bulk mutation repeats; `atomic` writes all items or none."""

    of: "Mutation"
    max_items: int
    atomic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change that callers can request; `run` gets a `Writer` and the input and returns a `MutationResult`.

    `returns` is the entity in the payload; `extras` are further fields of the payload, such as a count.
    `member_units` is the estimated cost, in capacity units, of each member of a list in the input. `removes` means
    that it removes items, so a role that may not remove them may not call it. `acts_as` names the acting role in
    whose session it runs if the caller's own role does not write `returns`: a session of the same tenant and
    subject, for rows that the caller itself may not write. `faults` are mistakes in the declaration; they are
    reported together with those of the model. `bulk` means that it repeats another mutation for many items.
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
        """The step of a generated mutation; None if its `run` was replaced."""
        own_step = getattr(self.run, "step", None)
        return own_step if isinstance(own_step, Step) else None

    @property
    def item_field(self) -> str:
        """The field of its payload, or of each of its results, that holds the item."""
        return self.returns[0].lower() + self.returns[1:]
