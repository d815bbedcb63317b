"""What a page may take: shards, time buckets, probes beyond its ends, and all that a filter may read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.page_price import PagePrice, count_units
from gateway.model.keys import MAX_BUCKETS
from gateway.model.patterns import Counter
from gateway.store.capacity_units import query_units
from gateway.store.plan import ReadLimits

SHIPPED: dict[str, Any] = {"status": {"eq": "SHIPPED"}}


def price(listing: str, *, probed: bool = False) -> PagePrice:
    return PagePrice(MODEL, MODEL.listing(listing), ReadLimits(), probed)


@pytest.mark.parametrize("filtered", [{"filter": SHIPPED}, {"filter": SHIPPED, "first": 1}])
def test_the_price_of_a_filter_is_that_of_all_that_may_be_read(filtered: dict[str, Any]) -> None:
    listing, plain, probed = MODEL.listing("activeOrders"), price("activeOrders"), price("activeOrders", probed=True)
    assert plain.each(filtered)[0] >= query_units(listing.max_read, listing.traffic.item_bytes)
    assert plain.each(filtered)[0] > plain.each({})[0]
    assert probed.each({**filtered, "after": "x"})[0] == 2 * plain.each(filtered)[0]


def test_every_shard_is_read_for_the_whole_page() -> None:
    listing = MODEL.listing("activeOrders")
    shards = MODEL.place(listing).shards
    assert shards is not None
    units, count = price("activeOrders").each({"first": 7})
    assert (units, count) == (shards.read * query_units(8, listing.traffic.item_bytes), 7)


def test_a_page_is_priced_up_to_the_limit_that_refuses_it_when_it_runs() -> None:
    limit = ReadLimits().page
    assert price("activeOrders").each({"first": limit * 10}) == price("activeOrders").each({"first": limit})
    assert price("activeOrders").each({"last": -1})[1] == 0


def test_a_longer_time_takes_more_buckets_up_to_the_most_that_are_read() -> None:
    until = datetime(2026, 11, 17, tzinfo=UTC)
    spans = (timedelta(hours=1), timedelta(hours=12), timedelta(days=400), timedelta(days=4_000))
    readings = price("readings")
    ranges = [{"recordedAt": {"from": until - span, "to": until}} for span in spans]
    hour, half_day, year, decade = (readings.each(arguments)[0] for arguments in ranges)
    assert hour < half_day < year == decade
    assert readings.each({"lastHours": MAX_BUCKETS})[0] == decade


def test_probes_beyond_the_ends_that_cursors_give_are_priced() -> None:
    plain, probed = price("activeOrders"), price("activeOrders", probed=True)
    one, two = probed.each({"after": "x"})[0], probed.each({"after": "x", "before": "y"})[0]
    assert plain.each({})[0] == probed.each({})[0] < one < two


def test_a_count_takes_one_read_for_each_shard_of_its_counter() -> None:
    listing = MODEL.listing("readings")
    assert count_units(listing) == 0
    assert count_units(replace(listing, counter=Counter(shards=4))) == 4 * 0.5
    assert count_units(replace(listing, counter=Counter(shards=4), strong=True)) == 4
