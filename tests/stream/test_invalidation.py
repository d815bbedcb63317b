"""Caches agree: what another process writes is seen when its note arrives."""

from collections.abc import Iterator

import pytest

from gateway.model.entity import PRIMARY
from gateway.model.tenant import TenantId
from gateway.store.access import Access
from gateway.store.write.items import items_for
from gateway.stream.bus import InProcessBus
from gateway.stream.invalidation import invalidate, written_by
from gateway.stream.note import ChangeNote
from tests.store.cache.conftest import store
from tests.store.cache.fixtures import MODEL, THING, CachedStore, session
from tests.store.fixtures import ACME, GLOBEX, NOW

__all__ = ["store"]

pytestmark = pytest.mark.anyio
_numbers: Iterator[int] = iter(range(1, 1_000))


def changed(store: CachedStore, name: str, before: int, after: int, tenant: TenantId = ACME) -> ChangeNote:
    """Writes past the cache, as another process does, and the note of it."""
    known = {"thingId": name, "kind": "k", "at": NOW}
    old, new = (items_for(MODEL, THING, tenant, {**known, "rank": rank})[0] for rank in (before, after))
    store.memory.put([new])
    before_keys, after_keys = (
        {each.name: (row[each.pk]["S"], row[each.sk]["S"]) for each in MODEL.table.indexes if each.pk in row}
        for row in (old, new)
    )
    pk, sk = new["PK"]["S"], new["SK"]["S"]
    number = str(next(_numbers))
    return ChangeNote(
        tenant, "Thing", PRIMARY, pk, sk, "changed", frozenset({"rank"}), before_keys, after_keys, "s", number
    )


async def test_a_note_drops_the_item_and_the_pages_that_held_it(store: CachedStore) -> None:
    bus = InProcessBus()
    invalidate(store.cache, bus)
    store.put("a", rank=1)
    store.put("b", rank=2)
    assert (await store.rank("a"), await store.ranked()) == (1, ["a", "b"])
    note = changed(store, "a", 1, 3)
    # without the note the old answers stay
    assert (await store.rank("a"), await store.ranked()) == (1, ["a", "b"])
    await bus.publish([note])
    assert (await store.rank("a"), await store.ranked()) == (3, ["b", "a"])


async def test_a_note_of_another_tenant_drops_nothing(store: CachedStore) -> None:
    bus = InProcessBus()
    invalidate(store.cache, bus)
    store.put("a", rank=1)
    await store.rank("a")
    await bus.publish([changed(store, "a", 1, 3, GLOBEX)])
    access = Access(session())
    await store.rank("a", access)
    assert [call.source for call in access.calls] == ["cache"]


async def test_after_lost_notes_nothing_old_is_answered(store: CachedStore) -> None:
    bus = InProcessBus()
    invalidate(store.cache, bus)
    store.put("a", rank=1)
    await store.rank("a")
    changed(store, "a", 1, 3)
    await bus.gap()
    assert await store.rank("a") == 3
    assert store.cache.stats().entries == 1


async def test_once_it_is_ended_notes_change_nothing(store: CachedStore) -> None:
    bus = InProcessBus()
    end = invalidate(store.cache, bus)
    store.put("a", rank=1)
    await store.rank("a")
    end()
    await bus.publish([changed(store, "a", 1, 3)])
    assert await store.rank("a") == 1


def test_a_note_names_every_place_before_and_after() -> None:
    note = ChangeNote(
        "acme", "Thing", PRIMARY, "p", "s", "changed", frozenset(), {"GSI1": ("a", "1")}, {"GSI1": ("b", "1")}, "s", "1"
    )
    places = [(place.index, place.partition, place.sort) for place in written_by(note).places]
    assert places == [(None, "p", "s"), ("GSI1", "a", "1"), ("GSI1", "b", "1")]
