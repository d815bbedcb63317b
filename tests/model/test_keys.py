from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.model.entity import Bucket, Copy, Key, Placement, Shards, When
from gateway.model.keys import ItemKey, bucket_of, buckets_between, item_key, key_parts, rendered, shard_of
from gateway.model.tenant import owns, tenant_id
from tests.model.build import Colour, on, thing

ACME = tenant_id("acme")
AT = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)
PARIS = timezone(timedelta(hours=1))
HOUR, DAY, MONTH = Bucket("madeAt", "hour"), Bucket("madeAt", "day"), Bucket("madeAt", "month")
VALUES: dict[str, Any] = {
    "thingId": "t1",
    "ownerId": "o1",
    "email": "ann@example.org",
    "colour": Colour.RED,
    "madeAt": AT,
    "price": Decimal("9.99"),
    "active": True,
}
SPREAD = thing(
    copies=(Copy(name="byOwner", pk="OWNER#{ownerId}", sk="THING#{madeAt}#{thingId}"),),
    indexes=(
        on("GSI1", pk="NICK#{nick}"),
        on("GSI1", name="red", pk="RED", low_cardinality_reason="few are red", when=When("colour", ("RED",))),
        on("GSI2", name="active", pk="ACTIVE", low_cardinality_reason="few are active", when=When("active", ("true",))),
        on("GSI3", name="made", pk="MADE#{shard}", sk="{madeAt}#{thingId}", shards=Shards(8, by="madeAt")),
    ),
)
LOGGED = thing(key=Key(pk="LOG#{ownerId}#{bucket}", sk="{madeAt}#{thingId}", bucket=DAY))


def place(name: str) -> Placement:
    found = SPREAD.placement(name)
    assert found is not None
    return found


def test_an_item_lives_under_its_tenant() -> None:
    assert item_key(ACME, SPREAD, VALUES) == ItemKey("TENANT#acme#THING#t1", "META")


def test_a_copy_lives_under_its_tenant_too() -> None:
    key = item_key(ACME, SPREAD, VALUES, place("byOwner"))
    assert key == ItemKey("TENANT#acme#OWNER#o1", "THING#2026-01-31T23:30:00.000000Z#t1")


def test_a_missing_attribute_is_named() -> None:
    with pytest.raises(BadUserInput, match="`thingId` is needed to find Thing"):
        item_key(ACME, SPREAD, {"thingId": None})


def test_an_item_that_is_not_in_an_index_has_no_key_there() -> None:
    with pytest.raises(BadUserInput, match="this Thing has no place in `red`"):
        item_key(ACME, SPREAD, {**VALUES, "colour": Colour.GREEN}, place("red"))


@pytest.mark.parametrize("bad", ["t#1", "", "t 1", 7, "t1#META"])
def test_a_part_with_a_separator_never_gets_into_a_key(bad: Any) -> None:
    with pytest.raises(BadUserInput, match="`thingId` is not a valid id"):
        item_key(ACME, SPREAD, {**VALUES, "thingId": bad})


def test_holes_without_a_value_are_left_out_and_derived_ones_never_taken_from_values() -> None:
    made = place("made")
    assert key_parts(SPREAD, made.sk, {"thingId": "t1"}) == {"thingId": "t1"}
    assert key_parts(SPREAD, made.pk, {"shard": "7"}) == {}


def test_numbers_in_keys_are_padded_as_the_template_says() -> None:
    priced = thing(indexes=(on(sk="{price:6.2}#{thingId}"),))
    assert rendered(priced, priced.placements[1], VALUES) == ("OWNER#o1", "000009.99#t1")


def test_an_index_without_its_attribute_does_not_hold_the_item() -> None:
    assert rendered(SPREAD, place("GSI1"), VALUES) is None
    assert rendered(SPREAD, place("GSI1"), {**VALUES, "nick": "annie"}) == ("NICK#annie", "t1")


@pytest.mark.parametrize(
    ("name", "attribute", "value", "inside"),
    [
        ("red", "colour", Colour.RED, True),
        ("red", "colour", "RED", True),
        ("red", "colour", Colour.GREEN, False),
        ("red", "colour", None, False),
        ("active", "active", True, True),
        ("active", "active", False, False),
        ("active", "active", None, False),
    ],
)
def test_a_sparse_index_holds_what_meets_its_condition(name: str, attribute: str, value: Any, inside: bool) -> None:
    assert (rendered(SPREAD, place(name), {**VALUES, attribute: value}) is not None) is inside


def test_an_absent_attribute_meets_no_condition_even_one_that_reads_like_nothing() -> None:
    quirky = thing(indexes=(on(when=When("thingId", ("None",))),))
    assert rendered(quirky, quirky.placements[1], {"ownerId": "o1", "thingId": None}) is None


@pytest.mark.parametrize(("value", "shard"), [("o1", "5"), ("o2", "7"), ("o3", "1"), ("Zoë", "2")])
def test_shards_stay_the_same_in_every_process_and_release(value: str, shard: str) -> None:
    assert shard_of(value, 8) == shard


def test_shards_are_used_evenly() -> None:
    used = [shard_of(f"order-{number}", 4) for number in range(4_000)]
    assert {shard: 900 < used.count(shard) < 1_100 for shard in used} == dict.fromkeys("0123", True)


