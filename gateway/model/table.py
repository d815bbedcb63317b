"""The table: its key attributes, its overloaded indexes, and their descriptions for DynamoDB and Terraform."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Projection = Literal["ALL", "KEYS_ONLY", "INCLUDE"]


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index, or a `local` one, whose entries are in the partitions of the items themselves.

    Its entries hold whole items (ALL), keys only (KEYS_ONLY), or keys, the attributes that the gateway itself needs,
    and `attributes` (INCLUDE). Other attributes that a query selects are read from the table. Its keys are the
    attributes `GSI4PK` and `GSI4SK` for an index GSI4, unless it names others. A local index has the partition key
    of the table and its own sort key; it can be read consistently, and can only be created together with the table.
    """

    name: str
    pk: str = ""
    sk: str = ""
    projection: Projection = "ALL"
    attributes: tuple[str, ...] = ()
    local: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "pk", self.pk or ("PK" if self.local else f"{self.name}PK"))
        object.__setattr__(self, "sk", self.sk or f"{self.name}SK")


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The names of the table's attributes."""

    pk: str = "PK"
    sk: str = "SK"
    ttl: str = "ttl"
    entity_type: str = "EntityType"
    version: str = "version"
    copy_of: str = "CopyOf"
    schema: str = "schema"
    references: str = "references"  # counts how often a write started to refer to the item
    counted: str = "counted"  # the number in the row of a counter
    counted_by: str = "countedBy"  # the listings whose counters include the item
    indexes: tuple[Index, ...] = (Index("GSI1"), Index("GSI2"), Index("GSI3"))

    def with_indexes(self, declared: Iterable[Index]) -> "TableSpec":
        """The table with the indexes that domains declare; an index with an existing name replaces it."""
        further = {index.name: index for index in declared}
        own = [further.pop(index.name, index) for index in self.indexes]
        return replace(self, indexes=(*own, *sorted(further.values(), key=lambda index: (len(index.name), index.name))))

    @property
    def key_attributes(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys((self.pk, self.sk, *(key for index in self.indexes for key in (index.pk, index.sk))))
        )

    @property
    def reserved(self) -> frozenset[str]:
        """Attribute names that the gateway writes itself; no entity may declare one of them."""
        own = (getattr(self, declared.name) for declared in fields(self) if declared.name != "indexes")
        return frozenset((*own, *self.key_attributes))

    def index(self, name: str | None) -> Index | None:
        """None for the table itself."""
        return next((index for index in self.indexes if index.name == name), None)

    def consistent(self, name: str | None) -> bool:
        """Whether the table, or the index of this name, can be read consistently."""
        index = self.index(name)
        return index is None or index.local

    def included(self, index: Index) -> tuple[str, ...]:
        """The attributes of an INCLUDE projection, including those that the row checks need."""
        own = (self.entity_type, self.version, self.ttl, self.schema)
        return (*own, *index.attributes) if index.projection == "INCLUDE" else ()

    def carried(self, index: Index | None) -> frozenset[str] | None:
        """The attributes that an entry of the index can have; None: all of the item."""
        if index is None or index.projection == "ALL":
            return None
        return frozenset({self.pk, self.sk, index.pk, index.sk, *self.included(index)})

    def create_request(self, name: str) -> dict[str, Any]:
        """The CreateTable request; the TTL needs a separate request, UpdateTimeToLive."""
        kinds: dict[str, list[dict[str, Any]]] = {}
        for index in self.indexes:
            kinds.setdefault("LocalSecondaryIndexes" if index.local else "GlobalSecondaryIndexes", []).append(
                {
                    "IndexName": index.name,
                    "KeySchema": _key_schema(index.pk, index.sk),
                    "Projection": self._projection(index),
                }
            )
        return {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in self.key_attributes],
            "KeySchema": _key_schema(self.pk, self.sk),
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            **kinds,  # DynamoDB rejects an empty list
        }

    def _projection(self, index: Index) -> dict[str, Any]:
        included = self.included(index)
        # DynamoDB rejects an empty list here, too
        return {"ProjectionType": index.projection, **({"NonKeyAttributes": list(included)} if included else {})}

    def terraform_inputs(self) -> dict[str, Any]:
        """The table as input of the Terraform module."""
        local = [self._terraform_index(index) for index in self.indexes if index.local]
        return {
            "hash_key": self.pk,
            "range_key": self.sk,
            "ttl_attribute": self.ttl,
            "attributes": [{"name": key, "type": "S"} for key in self.key_attributes],
            "indexes": [self._terraform_index(index) for index in self.indexes if not index.local],
            **({"local_indexes": local} if local else {}),
        }

    def _terraform_index(self, index: Index) -> dict[str, Any]:
        return {
            "name": index.name,
            **({} if index.local else {"hash_key": index.pk}),
            "range_key": index.sk,
            "projection_type": index.projection,
            "non_key_attributes": list(self.included(index)),
        }


def _key_schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]
