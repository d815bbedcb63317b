"""What was written a moment ago is known, what is over is forgotten, and one tenant's writes take little room."""

import pytest

from gateway.model.keys import ItemKey
from gateway.model.tenant import tenant_id
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.recent_writes import NEVER, RecentWrites
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.store.key_ranges import KeyRange
from tests.store.fixtures import ACME, GLOBEX

SECONDS = 10.0


def key(name: str) -> ItemKey:
    return ItemKey(f"TENANT#acme#{name}", "DETAILS")


def write(name: str, index: str | None = "GSI1") -> tuple[Written, ...]:
    return (Written(key(name), (WrittenPlace(index, "TENANT#acme#ALL", name),)),)


def page() -> ReadKey:
    return ReadKey(ACME, "f", ("u", "t"), "GSI1", "TENANT#acme#ALL", KeyRange(), True, 10, (), False)


@pytest.fixture
def recent() -> RecentWrites:
    return RecentWrites(SECONDS)


def test_a_write_counts_for_its_item_its_pages_and_its_tenant_alone(recent: RecentWrites) -> None:
    recent.note(ACME, write("a"), 5.0)
    assert recent.item(ACME, key("a")) == 5.0
    assert recent.item(ACME, key("b")) == NEVER
    assert recent.shown(page(), ()) == 5.0
    assert recent.last(ACME) == 5.0
    assert recent.item(GLOBEX, key("a")) == recent.last(GLOBEX) == NEVER


def test_the_newest_write_of_an_item_counts(recent: RecentWrites) -> None:
    for now in (1.0, 2.0, 3.0):
        recent.note(ACME, write("a"), now)
    assert recent.item(ACME, key("a")) == 3.0


def test_a_write_that_is_not_understood_counts_for_everything(recent: RecentWrites) -> None:
    recent.note(ACME, None, 5.0)
    assert recent.item(ACME, key("anything")) == recent.shown(page(), ()) == 5.0


def test_more_writes_than_are_remembered_count_for_everything(recent: RecentWrites) -> None:
    for number in range(1_001):
        recent.note(ACME, write(f"n{number}"), 5.0)
    assert recent.item(ACME, key("another")) == 5.0
    assert recent.item(ACME, key("n1")) == 5.0


def test_old_writes_of_a_caller_that_writes_all_the_time_are_forgotten(recent: RecentWrites) -> None:
    """Or after a thousand different items everything would count as written, again and again."""
    for number in range(5_000):
        recent.note(ACME, write(f"n{number}"), number * 0.1)
    assert recent.item(ACME, key("another")) == NEVER
    assert recent.item(ACME, key("n4999")) == pytest.approx(499.9)
    assert recent.item(ACME, key("n4800")) == NEVER


def test_tenants_that_write_no_more_are_forgotten_and_the_others_stay(recent: RecentWrites) -> None:
    for number in range(200):
        recent.note(tenant_id(f"t{number}"), write("a"), 0.0)
    for now in range(1, 40):
        recent.note(ACME, write("a"), float(now))
    assert [recent.last(tenant_id(f"t{number}")) for number in range(200)] == [NEVER] * 200
    assert recent.last(ACME) == 39.0
    assert len(recent._ages) == 1, "one mark for each tenant, however much it writes"
