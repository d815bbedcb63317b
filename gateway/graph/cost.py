"""What an operation may cost, in capacity units, as a value: made once of a document, estimated for every request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache
from graphql import OperationDefinitionNode

from gateway.errors import LimitExceeded
from gateway.graph.documents import Document

Variables = Mapping[str, Any]
# for one parent: the units it takes, and how many items it leads to
Each = Callable[[Variables], tuple[float, float]]

COST = "cost"
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Condition:
    """`@include` or `@skip`: a variable, or a value that the document gives."""

    wanted: bool
    value: bool = True
    variable: str | None = None

    def holds(self, variables: Variables) -> bool:
        value = self.value if self.variable is None else variables.get(self.variable)
        # what is no bool is refused when it runs; until then it counts
        return not isinstance(value, bool) or value is self.wanted


@dataclass(frozen=True, slots=True)
class Reads:
    """A field that reads or writes; `below` is what is read for its items, and one of these alternatives comes true."""

    each: Each
    below: tuple[tuple["Reads", ...], ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Price:
    """The reads of one operation and the defaults of its variables."""

    reads: tuple[Reads, ...]
    defaults: Variables = field(default_factory=dict)

    def estimate(self, given: Variables) -> float:
        return _sum(self.reads, {**self.defaults, **given} if self.defaults else given, 1)


def _sum(reads: tuple[Reads, ...], variables: Variables, parents: float) -> float:
    total = 0.0
    for read in reads:
        if read.conditions and not all(condition.holds(variables) for condition in read.conditions):
            continue
        units, items = read.each(variables)
        total += parents * units
        if read.below and items:
            total += max(_sum(alternative, variables, parents * items) for alternative in read.below)
    return total


MakePrice = Callable[[Document, OperationDefinitionNode], Price]


@dataclass(frozen=True, slots=True)
class CostLimits:
    """Capacity units that one operation may take by its estimate; a role may have a limit of its own."""

    units: float = 2_000
    by_role: Mapping[str, float] = field(default_factory=dict)

    def check(self, estimate: float, role: str) -> None:
        limit = self.by_role.get(role, self.units)
        if estimate > limit:
            raise LimitExceeded(
                f"the operation may take {estimate:.15g} capacity units, at most {limit:g} are allowed for the role"
                f" `{role}`; ask for smaller pages or for less in each item"
            )


class Costs:
    """Prices by document and operation, remembered."""

    def __init__(self, price: MakePrice, limits: CostLimits) -> None:
        self._price = price
        self._known: LRUCache[tuple[str, str | None], Price] = LRUCache(_REMEMBERED)
        self.limits = limits

    def estimate(self, document: Document, operation: OperationDefinitionNode | None, given: Variables) -> float:
        """Nothing for what will not run, since it is not clear which operation is meant."""
        if operation is None:
            return 0
        key = (document.hash, operation.name.value if operation.name is not None else None)
        price = self._known.get(key)
        if price is None:
            price = self._known[key] = self._price(document, operation)
        return price.estimate(given)
