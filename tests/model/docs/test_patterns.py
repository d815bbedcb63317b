from datetime import timedelta
from pathlib import Path

from gateway.demo import MODEL
from gateway.model.docs.patterns import access_patterns
from gateway.model.entity import Bucket, Collection, Copy, Expiry, Shards, When
from gateway.model.patterns import Listing, Lookup, Traffic
from tests.model.build import model, on, thing

PAGE = Path(__file__).parents[3] / "docs" / "access-patterns.md"
LINES = access_patterns(MODEL).split("\n")
SPREAD = model(
    thing(
        copies=(
            Copy(name="log", pk="LOG#{ownerId}#{bucket}", sk="{madeAt}#{thingId}", bucket=Bucket("madeAt", "day")),
        ),
        indexes=(
            on("GSI2", name="red", pk="RED#{shard}", shards=Shards(3, by="thingId"), when=When("colour", ("RED",))),
            on("GSI3", pk="ALL", low_cardinality_reason="there are | few"),
        ),
        relations=(
            Collection(
                name="parts", pattern="thing", each="partIds", bind={"thingId": "partIds"}, description="Its parts."
            ),
        ),
        expiry=Expiry(since="madeAt", after=timedelta(days=30)),
    ),
    patterns=(
        Lookup(name="thing", entity="Thing", description="One thing.", strong=True, traffic=Traffic(0.5)),
        Listing(name="redThings", entity="Thing", index="red", where=("thingId",), description="Red ones."),
        Listing(name="log", entity="Thing", index="log", between="madeAt", description="What was made."),
    ),
)
SPREAD_LINES = access_patterns(SPREAD).split("\n")


def row(lines: list[str], start: str) -> list[str]:
    (line,) = [line for line in lines if line.startswith(f"| {start} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_says_how_it_is_made() -> None:
    assert any("`gateway docs`" in line for line in LINES)


def test_every_pattern_and_every_entity_is_on_the_page() -> None:
    page = "\n".join(LINES)
    for name in MODEL.patterns:
        assert f"`{name}`" in page
    for name, entity in MODEL.entities.items():
        assert f"### {name}\n\n{entity.description}\n" in page


def test_a_lookup_is_a_get_or_a_batch() -> None:
    assert row(LINES, "`user`, `users`, `me`") == [
        "`user`, `users`, `me`",
        "One user by id, or many at once.",
        "GetItem, BatchGetItem for many",
        "table",
        "`T#USER#<userId>`; sort key = `PROFILE`",
        "",
        "eventual, strong on request",
        "`userId`",
        "200/s, 1 item of 600 bytes",
    ]


def test_a_strong_read_is_reported() -> None:
    assert row(LINES, "`stock`")[6] == "strong"


def test_a_listing_over_shards_shows_its_partitions_and_its_range() -> None:
    cells = row(LINES, "`ordersByStatus`")
    assert cells[2:6] == [
        "Query on 4 shards, in parallel",
        "GSI2",
        "`T#STATUS#<status>#<shard 0..3>`; optionally between two `<placedAt>`",
        "descending or reversed",
    ]


def test_a_listing_under_words_begins_with_them() -> None:
    assert row(LINES, "`ordersOfUser`")[4] == (
        "`T#USER#<userId>`; sort key begins with `ORDER#`, optionally between two `<placedAt>`"
    )
    assert row(LINES, "`categories`")[4] == "`T#CATEGORY#ALL`; sort key begins with `CATEGORY#`"


def test_a_listing_that_leads_on_says_where_to() -> None:
    assert row(LINES, "`userByEmail`")[1] == (
        "The user who owns an e-mail address. Returns `user`, read by its own pattern."
    )


def test_one_query_for_two_shows_the_range_of_both() -> None:
    cells = row(LINES, "`userWithOrders`")
    assert cells[4:6] == ["`T#USER#<userId>`; sort key from `ORDER#` to `PROFILE`", "descending"]


def test_a_listing_with_its_whole_sort_key_given_is_an_equality() -> None:
    assert row(SPREAD_LINES, "`redThings`")[4] == "`T#RED#<shard 0..2>`; sort key = `<thingId>`"


def test_a_listing_over_buckets_always_has_a_range() -> None:
    cells = row(SPREAD_LINES, "`log`")
    assert cells[2] == "Query on each day of the range, in parallel"
    assert cells[4] == "`T#LOG#<ownerId>#<day of madeAt>`; between two `<madeAt>`"


def test_attributes_show_what_they_are() -> None:
    assert row(LINES, "`note`") == [
        "`note`",
        "text, up to 100,000 characters",
        "",
        "yes",
        "yes",
        "A remark by the user.",
    ]


def test_places_show_where_an_item_lies_and_when() -> None:
    assert row(LINES, "byUser")[4] == "a copy, written with the item"
    assert row(LINES, "active")[1:] == [
        "GSI3",
        "`T#ACTIVE#<shard 0..3>`",
        "`<placedAt>#<orderId>`",
        "sharded by `orderId`; only while `status` is PENDING or CONFIRMED or SHIPPED",
    ]


def test_a_bar_in_a_text_does_not_break_the_table() -> None:
    assert row(SPREAD_LINES, "GSI3 | GSI3") == ["GSI3", "GSI3", "`T#ALL`", "`<thingId>`", "there are &#124; few"]


def test_expiry_and_relations_are_reported() -> None:
    assert "It expires 30 days after `madeAt`." in SPREAD_LINES
    assert "- `parts`: many, by `thing`, each of `partIds`, `thingId` is `partIds`. Its parts." in SPREAD_LINES
    assert "- `user`: one, by `user`. The user who placed it." in LINES


def test_no_line_ends_in_a_blank() -> None:
    assert [line for line in LINES if line != line.rstrip()] == []


def test_a_window_and_a_total_are_reported() -> None:
    assert "optionally between two `<recordedAt>`, by default the last 24 hours" in row(LINES, "`readings`")[4]
    assert "- `likes`: the sum of `count` over 8 items, by `counterShard`. The number of users who like it." in LINES


def test_the_page_of_access_patterns_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == access_patterns(MODEL), "print it again with `gateway docs`"
