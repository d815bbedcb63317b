"""Consistency tokens: the caller's own recent writes as a text that any process of the gateway can read.

They are encrypted like cursors, because keys can contain personal data, and bound to tenant and subject: a token is
useless to anyone else. A token changes how its caller's reads are made, not what they may see.
"""

import time
from collections.abc import Callable
from typing import Any

import orjson

from gateway.errors import BadUserInput
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId, partition
from gateway.store.cache.written_keys import WrittenPlace
from gateway.store.cursor import Cursors
from gateway.store.own_writes import OwnWrite, OwnWrites

TOKEN_SECONDS = 300  # replicas and indexes catch up within seconds; an older token is accepted but has no effect
_LONGEST = 2_800  # bytes, so that the header stays below 4 kB
# no listing has such a name, so no cursor is a valid token
_PURPOSE = "consistency token"


class ConsistencyTokens:
    def __init__(self, cursors: Cursors, clock: Callable[[], float] = time.time) -> None:
        self._cursors = cursors
        self._clock = clock

    def seal(self, tenant: TenantId, subject: str, writes: OwnWrites) -> str:
        text = orjson.dumps(_written(tenant, writes))
        if len(text) > _LONGEST:
            text = orjson.dumps(_written(tenant, OwnWrites(anything_at=int(self._clock()))))
        return self._cursors.seal(_scope(tenant, subject), _PURPOSE, {}, text.decode())

    def open(self, tenant: TenantId, subject: str, token: str) -> OwnWrites | None:
        """Returns the writes of the last minutes; raises the same `BadUserInput` for damaged and foreign tokens."""
        try:
            text = self._cursors.open(_scope(tenant, subject), _PURPOSE, {}, token)
        except BadUserInput as error:
            raise BadUserInput("the consistency token is damaged or not yours; leave it out") from error
        return _read(tenant, orjson.loads(text)).since(int(self._clock()) - TOKEN_SECONDS)


def _scope(tenant: TenantId, subject: str) -> str:
    # INVARIANT: no tenant id has a `#`, so no pair can imitate another.
    return f"{tenant}#{subject}"


def _written(tenant: TenantId, writes: OwnWrites) -> Any:
    """Omits the tenant's prefix; each reader adds its own."""
    own = len(partition(tenant, ""))
    items = []
    for key, write in writes.items.items():
        places = [[place.index, place.partition and place.partition[own:], place.sort] for place in write.places]
        items.append([key.pk[own:], key.sk, write.at, places])
    return [items, writes.anything_at]


def _read(tenant: TenantId, content: Any) -> OwnWrites:
    items, anything_at = content
    return OwnWrites(
        {ItemKey(partition(tenant, pk), sk): _write(tenant, *more) for pk, sk, *more in items}, anything_at
    )


def _write(tenant: TenantId, at: int, places: list[list[str | None]]) -> OwnWrite:
    return OwnWrite(
        at,
        tuple(
            WrittenPlace(index, None if path is None else partition(tenant, path), sort) for index, path, sort in places
        ),
    )
