import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.ops.capacity.assumptions import DEFAULTS, Assumptions
from gateway.ops.capacity.partitions import Partition, partitions, share_of_busiest
from tests.ops.capacity.shop import MODEL, ORDER


def found(key: str, **assumed: object) -> Partition:
    made = {(each.place, each.key): each for each in partitions(MODEL, Assumptions.model_validate(assumed))}
    return next(each for (_, name), each in made.items() if name == key)


def test_the_busiest_key_depends_on_what_the_key_is_made_of() -> None:
    places = {place.name: place for place in ORDER.placements}
    assert share_of_busiest(ORDER, places["primary"], DEFAULTS) == pytest.approx(0.3 * 0.1)
    assert share_of_busiest(ORDER, places["GSI1"], DEFAULTS) == pytest.approx(0.3 * 0.5)
    assert share_of_busiest(ORDER, places["open"], DEFAULTS) == pytest.approx(0.3)
    # a flag has two values: the busier one gets half at least
    even = Assumptions(busiest_value=0.1)
    assert share_of_busiest(ORDER, places["gifts"], even) == pytest.approx(0.3 * 0.5)
    assert share_of_busiest(ORDER, places["GSI1"], even) == pytest.approx(0.3 * 0.25)


def test_shards_share_writes_and_not_reads() -> None:
    here = found("STATUS#{status}#{shard}", writes={"Order": {"per_second": 400, "item_bytes": 500, "moves": 0}})
    assert here.shards == 4
    # 400 writes x 1 unit x 15 % of the busiest status, over four shards
    assert here.write == pytest.approx(400 * 0.15 / 4)
    # 10 listings x 1.5 units at each shard x 15 %
    assert here.read == pytest.approx(10 * 1.5 * 0.15)


def test_a_partition_beyond_1000_wcu_is_hot_and_gets_as_many_shards_as_it_needs() -> None:
    busy = {"Order": {"per_second": 40_000, "item_bytes": 500, "moves": 0}}
    here = found("STATUS#{status}#{shard}", writes=busy)
    assert here.heat == "hot"
    assert here.write == pytest.approx(1_500)
    # 6,000 units in all, 700 to a shard
    assert here.wanted_shards == 9
    assert here.advice == "9 shards instead of 4"


def test_a_partition_beyond_3000_rcu_is_hot_and_more_shards_do_not_help() -> None:
    here = found("STATUS#{status}#{shard}", patterns={"ordersByStatus": {"per_second": 20_000}}, writes_per_read=0)
    assert here.heat == "hot"
    assert here.read == pytest.approx(4_500)
    assert here.advice.startswith("read it less")


def test_items_that_share_a_key_share_its_partition() -> None:
    rates = {"Order": {"per_second": 100, "item_bytes": 500}, "Email": {"per_second": 100, "item_bytes": 500}}
    here = found("USER#{userId}", writes=rates)
    # an order's copy and an address, both in transactions, for 3 % of all users' traffic
    assert here.write == pytest.approx((200 + 200) * 0.03)


def test_the_items_of_a_sum_are_shards() -> None:
    rates = Assumptions.model_validate({"writes": {"Counter": {"per_second": 80_000, "item_bytes": 150}}})
    here = next(each for each in partitions(SHIPPED, rates) if each.key.startswith("COUNTER#"))
    assert here.shards == 8
    # 2 units in a transaction, 3 % of them for the busiest counter, over eight partitions
    assert here.write == pytest.approx(80_000 * 2 * 0.03 / 8)
    # 200 sums of eight items, half a unit each: one item of each sum lies here
    assert here.read == pytest.approx(200 * 0.5 * 0.03)
    assert here.wanted_shards == 8


def test_a_time_bucket_takes_all_writes_of_now() -> None:
    here = found("DEVICE#{device}#{bucket}", writes={"Reading": {"per_second": 1_000, "transactional": False}})
    assert here.write == pytest.approx(1_000 * 0.03)
    spread = found("DEVICE#{device}#{bucket}", patterns={"readings": {"buckets": 24}})
    assert spread.read == pytest.approx(5 * 0.5 * 0.03)


@pytest.mark.parametrize(
    ("read", "write", "heat", "advice"),
    [
        (100, 100, "fine", ""),
        (2_500, 0, "warm", "read it less: cache it, request smaller pages, or keep a copy of what is read most"),
        (0, 800, "warm", "2 shards instead of 1"),
        (3_001, 0, "hot", "read it less: cache it, request smaller pages, or keep a copy of what is read most"),
    ],
)
def test_heat_has_three_degrees(read: float, write: float, heat: str, advice: str) -> None:
    here = Partition("table", "X#{x}", read, write, shards=1, wanted_shards=2 if write else 1)
    assert (here.heat, here.advice) == (heat, advice)


def test_the_hottest_comes_first() -> None:
    loads = [max(each.read / 3_000, each.write / 1_000) for each in partitions(MODEL, DEFAULTS)]
    assert loads == sorted(loads, reverse=True)
