"""Plans name the right partitions, the right range of sort keys and the right direction, and only the tenant's own."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.demo.commerce.order import OrderStatus
from gateway.errors import BadUserInput
from gateway.model.keys import ItemKey
from gateway.model.patterns import ItemCollection
from gateway.store.key_ranges import TOP, KeyRange
from gateway.store.plan import (
    EVERY,
    QueryMany,
    Range,
    Window,
    plan_item_collection,
    plan_listing,
    plan_lookup,
)
from tests.store.fixtures import ACME, GLOBEX, MODEL

FIRST = datetime(2026, 1, 31, 22, 30, tzinfo=UTC)
FIRST_TEXT = "2026-01-31T22:30:00.000000Z"
NAMES = frozenset({"thingId"})


def listed(name: str, arguments: dict[str, Any], window: Window | None = None, **window_arguments: Any) -> QueryMany:
    model = MODEL if name in MODEL.patterns else SHIPPED
    return plan_listing(model, model.listing(name), ACME, arguments, window or Window(10, **window_arguments), NAMES)


def bounds_of(plan: QueryMany) -> KeyRange:
    [found] = {query.bounds for group in plan.groups for query in group}
    return found


def partitions(plan: QueryMany) -> list[list[str]]:
    return [[query.partition for query in group] for group in plan.groups]


def test_a_lookup_has_the_keys_in_their_order() -> None:
    plan = plan_lookup(MODEL, MODEL.lookup("thing"), ACME, ({"thingId": "b"}, {"thingId": "a"}), NAMES)
    assert plan.keys == (
        ItemKey("TENANT#acme#THING#b", "DETAILS"),
        ItemKey("TENANT#acme#THING#a", "DETAILS"),
    )
    assert (plan.entity, plan.strong, plan.attributes) == ("Thing", False, NAMES)


def test_a_lookup_reads_consistently_where_it_is_declared_so() -> None:
    assert plan_lookup(MODEL, MODEL.lookup("freshThing"), ACME, (), NAMES).strong


@pytest.mark.parametrize("value", ["a#b", "", "*" * 129, None, 7, "TENANT#globex#THING#1"])
def test_an_id_that_could_leave_its_key_part_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput, match="`thingId`"):
        plan_lookup(MODEL, MODEL.lookup("thing"), ACME, ({"thingId": value},), NAMES)


def test_a_listing_asks_every_shard_of_the_index() -> None:
    plan = listed("thingsOfKind", {"kind": "door"})
    assert partitions(plan) == [[f"TENANT#acme#KIND#door#{shard}" for shard in range(3)]]
    [query, *_] = plan.groups[0]
    assert query.index is not None
    assert (query.index.name, query.forward, query.limit, query.bounds) == ("GSI1", False, 11, KeyRange())


def test_a_listing_of_another_tenant_has_other_partitions() -> None:
    plan = plan_listing(MODEL, MODEL.listing("thingsOfKind"), GLOBEX, {"kind": "door"}, Window(1), NAMES)
    assert all(name.startswith("TENANT#globex#") for group in partitions(plan) for name in group)
    assert all(query.tenant == GLOBEX for group in plan.groups for query in group)


@pytest.mark.parametrize(
    ("listing", "backward", "forward"),
    [
        ("thingsOfKind", False, False),
        ("thingsOfKind", True, True),
        ("thingsByRank", False, True),
        ("thingsByRank", True, False),
    ],
)
def test_the_direction_is_that_of_the_listing_turned_round_for_its_end(
    listing: str, backward: bool, forward: bool
) -> None:
    plan = listed(listing, {"kind": "door"}, backward=backward)
    assert {query.forward for group in plan.groups for query in group} == {forward}


def test_a_range_over_a_part_in_the_middle_holds_whatever_follows_it() -> None:
    plan = listed("thingsOfKind", {"kind": "door", "at": Range(FIRST, FIRST)})
    assert bounds_of(plan) == KeyRange(FIRST_TEXT, f"{FIRST_TEXT}#{TOP}")


@pytest.mark.parametrize(
    ("span", "bounds"),
    [
        (Range(), KeyRange("RANK#", f"RANK#{TOP}", "RANK#")),
        (None, KeyRange("RANK#", f"RANK#{TOP}", "RANK#")),
        (Range(7), KeyRange("RANK#00007", f"RANK#{TOP}")),
        (Range(None, 7), KeyRange("RANK#", f"RANK#00007#{TOP}")),
        (Range(7, 12), KeyRange("RANK#00007", f"RANK#00012#{TOP}")),
    ],
)
def test_a_range_may_have_one_end_both_or_none(span: Range | None, bounds: KeyRange) -> None:
    assert bounds_of(listed("thingsByRank", {"kind": "door", "rank": span})) == bounds


def test_a_range_over_the_last_part_ends_exactly_there() -> None:
    plan = listed("readings", {"device": "d", "at": Range(FIRST, FIRST + timedelta(minutes=1))})
    assert bounds_of(plan) == KeyRange(FIRST_TEXT, "2026-01-31T22:31:00.000000Z")


def test_a_range_of_prices_is_one_of_padded_texts() -> None:
    plan = listed("productsByCategory", {"categoryId": "c", "price": Range(Decimal("9.5"), 10)})
    assert bounds_of(plan) == KeyRange("PRICE#0000000009.50", f"PRICE#0000000010.00#{TOP}")


def test_a_complete_sort_key_is_asked_for_exactly() -> None:
    assert bounds_of(listed("tagOfThing", {"thingId": "t", "word": "blue"})) == KeyRange("AT#blue", "AT#blue")


def test_a_range_that_ends_before_it_starts_is_refused() -> None:
    for name, arguments in (
        ("thingsByRank", {"kind": "door", "rank": Range(8, 7)}),
        ("readings", {"device": "d", "at": Range(FIRST, FIRST - timedelta(hours=3))}),
    ):
        with pytest.raises(BadUserInput, match="ends before it starts"):
            listed(name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "missing"),
    [
        ("thingsOfKind", {}, "kind"),
        ("thingsOfKind", {"kind": None}, "kind"),
        ("tagOfThing", {"thingId": "t"}, "word"),
        ("ordersByStatus", {}, "status"),
    ],
)
def test_what_is_missing_is_named(name: str, arguments: dict[str, Any], missing: str) -> None:
    with pytest.raises(BadUserInput, match=f"`{missing}` is needed"):
        listed(name, arguments)


@pytest.mark.parametrize("span", [None, Range(), Range(FIRST), Range(None, FIRST)])
def test_time_buckets_need_both_ends_of_a_range(span: Range | None) -> None:
    with pytest.raises(BadUserInput, match="`at` needs both ends of a range"):
        listed("readings", {"device": "d", "at": span})


def test_buckets_follow_each_other_in_reading_order_each_with_its_shards() -> None:
    span = Range(FIRST, FIRST + timedelta(hours=2))
    hours = ["2026-01-31-22", "2026-01-31-23", "2026-02-01-00"]
    expected = [[f"TENANT#acme#DEVICE#d#{hour}#{shard}" for shard in range(2)] for hour in hours]
    assert partitions(listed("readings", {"device": "d", "at": span})) == expected
    assert partitions(listed("readings", {"device": "d", "at": span}, backward=True)) == expected[::-1]


def test_buckets_are_those_of_utc() -> None:
    timestamp = datetime(2026, 2, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    plan = listed("latestReadings", {"at": Range(timestamp, timestamp)})
    assert partitions(plan) == [["TENANT#acme#DAY#2026-01-31"]]


def test_a_position_leaves_out_the_buckets_that_lie_behind_it() -> None:
    span = Range(FIRST, FIRST + timedelta(hours=5))
    position = "2026-02-01T01:30:00.000000Z"
    later = listed("readings", {"device": "d", "at": span}, after=position)
    earlier = listed("readings", {"device": "d", "at": span}, before=position, backward=True)
    hours = [[group[0].partition[-10:-2] for group in plan.groups] for plan in (later, earlier)]
    assert hours == [["02-01-01", "02-01-02", "02-01-03"], ["02-01-01", "02-01-00", "01-31-23", "01-31-22"]]


def test_buckets_of_days_are_left_out_by_a_position_too() -> None:
    span = Range(FIRST, FIRST + timedelta(days=3))
    plan = listed("latestReadings", {"at": span}, after="AT#2026-02-01T07:00:00.000000Z#d")
    assert partitions(plan) == [[f"TENANT#acme#DAY#{day}"] for day in ("2026-02-01", "2026-01-31")]


def test_positions_that_leave_nothing_need_no_query() -> None:
    plan = listed("thingsByRank", {"kind": "door"}, after="RANK#00009#b", before="RANK#00009#a")
    assert plan.groups == ()


def test_after_and_before_follow_the_order_of_the_listing() -> None:
    ascending = bounds_of(listed("thingsByRank", {"kind": "door"}, after="RANK#00001#a", before="RANK#00009#z"))
    descending = bounds_of(listed("thingsOfKind", {"kind": "door"}, after="2026#z", before="2025#a"))
    assert (ascending.low, descending.low) == ("RANK#00001#a\x00", "2025#a\x00")
    assert ascending.high is not None
    assert descending.high is not None
    assert "RANK#00009#y" < ascending.high < "RANK#00009#z"
    assert "2026#y" < descending.high < "2026#z"


def test_a_page_of_no_items_still_shows_whether_there_is_more() -> None:
    assert {query.limit for group in listed("thingsOfKind", {"kind": "d"}, Window(0)).groups for query in group} == {1}


def test_a_page_cannot_be_smaller_than_nothing() -> None:
    with pytest.raises(BadUserInput):
        Window(-1)


def test_a_listing_on_the_table_reads_consistently_where_it_is_declared_so() -> None:
    [[query]] = listed("tagsOfThing", {"thingId": "t"}).groups
    assert (query.index, query.strong, query.forward) == (None, True, False)
    assert query.bounds == KeyRange("AT#", f"AT#{TOP}", "AT#")


def test_a_user_and_the_newest_orders_are_one_query_from_its_end() -> None:
    pattern = SHIPPED.patterns["userWithOrders"]
    assert isinstance(pattern, ItemCollection)
    plan = plan_item_collection(SHIPPED, pattern, ACME, {"userId": "u"}, 10, NAMES)
    query = plan.query
    assert (plan.root, plan.member) == ("User", "Order")
    assert (query.partition, query.bounds) == ("TENANT#acme#USER#u", KeyRange("ORDER#", "PROFILE"))
    # the user itself, and one order more than asked for
    assert (query.forward, query.limit) == (False, 12)


def test_without_a_limit_every_member_is_read() -> None:
    pattern = SHIPPED.patterns["orderWithLines"]
    assert isinstance(pattern, ItemCollection)
    assert plan_item_collection(SHIPPED, pattern, ACME, {"orderId": "o"}, None, NAMES).query.limit == EVERY


def test_an_item_before_its_members_is_read_forwards() -> None:
    model = MODEL
    pattern = model.patterns["thingWithTags"]
    assert isinstance(pattern, ItemCollection)
    query = plan_item_collection(model, pattern, ACME, {"thingId": "t"}, 2, NAMES).query
    assert (query.bounds, query.forward) == (KeyRange("AT#", "DETAILS"), False)


def test_an_order_is_found_by_its_status() -> None:
    plan = listed("ordersByStatus", {"status": OrderStatus.PENDING})
    assert partitions(plan)[0][0] == "TENANT#acme#STATUS#PENDING#0"
