"""What the model's own traffic takes of each place, for Terraform: its alarms on consumed capacity start from it."""

from math import ceil

from gateway.model.model import Model
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import demand


def expected_units(model: Model) -> dict[str, dict[str, int]]:
    """Capacity units each second in the busy hour, of the table and of each index by name."""
    wanted = demand(model, DEFAULTS)
    needs = {place: wanted.need(place) for place in wanted.places}
    return {place: {"read": _whole(need.read), "write": _whole(need.write)} for place, need in needs.items()}


def _whole(units: float) -> int:
    # a sum of fractions may end a hair above a whole number
    return ceil(round(units, 6))
