"""Turns a record of the table's stream into a change note: names and keys, never values."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.model.entity import PRIMARY
from gateway.model.table import TableSpec
from gateway.model.tenant import SYSTEM, owns, tenant_of
from gateway.model.types import Wire
from gateway.stream.note import ChangeNote, Kind

_KINDS: Mapping[str, Kind] = {"INSERT": "created", "MODIFY": "changed", "REMOVE": "removed"}
_TIME_TO_LIVE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def note_of(table: TableSpec, shard: str, record: Mapping[str, Any]) -> ChangeNote | None:
    """None if the item belongs to no tenant."""
    content = record["dynamodb"]
    pk, sk = content["Keys"][table.pk]["S"], content["Keys"][table.sk]["S"]
    tenant = tenant_of(pk)
    # INVARIANT: a note belongs to the tenant in the item's own partition key, and to no other.
    if tenant is None:
        return None
    old, new = content.get("OldImage", {}), content.get("NewImage", {})
    image = new or old
    return ChangeNote(
        tenant=tenant,
        entity=image.get(table.entity_type, {}).get("S", ""),
        place=image.get(table.copy_of, {}).get("S", PRIMARY),
        pk=pk,
        sk=sk,
        kind=_KINDS[record["eventName"]],
        attributes=frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)),
        before={name: key for name, key in _index_keys(table, old) if owns(tenant, key[0])},
        after={name: key for name, key in _index_keys(table, new) if owns(tenant, key[0])},
        shard=shard,
        sequence=content["SequenceNumber"],
        expired=record.get("userIdentity") == _TIME_TO_LIVE,
    )


def is_system(table: TableSpec, record: Mapping[str, Any]) -> bool:
    return str(record["dynamodb"]["Keys"][table.pk]["S"]).startswith(SYSTEM)


def _index_keys(table: TableSpec, image: Wire) -> Iterator[tuple[str, tuple[str, str]]]:
    for index in table.indexes:
        if index.pk in image and index.sk in image:
            yield index.name, (image[index.pk]["S"], image[index.sk]["S"])
