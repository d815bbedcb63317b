"""Turns rows of the table into items: checks their tenant and type, and decodes the requested attributes."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from gateway.errors import Internal, IsolationBreach
from gateway.model.entity import Entity, Upgrade
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.table import Index
from gateway.model.tenant import TenantId, owns, tenant_of
from gateway.model.types import Decode, Wire
from gateway.store.plan import Attributes

Values = dict[str, Any]

LOG = logging.getLogger("gateway.isolation")
FOREIGN_ROW = "foreign_row"  # the `event` of the log line that an alarm reads


class Item(msgspec.Struct, frozen=True):
    """The attributes that were read of one item; `position` is its sort key in the order of the read.

    `key` is set if the key contains personal data and the item was read: its global id is made of it. A `stale` item is
    stored in an older schema; its next write makes the upgrade permanent.
    """

    entity: str
    values: Values
    position: str
    stale: bool = False
    key: ItemKey | None = None

    def __getitem__(self, name: str) -> Any:
        """Returns the attribute's value, or None; raises the stored error if it may not be read."""
        value = self.values.get(name)
        if isinstance(value, Exception):
            raise value
        return value


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index entry that leads to its item: `partition` and `position` are its keys in the index."""

    key: ItemKey
    partition: str
    position: str


class StoredNames(NamedTuple):
    """The attributes to read first, and those to read from the table if an index does not contain them."""

    read: tuple[str, ...]
    through: tuple[str, ...] | None = None


class Upgrades:
    """Applies the upgrades of one entity to rows of older schemas."""

    def __init__(self, entity: Entity, attribute: str) -> None:
        self._entity = entity
        self._attribute = attribute  # the attribute that holds a row's schema
        self._decoders = {
            upgrade.to: {need.name: need.type.decoder() for need in upgrade.needs} for upgrade in entity.upgrades
        }

    def schema(self, row: Wire) -> int:
        """Returns the schema of a row; items from before schemas were introduced have none and are of the first."""
        stored = row.get(self._attribute)
        return int(stored["N"]) if stored is not None else 1

    def stale(self, row: Wire) -> bool:
        return self.schema(row) < self._entity.schema

    def names(self, attributes: Attributes) -> Attributes:
        """Returns the attributes that must be read to compute these, whatever the schema of the item."""
        needed = attributes
        for upgrade in reversed(self._entity.upgrades):
            if not needed.isdisjoint(upgrade.gives):
                needed |= {need.name for need in upgrade.needs}
        return needed | {self._attribute}

    def given(self, row: Wire, attributes: Attributes) -> dict[str, Any]:
        """Returns the result of the pending upgrades for these attributes; None means absent."""
        needed, values = self.names(attributes), dict[str, Any]()
        for upgrade in self._entity.upgrades[self.schema(row) - 1 :]:
            if not needed.isdisjoint(upgrade.gives):
                values |= self._made(upgrade, row, values)
        return values

    def _made(self, upgrade: Upgrade, row: Wire, earlier: Mapping[str, Any]) -> dict[str, Any]:
        stored = self._decoders[upgrade.to]
        read = {name: decode(row[name]) for name, decode in stored.items() if name in row and name not in earlier}
        stored_values = {name: earlier[name] for name in stored if earlier.get(name) is not None}
        upgraded = upgrade.change({**read, **stored_values})
        if not upgraded.keys() <= set(upgrade.gives):
            raise Internal(f"the upgrade of {self._entity.name} to {upgrade.to} gives what it does not declare")
        return {name: upgraded.get(name) for name in upgrade.gives}


class Rows:
    def __init__(self, model: Model, clock: Callable[[], float] = time.time) -> None:
        self._model = model
        self._clock = clock
        self.foreign = 0  # rows of other tenants that indexes returned and that were omitted
        self._decoders = lru_cache(maxsize=2_048)(self._compile)
        self.stored_names = lru_cache(maxsize=2_048)(self._stored_names)
        self._personal_keys = {entity.name for entity in model.entities.values() if entity.personal_key}
        # only entities with upgrades; for all others nothing extra is read
        self._upgrades = {
            entity.name: Upgrades(entity, model.table.schema) for entity in model.entities.values() if entity.upgrades
        }

    def _stored_names(self, attributes: Attributes, index: Index | None, entities: tuple[str, ...]) -> StoredNames:
        """Returns the stored attributes to read: the requested ones, and keys to check, type, expiry and position."""
        table = self._model.table
        own = {table.pk, table.sk, table.entity_type, table.ttl} | ({index.sk} if index is not None else set())
        older = (self._upgrades[name].names(attributes) for name in entities if name in self._upgrades)
        needed = attributes.union(own, *older)
        carried = table.carried(index)
        if index is None or carried is None or needed <= carried:
            return StoredNames(tuple(sorted(needed)))
        entry = {table.pk, table.sk, index.pk, index.sk} | ({table.ttl} & carried)
        return StoredNames(tuple(sorted(entry)), tuple(sorted({*needed, index.pk})))

    def own(self, tenant: TenantId, index: Index | None, rows: Iterable[Wire]) -> list[Wire]:
        """Omits rows that another tenant put into this tenant's partition of an index, and counts them for an alarm.

        IAM checks the table key of a write but not its index keys, so a tenant's own credentials can do this. It must
        not make the listing of this tenant fail. `item` refuses any other faulty row.
        """
        if index is None:
            return list(rows)
        kept, owners = [], set()
        for row in rows:
            owner = tenant_of(row.get(self._model.table.pk, {}).get("S", ""))
            if owner is None or owner == tenant:
                kept.append(row)
            else:
                owners.add(owner)
                self.foreign += 1
        if owners:
            fields = {"event": FOREIGN_ROW, "tenant": tenant, "owners": sorted(owners), "index": index.name}
            LOG.error("rows of another tenant were left out of a listing", extra={"fields": fields})
        return kept

    def item(self, tenant: TenantId, row: Wire, expected: str, attributes: Attributes, position: str) -> Item | None:
        """Returns the row as an item, or None if it has expired but DynamoDB has not deleted it yet."""
        table = self._model.table
        # INVARIANT: whatever an index or a cache returns, a row whose partition is not the tenant's is never used, and
        # neither is a row without a partition.
        if not owns(tenant, row.get(table.pk, {}).get("S", "")):
            raise IsolationBreach("a row of another tenant was read")
        kind = row.get(table.entity_type, {}).get("S")
        if kind != expected:
            raise Internal(f"expected an item of {expected} and found {kind}")
        if not self.live(row):
            return None
        key = self.key(row) if expected in self._personal_keys else None
        upgrades = self._upgrades.get(expected)
        if upgrades is not None and upgrades.stale(row):
            values = self._upgraded(upgrades, row, expected, attributes)
            return Item(expected, values, row[position]["S"], stale=True, key=key)
        return Item(expected, self._values(row, expected, attributes), row[position]["S"], key=key)

    def entry(self, tenant: TenantId, index: Index, row: Wire) -> IndexEntry:
        """INVARIANT: an item is only requested by a key of the tenant, whatever an index returns."""
        if not owns(tenant, row.get(self._model.table.pk, {}).get("S", "")):
            raise IsolationBreach("a row of another tenant was read")
        return IndexEntry(self.key(row), row[index.pk]["S"], row[index.sk]["S"])

    def moved(self, index: Index, entry: IndexEntry, row: Wire) -> bool:
        """Whether the item has left the place where the index still shows it."""
        here = row.get(index.pk, {}).get("S"), row.get(index.sk, {}).get("S")
        return here != (entry.partition, entry.position)

    def key(self, row: Wire) -> ItemKey:
        table = self._model.table
        try:
            return ItemKey(row[table.pk]["S"], row[table.sk]["S"])
        except KeyError as error:
            raise IsolationBreach("a row was read whose tenant is unknown") from error

    def live(self, row: Wire) -> bool:
        # a ttl that is not a number does not expire in DynamoDB either
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

    def _upgraded(self, upgrades: Upgrades, row: Wire, entity: str, attributes: Attributes) -> Values:
        try:
            upgraded = upgrades.given(row, attributes)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise Internal(f"a stored {entity} cannot be upgraded") from error
        # an attribute from an upgrade may be stored under the same name with another type
        kept = {name: wire for name, wire in row.items() if name not in upgraded}
        present = {name: value for name, value in upgraded.items() if name in attributes and value is not None}
        return {**self._values(kept, entity, attributes), **present}

    def kind(self, row: Wire) -> str | None:
        kind: str | None = row.get(self._model.table.entity_type, {}).get("S")
        return kind

    def _compile(self, name: str, attributes: Attributes) -> tuple[tuple[str, Decode], ...]:
        entity: Entity = self._model.stored[name]
        decoded = (
            (attribute.name, attribute.type.decoder())
            for attribute in entity.attributes
            if attribute.name in attributes
        )
        table = self._model.table
        numbers = ((own, _whole) for own in (table.version, table.references) if own in attributes)
        marks = ((table.counted_by, _texts),) if table.counted_by in attributes else ()
        return (*decoded, *numbers, *marks)


def _whole(wire: Wire) -> int:
    return int(wire["N"])


def _texts(wire: Wire) -> frozenset[str]:
    return frozenset(wire["SS"])
