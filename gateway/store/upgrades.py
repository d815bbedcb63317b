"""Items of an older schema read as if they were of the newest: only what is asked for is read and upgraded."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import Internal
from gateway.model.entity import Entity, Upgrade
from gateway.model.types import Wire

Attributes = frozenset[str]


class Upgrades:
    """The upgrades of one entity that has some; rows of the newest schema never come here."""

    def __init__(self, entity: Entity, attribute: str) -> None:
        self._entity = entity
        self._attribute = attribute  # where a row keeps its schema
        self._decoders = {
            upgrade.to: {each.name: each.type.decoder() for each in upgrade.needs} for upgrade in entity.upgrades
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
                wanted |= {each.name for each in upgrade.needs}
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
