"""Ranges of sort keys are exact: a position cuts off what it must, and not one key more."""

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.store.key_ranges import TOP, KeyRange, after, before, exactly, overlap, starting_with

# what a sort key can hold: no control characters, no surrogates, not the last code point; edges are likely
EDGES = ' !"#$~\u007e\u00a0\ud7ff\ue000\uffff\U00010000\U0010fffe'
KEYS = st.text(
    st.sampled_from(EDGES) | st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=TOP),
    min_size=1,
    max_size=4,
)
PREFIXES = st.text(st.sampled_from(EDGES), max_size=2)


def holds(bounds: KeyRange, key: str) -> bool:
    """As DynamoDB compares: by the bytes of UTF-8."""
    text = key.encode()
    low = bounds.low is None or bounds.low.encode() <= text
    return low and (bounds.high is None or text <= bounds.high.encode())


@given(PREFIXES, KEYS)
def test_starting_with_is_what_starts_with_it(prefix: str, key: str) -> None:
    assert holds(starting_with(prefix), key) is key.startswith(prefix)


@given(KEYS, KEYS)
def test_after_is_strictly_after_with_nothing_lost(position: str, key: str) -> None:
    assert holds(after(KeyRange(), position), key) is (key.encode() > position.encode())


@given(KEYS, KEYS)
@example("a\ue000", "a\ud7ff")
@example("a\ue000", "a\ud7ff\U0010fffe")
@example("a ", "a")
def test_before_is_strictly_before_with_nothing_lost(position: str, key: str) -> None:
    assert holds(before(KeyRange(), position), key) is (key.encode() < position.encode())


@given(PREFIXES, KEYS, KEYS, KEYS)
def test_a_position_never_widens_what_was_there(prefix: str, first: str, last: str, key: str) -> None:
    cut = before(after(starting_with(prefix), first), last)
    expected = key.startswith(prefix) and first.encode() < key.encode() < last.encode()
    assert holds(cut, key) is expected
    assert not (expected and cut.empty)


@given(KEYS, KEYS)
def test_exactly_is_that_key_alone(text: str, key: str) -> None:
    assert holds(exactly(text), key) is (key == text)


@given(KEYS, KEYS, KEYS)
def test_bounds_that_share_a_key_overlap(one: str, other: str, key: str) -> None:
    for left in (starting_with(one), after(KeyRange(), one), before(KeyRange(), one), KeyRange()):
        for right in (starting_with(other), after(KeyRange(), other), before(KeyRange(), other), KeyRange()):
            assert overlap(left, right) or not (holds(left, key) and holds(right, key))


def test_bounds_beside_each_other_do_not_overlap() -> None:
    assert not overlap(starting_with("2026-01-01"), starting_with("2026-01-02"))
    assert not overlap(starting_with("2026-01-01"), after(KeyRange(), "2026-01-01" + TOP))
    assert overlap(starting_with("2026-01-01"), after(KeyRange(), "2026-01-01T10"))


def test_a_position_outside_of_a_range_leaves_it_as_it_was() -> None:
    whole = starting_with("B#")
    assert before(whole, "C#").high == whole.high
    assert after(whole, "A#").low == whole.low


def test_a_cut_range_is_no_prefix_any_more() -> None:
    assert starting_with("A#").prefix == "A#"
    assert after(starting_with("A#"), "A#1").prefix is None
    assert before(starting_with("A#"), "A#1").prefix is None


def test_bounds_that_end_before_they_start_are_empty() -> None:
    assert before(after(KeyRange(), "b"), "a").empty
    assert not KeyRange("a", "a").empty
    assert not KeyRange("a").empty
