import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.ops.capacity.assumptions import DEFAULTS, Assumptions
from gateway.ops.capacity.demand import Consumption, demand, pattern_rows, write_rows
from tests.ops.capacity.shop import MODEL


def reads(name: str, **assumed: object) -> list[Consumption]:
    return list(pattern_rows(MODEL, MODEL.patterns[name], Assumptions.model_validate(assumed)))


def writes(entity: str, **given: object) -> dict[str, Consumption]:
    assumed = Assumptions.model_validate({"writes": {entity: given}})
    return {row.place: row for row in write_rows(MODEL, MODEL.entities[entity], assumed)}


def test_2000_eventual_lookups_of_3_kb_are_1000_rcu_of_the_table() -> None:
    [row] = reads("order")
    assert (row.place, row.kind, row.units, row.eventual) == ("table", "read", 1_000, True)


def test_a_strong_lookup_costs_whole_units_and_cannot_be_cached() -> None:
    [row] = reads("lastOrder")
    assert (row.each, row.units, row.eventual) == (2, 20, False)


def test_a_sharded_listing_reads_a_page_of_every_shard() -> None:
    # 20 x 600 bytes are 3 blocks of 4 KB, half a unit each, four times
    [row] = reads("ordersByStatus")
    assert (row.place, row.each, row.units, row.remark) == ("GSI1", 6, 60, "4 shards read in parallel")


def test_a_listing_that_follows_reads_twice() -> None:
    index, table = reads("userByEmail")
    # what it leads to is read strongly, as its own pattern says
    assert (index.place, index.each, table.place, table.each) == ("GSI3", 0.5, "table", 2)


def test_a_range_of_time_buckets_is_one_query_for_each() -> None:
    [one] = reads("readings")
    [many] = reads("readings", patterns={"readings": {"buckets": 24}})
    assert (one.each, many.each) == (1.5, 12)
    assert many.remark == "24 buckets read in parallel"


def test_500_writes_of_2_5_kb_are_1500_wcu_of_the_table() -> None:
    row = writes("Reading", per_second=500, item_bytes=2_560, transactional=False, record=False)["table"]
    assert (row.units, row.remark) == (1_500, "the item")


def test_a_transaction_doubles_and_writes_a_record() -> None:
    row = writes("Reading", per_second=500, item_bytes=2_560)["table"]
    # twice three units for the item, twice one for the record
    assert (row.each, row.remark) == (8, "the item + an idempotency record, in a transaction")


def test_a_copy_is_written_as_often_as_its_item() -> None:
    row = writes("Order", per_second=1, item_bytes=500, record=False)["table"]
    assert (row.each, row.remark) == (4, "the item + a copy, in a transaction")


def test_every_index_takes_a_write_of_its_own_and_a_second_one_where_the_key_moves() -> None:
    found = writes("Order", per_second=100, item_bytes=2_000, moves=0.5)
    # not doubled by the transaction
    assert found["GSI1"].units == pytest.approx(100 * 2 * 1.5)
    # three of the four values of a status have a place in GSI2
    assert found["GSI2"].units == pytest.approx(100 * 2 * 1.5 * 0.75)
    sparse = writes("Order", per_second=100, item_bytes=2_000, moves=0, in_index={"open": 0.1, "sent": 0.05})
    assert sparse["GSI2"].units == pytest.approx(100 * 2 * 0.15)
    crowded = writes("Order", per_second=100, item_bytes=2_000, moves=0, in_index={"open": 1, "sent": 1})
    # an item has at most one entry in an index
    assert crowded["GSI2"].units == 200


def test_a_unique_value_is_claimed_by_what_is_created() -> None:
    plain, claimed = (writes("Email", per_second=1, creates=share, record=False)["table"] for share in (0, 1))
    assert claimed.each - plain.each == 2
    assert "unique values" in claimed.remark


def test_needs_are_summed_up_by_place() -> None:
    found = demand(MODEL, Assumptions(writes_per_read=0))
    assert found.places == ("table", "GSI1", "GSI2", "GSI3")
    # 1,000 by id, 20 strong, 40 followed, 5 x 1.5 of readings
    assert found.need("table").read == pytest.approx(1_000 + 20 + 40 + 7.5)
    assert found.need("GSI1").read == 60
    assert found.total.write == 0
    assert found.eventual == pytest.approx(found.total.read - 20 - 40)


def test_every_pattern_and_every_entity_of_the_shipped_model_is_counted() -> None:
    rows = demand(SHIPPED, DEFAULTS).rows
    assert {row.name for row in rows} == {
        *SHIPPED.patterns,
        *(f"write {entity}" for entity in SHIPPED.entities),
    }
    assert all(row.each > 0 for row in rows)
