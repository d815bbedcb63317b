"""Whatever lies in which shard or bucket: the pages of a listing are the sorted whole, forwards and backwards."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import Range, Window, plan_listing
from gateway.store.read_through import Page
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.store.write.items import items_for
from gateway.testing.memory import Memory, Row
from tests.drawn import drawn
from tests.store.fixtures import ACME, MODEL, NOW, READING, TABLE, TAG, THING, no_renewal, session

CURSORS = Cursors("a secret for tests")
SPAN = Range(NOW - timedelta(hours=31), NOW)
# few moments, so that many items have the same one
TIMESTAMPS = st.integers(0, 6).map(lambda number: NOW - timedelta(hours=number * 5, microseconds=number))
ANY_TIMESTAMPS = TIMESTAMPS | st.integers(0, 31 * 3_600).map(lambda seconds: NOW - timedelta(seconds=seconds))
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,3}", fullmatch=True)
WORDS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="#\U0010ffff"), min_size=1, max_size=3
)
SIZES = st.integers(1, 7)
FEW = settings(max_examples=drawn(25, 6))


class PagedList:
    """Items in memory and one listing over them."""

    def __init__(
        self, rows: list[Row], listing: str, arguments: Mapping[str, Any], page_bytes: int = 1_000_000
    ) -> None:
        self.memory = Memory(MODEL.table, TABLE, page_bytes)
        self.memory.put(rows)
        self.table = Table(self.memory, MODEL, no_renewal, Rows(MODEL, clock=NOW.timestamp))
        self.listing = MODEL.listing(listing)
        self.arguments = arguments
        place = MODEL.place(self.listing)
        index = next((index for index in MODEL.table.indexes if index.name == place.index), None)
        position = index.sk if index is not None else MODEL.table.sk
        alive = [row for row in rows if float(row.get("ttl", {"N": "inf"})["N"]) > NOW.timestamp()]
        self.expected = sorted((row[position]["S"] for row in alive), key=str.encode, reverse=self.listing.newest_first)

    async def page(self, window: Window) -> Page:
        plan = plan_listing(MODEL, self.listing, ACME, self.arguments, window, frozenset())
        return await self.table.query(Access(session()), plan)

    async def walk(self, size: int, backward: bool, reverse: bool = False) -> list[str]:
        """Every page, with a cursor sealed and opened between two of them."""
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(len(self.expected) + 1):
            position = cursor and CURSORS.open(ACME, self.listing.name, self.arguments, cursor)
            window = (
                Window(size, None, position, True, reverse) if backward else Window(size, position, reverse=reverse)
            )
            page = await self.page(window)
            found = [item.position for item in page.items]
            assert len(found) == size or not page.more
            seen = found + seen if backward else seen + found
            if not page.more:
                return seen
            edge = found[0] if backward else found[-1]
            cursor = CURSORS.seal(ACME, self.listing.name, self.arguments, edge)
        raise AssertionError("the pages do not end")

    async def check(self, size: int) -> None:
        assert await self.walk(size, backward=False) == self.expected
        assert await self.walk(size, backward=True) == self.expected
        assert await self.walk(size, backward=False, reverse=True) == self.expected[::-1]
        assert await self.walk(size, backward=True, reverse=True) == self.expected[::-1]


def things(found: dict[str, datetime]) -> list[Row]:
    return [
        row
        for name, at in found.items()
        for row in items_for(MODEL, THING, ACME, {"thingId": name, "kind": "k", "at": at, "rank": len(name)})
    ]


def readings(found: set[tuple[str, datetime]]) -> list[Row]:
    return [
        row for device, at in found for row in items_for(MODEL, READING, ACME, {"device": device, "at": at, "value": 1})
    ]


def tags(found: dict[str, int | None]) -> list[Row]:
    timestamps = {word: None if days is None else NOW + timedelta(days=days) for word, days in found.items()}
    return [
        row
        for word, until in timestamps.items()
        for row in items_for(MODEL, TAG, ACME, {"thingId": "t", "word": word, "until": until})
    ]


@FEW
@given(st.dictionaries(NAMES, TIMESTAMPS, max_size=25), SIZES)
async def test_pages_over_shards_are_the_sorted_whole(found: dict[str, datetime], size: int) -> None:
    await PagedList(things(found), "thingsOfKind", {"kind": "k"}).check(size)


@FEW
@given(st.dictionaries(NAMES, TIMESTAMPS, max_size=25), SIZES)
async def test_pages_of_one_partition_of_an_index_are_the_sorted_whole(found: dict[str, datetime], size: int) -> None:
    await PagedList(things(found), "thingsByRank", {"kind": "k"}).check(size)


@FEW
@given(st.sets(ANY_TIMESTAMPS, max_size=25), SIZES)
async def test_pages_over_hours_with_shards_are_the_sorted_whole(found: set[datetime], size: int) -> None:
    rows = readings({("d", at) for at in found})
    await PagedList(rows, "readings", {"device": "d", "at": SPAN}).check(size)


@FEW
@given(st.sets(st.tuples(NAMES, TIMESTAMPS), max_size=25), SIZES)
async def test_pages_over_days_of_an_index_are_the_sorted_whole(found: set[tuple[str, datetime]], size: int) -> None:
    await PagedList(readings(found), "latestReadings", {"at": SPAN}).check(size)


@FEW
@given(st.dictionaries(WORDS, st.none() | st.sampled_from((-1, 1)), max_size=25), SIZES, st.integers(1, 900))
async def test_pages_with_expired_items_and_any_unicode_are_the_sorted_whole(
    found: dict[str, int | None], size: int, page_bytes: int
) -> None:
    await PagedList(tags(found), "tagsOfThing", {"thingId": "t"}, page_bytes).check(size)


@FEW
@given(st.dictionaries(NAMES, TIMESTAMPS, min_size=2, max_size=25), st.data())
async def test_between_two_positions_lies_exactly_what_lies_between_them(
    found: dict[str, datetime], data: st.DataObject
) -> None:
    paged = PagedList(things(found), "thingsOfKind", {"kind": "k"})
    first = data.draw(st.integers(0, len(paged.expected) - 1))
    last = data.draw(st.integers(0, len(paged.expected) - 1))
    for backward in (False, True):
        page = await paged.page(Window(100, paged.expected[first], paged.expected[last], backward))
        assert [item.position for item in page.items] == paged.expected[first + 1 : last]
        assert not page.more


@FEW
@given(st.dictionaries(NAMES, TIMESTAMPS, max_size=25), st.tuples(TIMESTAMPS, TIMESTAMPS).map(sorted), SIZES)
async def test_a_range_of_timestamps_holds_both_of_its_ends(
    found: dict[str, datetime], span: list[datetime], size: int
) -> None:
    inside = {name: at for name, at in found.items() if span[0] <= at <= span[1]}
    paged = PagedList(things(found), "thingsOfKind", {"kind": "k", "at": Range(*span)})
    paged.expected = PagedList(things(inside), "thingsOfKind", {"kind": "k"}).expected
    await paged.check(size)


async def test_a_position_whose_item_is_gone_still_works() -> None:
    paged = PagedList(things({"a": NOW, "b": NOW, "c": NOW}), "thingsByRank", {"kind": "k"})
    [position] = [text for text in paged.expected if text.endswith("#b")]
    paged.memory.rows = {key: row for key, row in paged.memory.rows.items() if "THING#b" not in key[0]}
    page = await paged.page(Window(5, after=position))
    assert [item.position[-1] for item in page.items] == ["c"]
