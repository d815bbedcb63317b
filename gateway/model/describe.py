"""The model as others read it: the page of access patterns, Terraform's input, the CreateTable request."""

from typing import Any

from gateway.model.model import Model
from gateway.model.pattern_docs import page_lines
from gateway.model.table import Index, TableSpec


def access_patterns(model: Model) -> str:
    """The text of docs/access-patterns.md."""
    return "\n".join(page_lines(model))


def table_description(model: Model) -> dict[str, Any]:
    """What Terraform needs to know of the table, so that the two cannot drift apart."""
    table = model.table
    return {
        "hash_key": table.pk,
        "range_key": table.sk,
        "ttl_attribute": table.ttl,
        "attributes": [{"name": name, "type": "S"} for name in _key_attributes(table)],
        "indexes": [_index_description(index) for index in table.indexes],
    }


def _index_description(index: Index) -> dict[str, Any]:
    return {
        "name": index.name,
        "hash_key": index.pk,
        "range_key": index.sk,
        "projection_type": index.projection,
        "non_key_attributes": [],
    }


def create_table(model: Model, name: str) -> dict[str, Any]:
    """The CreateTable request; TTL is a request of its own (UpdateTimeToLive)."""
    table = model.table
    indexes = [
        {
            "IndexName": index.name,
            "KeySchema": _key_schema(index.pk, index.sk),
            "Projection": {"ProjectionType": index.projection},
        }
        for index in table.indexes
    ]
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in _key_attributes(table)],
        "KeySchema": _key_schema(table.pk, table.sk),
        # DynamoDB refuses an empty list
        **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
    }


def _key_schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


def _key_attributes(table: TableSpec) -> list[str]:
    return [table.pk, table.sk, *(name for index in table.indexes for name in (index.pk, index.sk))]
