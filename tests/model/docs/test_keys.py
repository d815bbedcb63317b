from datetime import timedelta

from gateway.model.docs.keys import (
    expiry_words,
    markdown_table,
    partition_words,
    range_words,
    sort_words,
    traffic_words,
)
from gateway.model.entity import Expiry
from gateway.model.patterns import Listing, Traffic
from tests.model.build import on, thing


def test_a_table_keeps_its_columns_whatever_stands_in_them() -> None:
    assert markdown_table(("a", "b"), [("1", "x|y")]) == ["| a | b |", "| --- | --- |", "| 1 | x&#124;y |"]


def test_numbers_in_keys_show_their_width() -> None:
    entity = thing(indexes=(on(pk="N#{count:4}", sk="{price:8.2}#{thingId}"),))
    assert partition_words(entity.placements[1]) == "T#N#<count, 4 digits>"
    assert sort_words(entity.placements[1]) == "<price, 8 digits and 2 decimals>#<thingId>"


def test_a_listing_of_a_whole_partition_has_no_condition_on_the_sort_key() -> None:
    entity = thing(indexes=(on(),))
    listing = Listing(name="things", entity="Thing", index="GSI1", description="")
    assert range_words(entity.placements[1], listing) == "every sort key"


def test_traffic_and_expiry_read_as_sentences() -> None:
    assert traffic_words(Traffic(0.5, 1, 1_500)) == "0.5/s, 1 item of 1,500 bytes"
    assert traffic_words(Traffic(20, 25, 600)) == "20/s, 25 items of 600 bytes"
    assert expiry_words(Expiry(at="endsAt")) == "at `endsAt`"
    assert expiry_words(Expiry(since="madeAt", after=timedelta(hours=2))) == "2 hours after `madeAt`"
    assert expiry_words(Expiry(since="madeAt", after=timedelta(minutes=90))) == "1:30:00 after `madeAt`"
