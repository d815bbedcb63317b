import pytest

from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.measured import Measured
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()


def test_the_bill_is_for_the_table_and_each_index() -> None:
    made = plan(MODEL, DEFAULTS, PRICES)
    assert len(made.expected.needs) == 4
    assert made.expected.shape.average_share == DEFAULTS.average_share
    assert made.measured_bill is None


def test_what_was_measured_has_the_shape_of_its_own_day() -> None:
    measured = Measured(3_600, (), average=Need(10, 2), busiest=Need(40, 4), skipped=0)
    bill = plan(MODEL, DEFAULTS, PRICES, measured).measured_bill
    assert bill is not None
    assert bill.needs == (Need(40, 4),)
    # weighed by price: a write unit costs five reads
    assert bill.shape.average_share == pytest.approx((10 + 2 * 5) / (40 + 4 * 5))


def test_a_log_without_consumption_costs_nothing_on_demand() -> None:
    bill = plan(MODEL, DEFAULTS, PRICES, Measured(60, (), Need(), Need(), 0)).measured_bill
    assert bill is not None
    assert bill.month.on_demand == 0
