"""What makes the table wrong: key attributes that are not its own, indexes that DynamoDB refuses."""

import re
from collections.abc import Iterator

from gateway.model.table import TableSpec

_INDEX_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_MAX_INDEXES = 20


def table_faults(table: TableSpec) -> Iterator[str]:
    own = [table.pk, table.sk, table.ttl, table.entity_type, table.version, table.copy_of]
    if len(set(own)) != len(own):
        yield f"table: an attribute of its own is used twice: {own}"
    taken = [*own, *(name for index in table.indexes for name in (index.pk, index.sk))]
    for index in table.indexes:
        # INVARIANT: an index has key attributes of its own; over SK, for one, its partitions would mix all tenants.
        for name in (index.pk, index.sk):
            if taken.count(name) > 1:
                yield f"index {index.name}: its key `{name}` is used twice, so it is not tenant-scoped by itself"
        if not _INDEX_NAME.fullmatch(index.name):
            yield f"index {index.name}: a name has 3 to 255 letters, digits, `_`, `.` and `-`"
        if index.projection != "ALL":
            yield f"index {index.name}: its projection is `{index.projection}`; patterns answer whole items, so use ALL"
    names = [index.name for index in table.indexes]
    yield from (f"index {name}: is declared twice" for name in sorted(set(names)) if names.count(name) > 1)
    if len(names) > _MAX_INDEXES:
        yield f"table: it has {len(names)} indexes, DynamoDB allows {_MAX_INDEXES}"
