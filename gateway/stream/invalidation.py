"""Cache invalidation: a change note drops what the cache of this process holds of the item."""

from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import Cache
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.stream.bus import Bus, Unsubscribe
from gateway.stream.note import ChangeNote


def invalidate(cache: Cache, bus: Bus) -> Unsubscribe:
    """Invalidates the cache until the returned function is called. If notes may have been lost, the whole cache is
    dropped."""

    def deliver(note: ChangeNote) -> None:
        cache.changed(TenantId(note.tenant), written_by(note))

    return bus.subscribe(None, deliver, cache.forget_all)


def written_by(note: ChangeNote) -> Written:
    """The item with all its places before and after the change, because pages of both are stale."""
    indexes = [(index, *key) for keys in (note.before, note.after) for index, key in keys.items()]
    places = [(None, note.pk, note.sk), *indexes]
    return Written(ItemKey(note.pk, note.sk), tuple(WrittenPlace(*place) for place in dict.fromkeys(places)))
