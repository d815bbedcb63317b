"""Caches agree: a change note drops what a cache of this process holds of the item."""

from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import Cache
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.stream.bus import Bus, Unsubscribe
from gateway.stream.note import ChangeNote


def invalidate(cache: Cache, bus: Bus) -> Unsubscribe:
    """Until the answer is called. Where notes may have been lost, everything that is kept is dropped."""

    def deliver(note: ChangeNote) -> None:
        cache.changed(TenantId(note.tenant), written_by(note))

    return bus.subscribe(None, deliver, cache.forget_all)


def written_by(note: ChangeNote) -> Written:
    """The item with every place where it was before and is now: pages of both are wrong."""
    indexes = [(index, *key) for keys in (note.before, note.after) for index, key in keys.items()]
    places = [(None, note.pk, note.sk), *indexes]
    return Written(ItemKey(note.pk, note.sk), tuple(WrittenPlace(*place) for place in dict.fromkeys(places)))
