import pytest

from gateway.ops.capacity.cost import Shape, break_even, monthly, provisioned
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.prices import read_prices

PRICES = read_prices()
STEADY = Shape(average_share=1, utilisation=1)


def test_1000_writes_and_10000_reads_all_month_on_demand() -> None:
    # 2,628 million writes at 0.625, 26,280 million reads at 0.125
    month = monthly([Need(read=10_000, write=1_000)], STEADY, PRICES)
    assert month.on_demand == pytest.approx(2_628 * 0.625 + 26_280 * 0.125)


def test_the_same_provisioned_without_headroom() -> None:
    # a public worked example: 474.50 + 949.00
    month = monthly([Need(read=10_000, write=1_000)], STEADY, PRICES)
    assert month.fixed == pytest.approx(474.5 + 949)
    assert month.autoscaled == pytest.approx(month.fixed)
    assert month.cheapest == "provisioned, fixed"


def test_headroom_is_bought_in_whole_units() -> None:
    assert provisioned(Need(read=70, write=71), 0.7) == Need(100, 102)
    assert provisioned(Need(), 0.7) == Need(1, 1)


def test_a_load_that_is_low_most_of_the_day_is_cheaper_on_demand_than_fixed() -> None:
    needs, spiky = [Need(read=1_000, write=500)], Shape(average_share=0.2, utilisation=0.7)
    month = monthly(needs, spiky, PRICES)
    assert month.on_demand < month.fixed
    assert month.autoscaled < month.on_demand
    assert month.cheapest == "autoscaled"
    assert monthly([Need()], spiky, PRICES).cheapest == "on demand"


def test_a_unit_breaks_even_at_28_9_percent() -> None:
    found = break_even([Need(read=1_000, write=500)], Shape(0.4, 0.7), PRICES)
    # 0.00065 / 3,600 over 0.625 / 1,000,000
    assert found.write_utilisation == pytest.approx(0.28889, abs=1e-5)
    assert found.read_utilisation == pytest.approx(0.28889, abs=1e-5)
    assert found.average_share == pytest.approx(0.28889 / 0.7, abs=1e-3)


def test_at_the_break_even_both_modes_cost_the_same() -> None:
    needs = [Need(read=1_000, write=500), Need(read=30, write=7)]
    share = break_even(needs, Shape(0.4, 0.7), PRICES).average_share
    month = monthly(needs, Shape(share, 0.7), PRICES)
    assert month.on_demand == pytest.approx(month.fixed)


def test_without_load_there_is_no_break_even() -> None:
    assert break_even([Need()], Shape(0.4, 0.7), PRICES).average_share == float("inf")


def test_storage_is_free_up_to_25_gb() -> None:
    assert monthly([Need()], STEADY, PRICES, storage_gb=20).storage == 0
    assert monthly([Need()], STEADY, PRICES, storage_gb=125).storage == 25
