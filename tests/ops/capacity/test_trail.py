import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import demand
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from gateway.ops.capacity.report import page
from gateway.ops.capacity.trail import Trail, trails
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()
SECONDS = 3_600 * 730


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
