"""Rows of the table as items: checked for their tenant and their type, decoded for what was asked."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

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
FOREIGN_ROW = "foreign_row"  # the `event` that an alarm looks for


@dataclass(frozen=True, slots=True)
class Item:
    """What was read of one item; `position` is its sort key in the order it was read in.

    A `stale` one is stored by an older schema: its next write makes the upgrade permanent.
    """

    entity: str
    values: Values
    position: str
    stale: bool = False

    def __getitem__(self, name: str) -> Any:
        """The attribute's value, None where it has none; raises what is stored in its place if it may not be read."""
        value = self.values.get(name)
        if isinstance(value, Exception):
            raise value
        return value


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An entry of an index that tells where its item is: `partition` and `position` are its keys in the index."""

    key: ItemKey
    partition: str
    position: str


class StoredNames(NamedTuple):
    """The attributes that are read at once, and where an index has not all that is needed, those of the table."""

    read: tuple[str, ...]
    through: tuple[str, ...] | None = None


class Upgrades:
    """The upgrades of one entity that has some; rows of the newest schema never come here."""

    def __init__(self, entity: Entity, attribute: str) -> None:
        self._entity = entity
        self._attribute = attribute  # where a row keeps its schema
        self._decoders = {
            upgrade.to: {need.name: need.type.decoder() for need in upgrade.needs} for upgrade in entity.upgrades
        }

    def schema(self, row: Wire) -> int:
        """Items from before there were schemas have none: they are of the first."""
        found = row.get(self._attribute)
        return int(found["N"]) if found is not None else 1

    def stale(self, row: Wire) -> bool:
        return self.schema(row) < self._entity.schema

    def names(self, attributes: Attributes) -> Attributes:
        """What must be read to answer these, of whatever schema the item is."""
        wanted = attributes
        for upgrade in reversed(self._entity.upgrades):
            if not wanted.isdisjoint(upgrade.gives):
                wanted |= {need.name for need in upgrade.needs}
        return wanted | {self._attribute}

    def given(self, row: Wire, attributes: Attributes) -> dict[str, Any]:
        """What the pending upgrades make of the row, for these attributes; None is absent."""
        wanted, values = self.names(attributes), dict[str, Any]()
        for upgrade in self._entity.upgrades[self.schema(row) - 1 :]:
            if not wanted.isdisjoint(upgrade.gives):
                values |= self._made(upgrade, row, values)
        return values

    def _made(self, upgrade: Upgrade, row: Wire, earlier: Mapping[str, Any]) -> dict[str, Any]:
        stored = self._decoders[upgrade.to]
        read = {name: decode(row[name]) for name, decode in stored.items() if name in row and name not in earlier}
        known = {name: earlier[name] for name in stored if earlier.get(name) is not None}
        made = upgrade.change({**read, **known})
        if not made.keys() <= set(upgrade.gives):
            raise Internal(f"the upgrade of {self._entity.name} to {upgrade.to} gives what it does not declare")
        return {name: made.get(name) for name in upgrade.gives}


class Rows:
    def __init__(self, model: Model, clock: Callable[[], float] = time.time) -> None:
        self._model = model
        self._clock = clock
        self.foreign = 0  # rows of other tenants that indexes answered and that were left out
        self._decoders = lru_cache(maxsize=2_048)(self._compile)
        self._names = lru_cache(maxsize=2_048)(self._technical)
        # only those that have some: for all others nothing is read and nothing is asked
        self._upgrades = {
            entity.name: Upgrades(entity, model.table.schema) for entity in model.entities.values() if entity.upgrades
        }

    def stored_names(self, attributes: Attributes, index: Index | None, entities: tuple[str, ...]) -> StoredNames:
        """What must be read besides what is asked for: keys to check, the type, the expiry, the position."""
        return self._names(attributes, index, entities)

    def _technical(self, attributes: Attributes, index: Index | None, entities: tuple[str, ...]) -> StoredNames:
        table = self._model.table
        own = {table.pk, table.sk, table.entity_type, table.ttl} | ({index.sk} if index is not None else set())
        older = (self._upgrades[name].names(attributes) for name in entities if name in self._upgrades)
        wanted = attributes.union(own, *older)
        carried = table.carried(index)
        if index is None or carried is None or wanted <= carried:
            return StoredNames(tuple(sorted(wanted)))
        entry = {table.pk, table.sk, index.pk, index.sk} | ({table.ttl} & carried)
        return StoredNames(tuple(sorted(entry)), tuple(sorted({*wanted, index.pk})))

    def own(self, tenant: TenantId, index: Index | None, rows: Iterable[Wire]) -> list[Wire]:
        """Without what another tenant put into this tenant's partition of an index, which is counted and alarmed.

        IAM looks at the table's key of a write and not at its index keys, so a tenant's own credentials can do that;
        it must not cost this tenant its listing. Whatever else is wrong with a row is for `item` to refuse.
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
        upgrades = self._upgrades.get(expected)
        if upgrades is not None and upgrades.stale(row):
            return Item(expected, self._upgraded(upgrades, row, expected, attributes), row[position]["S"], stale=True)
        return Item(expected, self._values(row, expected, attributes), row[position]["S"])

    def entry(self, tenant: TenantId, index: Index, row: Wire) -> IndexEntry:
        """INVARIANT: an item is only asked for by a key of the tenant, whatever an index answers."""
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

    def _upgraded(self, upgrades: Upgrades, row: Wire, entity: str, attributes: Attributes) -> Values:
        try:
            given = upgrades.given(row, attributes)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise Internal(f"a stored {entity} cannot be upgraded") from error
        # what an upgrade gives may be stored under the same name with another type
        kept = {name: wire for name, wire in row.items() if name not in given}
        made = {name: value for name, value in given.items() if name in attributes and value is not None}
        return {**self._values(kept, entity, attributes), **made}

    def kind(self, row: Wire) -> str | None:
        kind: str | None = row.get(self._model.table.entity_type, {}).get("S")
        return kind

    def _compile(self, name: str, attributes: Attributes) -> tuple[tuple[str, Decode], ...]:
        entity: Entity = self._model.stored[name]
        known = (
            (attribute.name, attribute.type.decoder())
            for attribute in entity.attributes
            if attribute.name in attributes
        )
        table = self._model.table
        numbers = ((own, _whole) for own in (table.version, table.references) if own in attributes)
        marks = ((table.counted_by, _texts),) if table.counted_by in attributes else ()
        return (*known, *numbers, *marks)


def _whole(wire: Wire) -> int:
    return int(wire["N"])


def _texts(wire: Wire) -> frozenset[str]:
    return frozenset(wire["SS"])


def whole_item(model: Model, entity: Entity) -> Attributes:
    """All that a change needs of an item: its values, its version, and which counters have it where some are filled."""
    marks = (model.table.counted_by,) if entity.name in model.filling else ()
    return frozenset((*entity.attribute, model.table.version, *marks))
