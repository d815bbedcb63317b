"""The caller's own writes: which reads they concern, and what is not known any more."""

from gateway.model.keys import ItemKey
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.store.key_ranges import KeyRange, starting_with
from gateway.store.own_writes import MOST_ITEMS, OwnWrites

ONE, TWO = ItemKey("TENANT#acme#A", "DETAILS"), ItemKey("TENANT#acme#B", "DETAILS")
EVERY = KeyRange()
PUT = Written(ONE, (WrittenPlace(None, *ONE), WrittenPlace("GSI1", "TENANT#acme#L", "X#1")))
WRITES = OwnWrites().plus([PUT], 100)


def test_an_item_is_known_by_its_key() -> None:
    assert WRITES.hold({ONE, TWO})
    assert not WRITES.hold({TWO})


def test_a_partition_of_the_table_is_concerned_as_a_whole() -> None:
    assert WRITES.concern(None, ONE.pk, starting_with("OTHER"))
    assert not WRITES.concern(None, TWO.pk, EVERY)


def test_a_page_of_an_index_is_concerned_where_the_item_can_be() -> None:
    assert WRITES.placed("GSI1", "TENANT#acme#L", starting_with("X#")) == {ONE}
    assert not WRITES.concern("GSI1", "TENANT#acme#L", starting_with("Y#"))
    assert not WRITES.concern("GSI1", "TENANT#acme#M", EVERY)
    assert not WRITES.concern("GSI2", "TENANT#acme#L", EVERY)


def test_an_update_leaves_the_places_that_it_does_not_change() -> None:
    updated = WRITES.plus([Written(ONE, (WrittenPlace("GSI2", None, "Y"),))], 101)
    assert updated.concern("GSI1", "TENANT#acme#L", EVERY)
    assert updated.concern("GSI2", "any partition", EVERY)
    assert updated.items[ONE].at == 101


def test_too_many_writes_and_an_unknown_one_may_be_anywhere() -> None:
    many = [Written(ItemKey(f"TENANT#acme#{number}", "X")) for number in range(MOST_ITEMS + 1)]
    assert not OwnWrites().plus(many[:-1], 100).anything
    for writes in (OwnWrites().plus(many, 100), WRITES.plus(None, 100)):
        assert writes.hold({TWO})
        assert writes.concern(None, TWO.pk, EVERY)
        assert writes.concern("GSI3", "any", EVERY)
        assert not writes.items


def test_old_writes_are_forgotten_one_by_one() -> None:
    both = WRITES.plus([Written(TWO)], 200)
    left = both.since(150)
    assert left is not None
    assert set(left.items) == {TWO}
    assert both.since(201) is None
    anything = OwnWrites().plus(None, 100)
    assert anything.since(100) == anything
    assert anything.since(101) is None
