"""Bounded increments: the condition that keeps a number within its type, and the fault for a number outside of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gateway.model.entity import Entity
from gateway.model.error_code import UserErrorCode
from gateway.model.model import Model
from gateway.model.types import DecimalNumber, Integer
from gateway.store.rows import Item
from gateway.store.write.faults import Fault


@dataclass(frozen=True, slots=True)
class Bound:
    """The condition on the stored number before the increment, so that the sum stays within bounds."""

    operator: str
    limit: int | Decimal
    absent: bool  # whether the number may be missing; it then counts as 0

    def condition(self, name: str, value: str) -> str:
        inside = f"{name} {self.operator} {value}"
        return f"(attribute_not_exists({name}) OR {inside})" if self.absent else inside


def bound_of(
    entity: Entity, attribute: str, amount: int, floor: int | None = None, *, absent: bool = False
) -> Bound | None:
    """Returns the condition of an increment; `floor` is a minimum in addition to that of the type."""
    declared = entity.attribute[attribute]
    lowest, highest = _range(declared.type)
    if amount < 0 and floor is not None:
        # a missing number is below the floor, too
        return Bound(">=", max(floor, lowest if lowest is not None else floor) - amount, absent=False)
    limit = highest if amount > 0 else lowest
    if limit is None or not amount:
        return None
    from_nothing = (absent or not declared.required) and not any(declared.type.broken_rules(attribute, amount))
    return Bound("<=" if amount > 0 else ">=", limit - amount, from_nothing)


def _range(kind: Any) -> tuple[int | Decimal | None, int | Decimal | None]:
    return (kind.min, kind.max) if isinstance(kind, Integer | DecimalNumber) else (None, None)


@dataclass(frozen=True, slots=True)
class Sums:
    """The numbers that an increment adds to, to find out afterwards whether the bounds of their types made it fail.

    A number with its own floor has its own fault for values below it.
    """

    entity: str
    key: Mapping[str, Any]
    amounts: Mapping[str, int]
    floor: int | None = None

    def fault(self, model: Model, item: Item | None) -> Fault | None:
        """Returns OUT_OF_RANGE for the first number that would exceed its type; None if something else is wrong."""
        faults = (self._fault(model, item, name) for name in sorted(self.amounts)) if item is not None else ()
        return next((fault for fault in faults if fault is not None), None)

    def _fault(self, model: Model, item: Item, name: str) -> Fault | None:
        low, high = _range(model.entities[self.entity].attribute[name].type)
        total = item.values.get(name, 0) + self.amounts[name]
        if high is not None and total > high:
            words = f"at most {high}"
        elif low is not None and total < low and self.floor is None:
            words = f"at least {low}"
        else:
            return None
        return Fault(UserErrorCode.OUT_OF_RANGE, f"`{name}` would be {total}, {words} is allowed", name)
