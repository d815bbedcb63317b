"""Rows of the table as items: checked for their tenant and their type, decoded for what was asked."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gateway.errors import Internal, IsolationBreach
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.tenant import TenantId, owns
from gateway.store.codec import Decode, Wire, decoder
from gateway.store.plan import Attributes

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """What was read of one item; `position` is its sort key in the order it was read in."""

    entity: str
    values: Values
    position: str


class Rows:
    def __init__(self, model: Model, clock: Callable[[], float] = time.time) -> None:
        self._model = model
        self._clock = clock
        self._decoders = lru_cache(maxsize=2_048)(self._compile)
        self._names = lru_cache(maxsize=2_048)(self._technical)

    def stored_names(self, attributes: Attributes, index_sk: str | None) -> tuple[str, ...]:
        """What must be read besides what is asked for: keys to check, the type, the expiry, the position."""
        return self._names(attributes, index_sk)

    def _technical(self, attributes: Attributes, index_sk: str | None) -> tuple[str, ...]:
        table = self._model.table
        own = {table.pk, table.sk, table.entity_type, table.ttl} | ({index_sk} if index_sk else set())
        return tuple(sorted(own | attributes))

    def item(self, tenant: TenantId, row: Wire, expected: str, attributes: Attributes, position: str) -> Item | None:
        """The row as an item, or None where it has expired although DynamoDB has not deleted it yet."""
        table = self._model.table
        # INVARIANT: whatever an index or a cache answers, a row whose partition is not the tenant's is never used.
        # Neither is one that does not tell.
        if not owns(tenant, row.get(table.pk, {}).get("S", "")):
            raise IsolationBreach("a row of another tenant was read")
        kind = self.kind(row)
        if kind != expected:
            raise Internal(f"expected an item of {expected} and found {kind}")
        if not self.live(row):
            return None
        return Item(expected, self._values(row, expected, attributes), row[position]["S"])

    def live(self, row: Wire) -> bool:
        # a ttl that is no number does not expire in DynamoDB either
        expiry = row.get(self._model.table.ttl, {}).get("N")
        return expiry is None or float(expiry) > self._clock()

    def _values(self, row: Wire, entity: str, attributes: Attributes) -> Values:
        values: Values = {}
        for name, decode in self._decoders(entity, attributes):
            if name in row:
                try:
                    values[name] = decode(row[name])
                except (KeyError, TypeError, ValueError, ArithmeticError) as error:
                    raise Internal(f"`{name}` of {entity} is not stored as it is declared") from error
        return values

    def kind(self, row: Wire) -> str | None:
        kind: str | None = row.get(self._model.table.entity_type, {}).get("S")
        return kind

    def _compile(self, name: str, attributes: Attributes) -> tuple[tuple[str, Decode], ...]:
        entity: Entity = self._model.entities[name]
        known = ((each.name, decoder(each.type)) for each in entity.attributes if each.name in attributes)
        version = self._model.table.version
        own = ((version, _version),) if version in attributes else ()
        return (*known, *own)


def _version(wire: Wire) -> int:
    return int(wire["N"])
