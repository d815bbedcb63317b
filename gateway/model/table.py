"""The one table: its key attributes, its overloaded indexes, and how DynamoDB and Terraform are told about them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index."""

    name: str
    pk: str
    sk: str
    projection: str = "ALL"


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
    references: str = "references"  # counts how often a write began to refer to the item
    counted: str = "counted"  # the number in the row of a counter
    indexes: tuple[Index, ...] = tuple(Index(f"GSI{n}", f"GSI{n}PK", f"GSI{n}SK") for n in (1, 2, 3))

    @property
    def key_attributes(self) -> tuple[str, ...]:
        return (self.pk, self.sk, *(name for index in self.indexes for name in (index.pk, index.sk)))

    @property
    def reserved(self) -> frozenset[str]:
        """Attribute names that the gateway writes itself; no entity may declare one of them."""
        return frozenset(
            {
                *self.key_attributes,
                self.ttl,
                self.entity_type,
                self.version,
                self.copy_of,
                self.schema,
                self.references,
                self.counted,
            },
        )

    def create_request(self, name: str) -> dict[str, Any]:
        """The CreateTable request; the TTL takes a request of its own, UpdateTimeToLive."""
        indexes = [
            {
                "IndexName": index.name,
                "KeySchema": _key_schema(index.pk, index.sk),
                "Projection": {"ProjectionType": index.projection},
            }
            for index in self.indexes
        ]
        return {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in self.key_attributes],
            "KeySchema": _key_schema(self.pk, self.sk),
            # DynamoDB rejects an empty list
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        }

    def terraform_inputs(self) -> dict[str, Any]:
        """The table as the Terraform module takes it."""
        return {
            "hash_key": self.pk,
            "range_key": self.sk,
            "ttl_attribute": self.ttl,
            "attributes": [{"name": key, "type": "S"} for key in self.key_attributes],
            "indexes": [
                {
                    "name": index.name,
                    "hash_key": index.pk,
                    "range_key": index.sk,
                    "projection_type": index.projection,
                    "non_key_attributes": [],
                }
                for index in self.indexes
            ],
        }


def _key_schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]