def test_one_timestamp_in_two_time_zones_has_one_place() -> None:
    abroad = {**VALUES, "madeAt": AT.astimezone(PARIS)}
    assert rendered(SPREAD, place("made"), abroad) == rendered(SPREAD, place("made"), VALUES)


@pytest.mark.parametrize(
    ("bucket", "timestamp", "text"),
    [
        (HOUR, AT, "2026-01-31-23"),
        (DAY, AT, "2026-01-31"),
        (MONTH, AT, "2026-01"),
        (DAY, datetime(2026, 2, 1, 0, 30, tzinfo=PARIS), "2026-01-31"),
        (MONTH, datetime(2026, 1, 1, 0, 30, tzinfo=PARIS), "2025-12"),
        (MONTH, datetime(99, 1, 1, tzinfo=UTC), "0099-01"),
    ],
)
def test_a_bucket_is_a_piece_of_utc_time(bucket: Bucket, timestamp: datetime, text: str) -> None:
    assert bucket_of(bucket, timestamp) == text


def test_an_item_lies_in_the_bucket_of_its_time() -> None:
    assert rendered(LOGGED, LOGGED.primary, VALUES) == ("LOG#o1#2026-01-31", "2026-01-31T23:30:00.000000Z#t1")


@pytest.mark.parametrize("timestamp", ["2026-01-31", datetime(2026, 1, 31)])  # noqa: DTZ001  that is the fault
def test_a_bucket_refuses_what_is_not_a_timestamp(timestamp: Any) -> None:
    with pytest.raises(BadUserInput, match="`madeAt` needs a date and time with a time zone"):
        item_key(ACME, LOGGED, {**VALUES, "madeAt": timestamp})
    with pytest.raises(BadUserInput, match="`madeAt` needs a date and time with a time zone"):
        buckets_between(DAY, timestamp, AT)


@pytest.mark.parametrize(
    ("bucket", "first", "last", "texts"),
    [
        (HOUR, AT, AT + timedelta(hours=1), ("2026-01-31-23", "2026-02-01-00")),
        (DAY, AT, AT + timedelta(minutes=29), ("2026-01-31",)),
        (DAY, AT, AT + timedelta(minutes=30), ("2026-01-31", "2026-02-01")),
        (MONTH, AT, datetime(2026, 3, 1, tzinfo=UTC), ("2026-01", "2026-02", "2026-03")),
        (MONTH, datetime(2025, 12, 31, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), ("2025-12", "2026-01")),
        (MONTH, datetime(2026, 1, 1, tzinfo=PARIS), datetime(2026, 1, 1, tzinfo=UTC), ("2025-12", "2026-01")),
        (
            DAY,
            datetime(2024, 2, 28, tzinfo=UTC),
            datetime(2024, 3, 1, tzinfo=UTC),
            ("2024-02-28", "2024-02-29", "2024-03-01"),
        ),
        (DAY, AT, AT, ("2026-01-31",)),
        (DAY, AT, AT - timedelta(days=3), ()),
        (MONTH, datetime(9999, 11, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), ("9999-11", "9999-12")),
    ],
)
def test_buckets_cover_a_range_over_the_ends_of_months_and_years(
    bucket: Bucket, first: datetime, last: datetime, texts: tuple[str, ...]
) -> None:
    assert buckets_between(bucket, first, last) == texts


@given(
    bucket=st.sampled_from([HOUR, DAY, MONTH]),
    first=st.datetimes(datetime(1999, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    length=st.timedeltas(timedelta(), timedelta(days=35)),
    share=st.floats(0, 1),
)
def test_every_timestamp_of_a_range_lies_in_one_of_its_buckets(
    bucket: Bucket, first: datetime, length: timedelta, share: float
) -> None:
    texts = buckets_between(bucket, first, first + length)
    assert bucket_of(bucket, first + length * share) in texts
    assert list(texts) == sorted(set(texts))


def test_a_range_over_too_many_partitions_is_refused() -> None:
    assert len(buckets_between(HOUR, AT, AT + timedelta(hours=999))) == 1_000
    with pytest.raises(BadUserInput, match="`madeAt` spans more than 1000 hours"):
        buckets_between(HOUR, AT, AT + timedelta(hours=1_000))


IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,5}", fullmatch=True)
LINES = st.fixed_dictionaries(
    {"orderId": IDS, "productId": IDS, "placedAt": st.datetimes(timezones=st.just(UTC), min_value=datetime(2, 1, 1))}  # noqa: DTZ001
)


@given(one=LINES, other=LINES)
def test_two_items_of_a_tenant_never_share_a_key_in_any_place(one: dict[str, Any], other: dict[str, Any]) -> None:
    line = MODEL.entities["OrderLine"]
    assume(any(one[name] != other[name] for name in line.key_names))
    for place in line.placements:
        assert item_key(ACME, line, one, place) != item_key(ACME, line, other, place)


@given(values=LINES)
def test_items_of_two_tenants_never_share_a_key(values: dict[str, Any]) -> None:
    line = MODEL.entities["OrderLine"]
    for place in line.placements:
        key = item_key(tenant_id("acme-2"), line, values, place)
        assert not owns(ACME, key.pk)
        assert owns(tenant_id("acme-2"), key.pk)
