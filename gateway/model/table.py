"""The one table: its key attributes and its overloaded indexes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    pk: str
    sk: str
    projection: str = "ALL"


@dataclass(frozen=True, slots=True)
class TableSpec:
    pk: str = "PK"
    sk: str = "SK"
    ttl: str = "ttl"
    entity_type: str = "EntityType"
    version: str = "version"
    copy_of: str = "CopyOf"
    schema: str = "schema"
    indexes: tuple[Index, ...] = tuple(Index(f"GSI{n}", f"GSI{n}PK", f"GSI{n}SK") for n in (1, 2, 3))

    @property
    def reserved(self) -> frozenset[str]:
        """Attribute names that the gateway writes itself; no entity may declare one of them."""
        own = {self.pk, self.sk, self.ttl, self.entity_type, self.version, self.copy_of, self.schema}
        return frozenset(own | {name for index in self.indexes for name in (index.pk, index.sk)})
