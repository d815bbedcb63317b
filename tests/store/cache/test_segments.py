"""Room: bounded by bytes, shared fairly, and emptied of what is over."""

from dataclasses import replace
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.segment import CachedRows, Entry, entry
from gateway.store.cache.segments import Segments
from gateway.store.cache.stats import Counts, Tally

LIMIT = 640_000
STALENESS = Staleness(100, 10)


class Room:
    def __init__(self) -> None:
        self.now = 0.0
        self.tally = Tally(Counts, lambda tenant: tenant)
        self.segments = Segments(LIMIT, self.tally, lambda: self.now)

    def keep(self, tenant: str, number: int, size: int = 5_000) -> bool:
        made = entry(CachedRows([{}], (), self.now), STALENESS, 0.0, None)
        assert made is not None
        segment = self.segments.of(TenantId(tenant))
        return self.segments.keep(segment, read(tenant, number), replace(made, size=size))

    def use(self, tenant: str, number: int) -> bool:
        segment = self.segments.find(TenantId(tenant))
        return segment is not None and segment.get(read(tenant, number), self.now) is not None


def read(tenant: str, number: int) -> ReadKey:
    return ReadKey(TenantId(tenant), "f", ("u", "t"), None, f"p{number}", "s", True, 1, ("a",), False)


def test_a_tenant_that_is_alone_may_use_everything() -> None:
    room = Room()
    assert all(room.keep("a", number) for number in range(128))
    assert (room.segments.bytes, room.segments.entries) == (LIMIT, 128)
    assert room.tally.of(TenantId("a")).evictions == 0


def test_a_tenant_that_floods_takes_nothing_from_those_within_their_share() -> None:
    room = Room()
    small = [f"tenant{number}" for number in range(7)]
    for tenant in small:
        for number in range(16):  # exactly an eighth of the room each
            room.keep(tenant, number)
    for number in range(1_000):
        room.keep("flood", number)
    assert all(room.use(tenant, number) for tenant in small for number in range(16))
    assert room.segments.bytes <= LIMIT
    assert room.tally.of(TenantId("flood")).evictions == 1_000 - 16
    assert all(room.tally.of(TenantId(tenant)).evictions == 0 for tenant in small)


def test_a_tenant_that_had_much_and_dropped_it_keeps_what_is_left() -> None:
    room = Room()
    for number in range(100):
        room.keep("shrunk", number)
    segment = room.segments.of(TenantId("shrunk"))
    for number in range(90):
        room.segments.drop(segment, read("shrunk", number))
    for number in range(400):
        room.keep(f"flood{number % 4}", number)
    assert all(room.use("shrunk", number) for number in range(90, 100))


def test_a_tenant_that_comes_later_gets_a_share_from_the_one_that_has_most() -> None:
    room = Room()
    for number in range(128):
        room.keep("early", number)
    for number in range(64):
        room.keep("late", number)
    sizes = [len(room.segments.of(TenantId(tenant))) for tenant in ("early", "late")]
    assert sizes == [64, 64]


def test_what_was_not_used_for_longest_goes_first() -> None:
    room = Room()
    for number in range(128):
        room.keep("a", number)
    assert room.use("a", 0)
    room.keep("a", 128)
    assert (room.use("a", 0), room.use("a", 1), room.use("a", 128)) == (True, False, True)


def test_what_is_too_large_is_not_kept() -> None:
    room = Room()
    assert not room.keep("a", 1, LIMIT // 64 + 1)
    assert room.keep("a", 1, LIMIT // 64)


def test_what_is_over_makes_room_for_all_whoever_comes() -> None:
    room = Room()
    for number in range(100):
        room.keep(f"idle{number}", number)
    room.now = 200
    room.keep("a", 1)
    assert (room.segments.entries, len(room.segments)) == (1, 1)


def test_what_was_renewed_is_not_over_with_what_it_replaces() -> None:
    room = Room()
    room.keep("a", 1)
    room.now = 50
    room.keep("a", 1)
    room.now = 95
    room.keep("b", 1)
    assert room.use("a", 1)
    assert room.segments.bytes == 10_000


def test_a_segment_that_was_cleared_takes_nothing_more() -> None:
    room = Room()
    room.keep("a", 1)
    segment = room.segments.of(TenantId("a"))
    assert room.segments.clear(TenantId("a")) == 1
    made = entry(CachedRows([{}], (), 0.0), STALENESS, 0.0, None)
    assert made is not None
    assert not room.segments.keep(segment, read("a", 2), made)
    assert (room.segments.bytes, room.segments.entries, len(room.segments)) == (0, 0, 0)


def test_what_is_left_of_a_segment_that_was_cleared_does_not_stand_in_the_way() -> None:
    room = Room()
    for number in range(64):
        room.keep("gone", number)
    room.segments.clear(TenantId("gone"))
    for number in range(130):
        room.keep("a", number)
    assert (room.segments.entries, room.tally.of(TenantId("a")).evictions) == (128, 2)
    room.now = 200
    room.keep("a", 1)
    assert room.segments.entries == 1


def test_bookkeeping_does_not_outgrow_what_is_kept() -> None:
    room = Room()
    for number in range(20_000):
        room.keep("a", number % 3)
    assert len(room.segments._sizes) < 2_000
    assert len(room.segments._ends) < 2_000
    assert room.use("a", 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["keep", "use", "clear", "later"]),
            st.sampled_from("abc"),
            st.integers(0, 30),
            st.integers(1_000, 10_000),
        ),
        max_size=200,
    )
)
def test_bytes_and_entries_are_always_what_the_segments_hold(steps: list[tuple[str, str, int, int]]) -> None:
    room = Room()
    for step, tenant, number, size in steps:
        match step:
            case "keep":
                room.keep(tenant, number, size)
            case "use":
                room.use(tenant, number)
            case "clear":
                room.segments.clear(TenantId(tenant))
            case "later":
                room.now += number
        known = room.segments._segments.values()
        assert room.segments.bytes == sum(segment.size for segment in known) <= LIMIT
        assert room.segments.entries == sum(len(segment) for segment in known)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(500, 10_000)), max_size=300))
def test_an_equal_share_is_never_taken(steps: list[tuple[str, int]]) -> None:
    """`e` holds less than a fifth of the room; whatever four others keep, it loses nothing."""
    room = Room()
    for number in range(12):
        room.keep("e", number, 10_000)
    for number, (tenant, size) in zip(count(), steps, strict=False):
        room.keep(tenant, number, size)
    assert all(room.use("e", number) for number in range(12))


def test_an_answer_is_over_when_its_first_row_is() -> None:
    answer = CachedRows([{}], (ItemKey("p", "s"),), read_at=10.0)
    made = entry(answer, STALENESS, 0.0, expires_at=15.0)
    assert made is not None
    assert (made.over_at, made.fresh_until) == (15.0, 15.0)
    assert entry(answer, STALENESS, 0.0, expires_at=10.0) is None


def test_what_may_not_be_remembered_makes_no_entry() -> None:
    assert entry(CachedRows([], (), 0.0), Staleness(10), 0.0, None) is None


def test_an_entry_gives_new_rows_each_time() -> None:
    made = entry(CachedRows([{"a": {"S": "x"}}], (), 0.0), STALENESS, 0.0, None)
    assert isinstance(made, Entry)
    made.rows()[0]["a"] = {"S": "changed"}
    assert made.rows() == [{"a": {"S": "x"}}]
