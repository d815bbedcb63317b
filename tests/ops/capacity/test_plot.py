import pytest

from gateway.ops.capacity.cost import Shape, break_even, monthly
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.plan import Bill
from gateway.ops.capacity.plot import bars, chart, curves
from gateway.ops.capacity.prices import read_prices

PRICES = read_prices()


def bill(*needs: Need) -> Bill:
    shape = Shape(0.4, 0.7)
    return Bill(needs, shape, monthly(needs, shape, PRICES), break_even(needs, shape, PRICES))


def test_bars_are_as_long_as_their_part_of_the_largest() -> None:
    lines = bars([("table", 100, "RCU"), ("GSI1", 50, "RCU"), ("GSI2", 0.1, "RCU"), ("GSI3", 0, "RCU")])
    assert [line.count("█") for line in lines] == [40, 20, 1, 0]
    assert lines[0].endswith("100.0 RCU")
    assert bars([("table", 0, "RCU")])[0].count("█") == 0
    assert bars([]) == []


def test_curves_go_from_no_load_to_the_busy_hour_all_day() -> None:
    fixed, autoscaled, on_demand = curves(bill(Need(1_000, 500)), PRICES)
    assert len(set(fixed.costs)) == 1
    assert on_demand.costs[0] == autoscaled.costs[0] == 0
    assert on_demand.costs[-1] == pytest.approx(bill(Need(1_000, 500)).month.on_demand / 0.4)
    # fully used all day, following the load is what fixed capacity is, but for rounding
    assert autoscaled.costs[-1] == pytest.approx(fixed.costs[-1], rel=0.01)


def test_the_chart_shows_every_curve_and_today() -> None:
    lines = chart(curves(bill(Need(1_000, 500)), PRICES), 0.4, "USD")
    drawn = "\n".join(lines[1:-1])
    assert all(mark in drawn for mark in "=-o·")
    assert lines[0] == "USD a month"
    assert "on demand" in lines[-1]
    # the top of the scale is what on demand costs at full load
    assert lines[1].lstrip().startswith(f"{bill(Need(1_000, 500)).month.on_demand / 0.4:,.0f}")


def test_a_chart_of_next_to_nothing_does_not_fail() -> None:
    assert len(chart(curves(bill(Need()), PRICES), 0, "USD")) > 10
