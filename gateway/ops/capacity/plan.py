"""A capacity plan: everything that the report shows, as one value."""

from dataclasses import dataclass

from gateway.model.model import Model
from gateway.ops.capacity.around import Expense, expenses
from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.cost import (
    BreakEven,
    Monthly,
    Payoff,
    Shape,
    Trail,
    break_even,
    monthly,
    payoffs,
    trails,
)
from gateway.ops.capacity.demand import Demand, Need, demand
from gateway.ops.capacity.measured import Measured
from gateway.ops.capacity.partitions import Partition, partitions
from gateway.ops.capacity.prices import Prices


@dataclass(frozen=True, slots=True)
class Bill:
    """The needs of the busy hour, one for each place, and what they cost in a day of this shape."""

    needs: tuple[Need, ...]
    shape: Shape
    month: Monthly
    break_even: BreakEven


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    assumed: Assumptions
    prices: Prices
    demand: Demand
    expected: Bill
    partitions: tuple[Partition, ...]
    payoffs: tuple[Payoff, ...]
    trails: tuple[Trail, ...]
    around: tuple[Expense, ...]
    measured: Measured | None = None
    measured_bill: Bill | None = None


def plan(model: Model, assumed: Assumptions, prices: Prices, measured: Measured | None = None) -> CapacityPlan:
    expected_demand = demand(model, assumed)
    needs = tuple(expected_demand.need(place) for place in expected_demand.places)
    shape = Shape(assumed.average_share, assumed.utilisation)
    return CapacityPlan(
        assumed,
        prices,
        expected_demand,
        _bill(needs, shape, prices, assumed.storage_gb),
        partitions(model, assumed),
        payoffs(expected_demand.eventual, assumed, prices),
        trails(expected_demand, assumed, prices),
        expenses(expected_demand, assumed, prices),
        measured,
        None if measured is None else _measured_bill(measured, assumed, prices),
    )


def _bill(needs: tuple[Need, ...], shape: Shape, prices: Prices, storage_gb: float) -> Bill:
    return Bill(needs, shape, monthly(needs, shape, prices, storage_gb), break_even(needs, shape, prices))


def _measured_bill(measured: Measured, assumed: Assumptions, prices: Prices) -> Bill:
    # the shape of the day is what was measured, reads and writes weighed by what they cost
    busy, average = _weight(measured.busiest, prices), _weight(measured.average, prices)
    shape = Shape(min(1.0, average / busy) if busy else 1.0, assumed.utilisation)
    return _bill((measured.busiest,), shape, prices, assumed.storage_gb)


def _weight(need: Need, prices: Prices) -> float:
    return need.read * prices.on_demand.read_million + need.write * prices.on_demand.write_million
