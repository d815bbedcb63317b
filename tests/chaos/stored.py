"""The whole table as it is in the engine, read past the gateway and past every policy."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId

Row = dict[str, Any]

# the account's own administrator: no policy limits it
ROOT = Credentials("root", "root")


@dataclass(frozen=True, slots=True)
class Stored:
    """An item of the model: not a copy, not a record of the gateway's own."""

    entity: Entity
    tenant: TenantId
    version: int
    values: dict[str, Any]
    row: Row

    @property
    def key(self) -> ItemKey:
        return key_of(self.row)


@dataclass(frozen=True, slots=True)
class Contents:
    """Every row by its key."""

    rows: dict[ItemKey, Row]

    def items(self, *names: str) -> Iterator[Stored]:
        for row in self.rows.values():
            entity = MODEL.entities.get(kind(row))
            if entity is not None and MODEL.table.copy_of not in row and (not names or entity.name in names):
                yield _stored(entity, row)

    def of(self, *kinds: str) -> Iterator[Row]:
        return (row for row in self.rows.values() if kind(row) in kinds)


def contents(rows: Iterable[Row]) -> Contents:
    return Contents({key_of(row): row for row in rows})


def key_of(row: Row) -> ItemKey:
    return ItemKey(row[MODEL.table.pk]["S"], row[MODEL.table.sk]["S"])


def kind(row: Row) -> str:
    return str(row.get(MODEL.table.entity_type, {}).get("S", ""))


def tenant_of(partition_key: str) -> TenantId:
    """By the text alone: what is written wrongly must not be read rightly."""
    word, _, rest = partition_key.partition("#")
    return TenantId(rest.partition("#")[0] if word == "TENANT" else "")


def _stored(entity: Entity, row: Row) -> Stored:
    values = {each.name: each.type.decoder()(row[each.name]) for each in entity.attributes if each.name in row}
    return Stored(entity, tenant_of(key_of(row).pk), int(row[MODEL.table.version]["N"]), values, row)


async def call(client: DynamoDBClient, url: str, operation: str, body: Row) -> Row:
    return await client.call(operation, body, credentials=ROOT, target=AwsTarget(url, "eu-west-1"))


async def dump(client: DynamoDBClient, url: str, table: str) -> Contents:
    rows: list[Row] = []
    start: Row | None = None
    while True:
        body = {"TableName": table, "ConsistentRead": True, **({"ExclusiveStartKey": start} if start else {})}
        answer = await call(client, url, "Scan", body)
        rows += answer["Items"]
        start = answer.get("LastEvaluatedKey")
        if start is None:
            return contents(rows)
