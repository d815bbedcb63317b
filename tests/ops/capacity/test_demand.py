from dataclasses import replace

import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.model.patterns import Counter, Listing, Traffic
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


def test_readings_of_the_demo_are_priced_as_batches_and_other_items_as_transactions() -> None:
    assumed = Assumptions.model_validate({"writes": {"Reading": {"per_second": 1}, "LatestReading": {"per_second": 1}}})
    reading, latest = (
        next(write_rows(SHIPPED, SHIPPED.entities[name], assumed)) for name in ("Reading", "LatestReading")
    )
    assert (reading.each, reading.remark) == (1, "the item")
    # twice one unit for the item, twice one for the record
    assert (latest.each, latest.remark) == (4, "the item + an idempotency record, in a transaction")
    forced = Assumptions.model_validate({"writes": {"Reading": {"transactional": True, "record": True}}})
    assert next(write_rows(SHIPPED, SHIPPED.entities["Reading"], forced)).each == 4


def listed(**given: object) -> list[Consumption]:
    """A page of 20 items of 600 bytes, with a filter and a counter of 4 rows."""
    listing = Listing(
        name="open",
        entity="Order",
        index="open",
        description="Open.",
        filter=("gift",),
        max_read=100,
        counter=Counter(4),
        traffic=Traffic(10, 20, 600),
    )
    assumed = Assumptions.model_validate({"patterns": {"open": given}})
    domain = replace(MODEL.domains[0], patterns=(*MODEL.domains[0].patterns, listing))
    return list(pattern_rows(replace(MODEL, domains=(domain,)), listing, assumed))


def test_a_filtered_page_reads_until_it_is_full() -> None:
    # whole: 12,000 bytes are 3 blocks, half a unit each; a quarter matches: 48,000 bytes are 12 blocks
    assert listed(filtered=0)[0].each == 1.5
    assert listed(filtered=1)[0].each == 6
    assert (listed()[0].each, listed()[0].remark) == (3.75, "50% filtered, which read 80 items")
    # at most 100 items are read: 60,000 bytes are 15 blocks
    assert listed(filtered=1, matches=0.01)[0].each == 7.5


def test_a_count_reads_every_row_of_its_counter() -> None:
    rows = listed(counted=0.5)
    assert (rows[1].place, rows[1].per_second, rows[1].each) == ("table", 5, 2)
    assert rows[1].remark == "`totalCount`: 4 rows of the counter"


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
