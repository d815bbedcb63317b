"""The tables that requests may name: their ARNs and key schemas, in one account and region."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.iam.dynamodb.errors import NotUnderstood

_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The partition key of a table, and the partition keys of each index in order (a local index has the table's)."""

    pk: str
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownTable:
    arn: str
    keys: KeySchema


@dataclass(frozen=True, slots=True)
class TableRegistry:
    region: str
    account: str
    partition: str = "aws"
    tables: Mapping[str, KeySchema] = field(default_factory=dict)
    known: Mapping[str, KnownTable] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        tables: dict[str, KnownTable] = {}
        for name, keys in self.tables.items():
            arn = self.arn(f"table/{checked_name(name)}")
            tables[name] = tables[arn] = KnownTable(arn, keys)
        object.__setattr__(self, "known", tables)

    def arn(self, resource: str) -> str:
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:{resource}"

    def table(self, name: Any) -> KnownTable:
        """A table by its name or ARN; the keys of other tables are unknown, so a request for one is not understood."""
        table = self.known.get(name) if isinstance(name, str) else None
        if table is None:
            raise NotUnderstood("the table is not known here", resource=self._best_arn(name))
        return table

    def table_arn(self, name: Any) -> str:
        """The ARN of any table, known or not; an ARN of another region or account is returned as it is."""
        if isinstance(name, str) and name.startswith("arn:"):
            arn = checked_arn(name, "table")
            checked_name(arn.partition("/")[2])
            return arn
        return self.arn(f"table/{checked_name(name)}")

    def index_arn(self, table: Any, index: Any) -> str:
        return f"{self.table_arn(table)}/index/{checked_name(index)}"

    def _best_arn(self, name: Any) -> str:
        try:
            return self.table_arn(name)
        except NotUnderstood:
            return ""


def checked_name(name: Any) -> str:
    """Checks the name of a table or index: without this, a name like `T/index/I` would forge another resource."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise NotUnderstood("a table or index is named by 3 to 255 letters, digits, `_`, `.` or `-`")
    return name


def checked_arn(text: Any, *kinds: str) -> str:
    """Checks a DynamoDB ARN sent by the caller; `kinds` are the words with which its resource may begin."""
    parts = text.split(":", 5) if isinstance(text, str) else []
    if len(parts) != 6 or parts[0] != "arn" or parts[2] != "dynamodb":
        raise NotUnderstood("not an ARN of DynamoDB")
    kind, _, rest = parts[5].partition("/")
    if kind not in kinds or not rest:
        raise NotUnderstood(f"not an ARN of {' or '.join(kinds)}")
    return str(text)
