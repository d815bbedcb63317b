import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.cost import Shape, Trail, break_even, monthly, payoffs, provisioned, trails
from gateway.ops.capacity.demand import Need, demand
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from gateway.ops.capacity.report import page
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()
STEADY = Shape(average_share=1, utilisation=1)
SECONDS = 3_600 * 730


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


def test_three_small_nodes_cost_about_88_dollars() -> None:
    small = payoffs(0, Assumptions(), PRICES)[0]
    assert (small.node, small.nodes) == ("dax.t3.small", 3)
    assert small.cluster == pytest.approx(87.6)
    assert not small.pays


def test_a_cluster_pays_from_its_break_even_on() -> None:
    assumed = Assumptions(average_share=0.5, cache_hits=0.8)
    small = payoffs(0, assumed, PRICES)[0]
    # 87.60 over 0.8 x 2.628 million seconds x 0.125 a million
    assert small.break_even == pytest.approx(87.6 / (0.8 * 2.628 * 0.125))
    busy_hour = small.break_even / 0.5
    assert payoffs(busy_hour * 1.01, assumed, PRICES)[0].pays
    assert not payoffs(busy_hour * 0.99, assumed, PRICES)[0].pays


def test_it_saves_less_where_capacity_is_provisioned() -> None:
    small = payoffs(5_000, Assumptions(), PRICES)[0]
    assert 0 < small.saved_autoscaled < small.saved_on_demand


def test_a_cache_that_answers_nothing_never_pays() -> None:
    assert payoffs(5_000, Assumptions(cache_hits=0), PRICES)[0].break_even == float("inf")


def priced(**assumed: object) -> dict[str, Trail]:
    given = Assumptions.model_validate(assumed)
    return {each.records: each for each in trails(demand(MODEL, given), given, PRICES)}


def quiet(**rates: float) -> dict[str, dict[str, float]]:
    return {name: {"per_second": rates.get(name, 0)} for name in MODEL.patterns}


def test_every_request_is_an_event_and_costs_its_share_of_a_dollar_a_million() -> None:
    found = priced(patterns=quiet(order=1_000), writes_per_read=0, average_share=1, event_bytes=1_000)
    assert found["all"].events == 1_000 * SECONDS
    assert found["all"].recording == pytest.approx(2_628)
    # 1,000 bytes each, half a dollar a GB
    assert found["all"].copy == pytest.approx(2_628 / 2)
    assert (found["writes"].events, found["writes"].total) == (0, 0)


def test_a_write_is_one_event_whatever_it_writes_along() -> None:
    found = priced(patterns=quiet(), writes={"Order": {"per_second": 10}}, writes_per_read=0, average_share=0.5)
    assert found["writes"].events == found["all"].events == 10 * SECONDS / 2


def test_a_listing_over_shards_is_an_event_for_each_shard() -> None:
    listed = demand(MODEL, Assumptions())
    shards = {row.name: row.requests for row in listed.rows if "shards" in row.remark}
    assert shards
    assert all(requests >= 2 for requests in shards.values())


def test_what_others_do_is_not_the_tenants_traffic() -> None:
    found = priced()
    assert (found["others"].total, found["none"].total) == (0, 0)


def test_the_default_of_terraform_costs_less_than_the_table_and_everything_costs_more() -> None:
    made = plan(SHIPPED, Assumptions(), PRICES)
    by_name = {each.records: each.total for each in made.trails}
    assert by_name["writes"] < 0.35 * made.expected.month.on_demand
    assert by_name["all"] > made.expected.month.on_demand
    assert "| `writes` |" in page(made)


def test_reserved_capacity_of_1000_writes_and_10000_reads() -> None:
    month = monthly([Need(read=10_000, write=1_000)], STEADY, PRICES)
    # a year: 100 blocks of reads and 10 of writes, (3,000 + 1,500) / 12 at the start, 0.25 + 0.128 an hour
    assert month.reserved[1] == pytest.approx(4_500 / 12 + 0.378 * 730)
    # three years: (3,600 + 1,800) / 36, 0.16 + 0.081 an hour
    assert month.reserved[3] == pytest.approx(5_400 / 36 + 0.241 * 730)
    assert month.reserved[3] < month.reserved[1] < month.fixed


def test_units_beyond_whole_hundreds_are_not_reserved() -> None:
    month = monthly([Need(read=90, write=60), Need(read=60, write=30)], STEADY, PRICES)
    # one block of reads; 50 reads and 90 writes at the plain price
    assert month.reserved[1] == pytest.approx(30 / 12 + 0.0025 * 730 + (50 * 0.00013 + 90 * 0.00065) * 730)
    assert monthly([Need()], STEADY, PRICES).reserved[1] == monthly([Need()], STEADY, PRICES).fixed
