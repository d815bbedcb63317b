"""The calls that a lane may make, prepared for the policies of one session: request templates and response types."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import orjson

from gateway.aws.sts.session import Session
from gateway.graph.query.lane.fallback import NoLane
from gateway.graph.query.lane.request import NO_KEY, ConsumedCapacity, PreparedCall, UnprocessedKeys
from gateway.graph.query.lane.rows import RowType
from gateway.iam.language.verdict import Deny
from gateway.model.staleness import Staleness
from gateway.store.access import Refusal
from gateway.store.cache.read_path import PreparedReads, ReadOptions
from gateway.store.item_sizes import ReadForm
from gateway.store.plan import Attributes
from gateway.store.table import Table


@dataclass(frozen=True, slots=True)
class LaneTable:
    """The table as one session sees it; nothing here depends on the session's tenant."""

    table: Table
    session: Session

    def call(
        self,
        operation: str,
        index: str | None,
        marker: str,
        decode: Any,
        example: Mapping[str, Any],
        requested: Attributes,
        form: ReadForm | None = None,
        tail: str = "",
    ) -> PreparedCall:
        """Prepares a call.

        `requested` are the attributes that the operation needs, including those that the role may not read. `tail`
        follows the tenant's prefix in every leading key of the call.
        """
        permission = self.session.permissions.shared.prepare(operation, example)
        if permission is not None:
            permission = replace(permission, residual=permission.residual.below(tail))
        refusals = tuple(Refusal(name, deny.reason) for name, deny in self._denied(operation, requested).items())
        return PreparedCall(operation, index, marker, decode, permission, refusals, form)

    def cached(
        self, names: tuple[str, ...], strong: bool, declared: Staleness | None, call: PreparedCall, row: Any
    ) -> ReadOptions | None:
        """Returns how a cache serves the call; None if it does not."""
        staleness = self.table.staleness(declared)
        if staleness is None:
            return None
        decode = msgspec.json.Decoder(list[row]).decode
        prepared = PreparedReads(self.session.permissions.shared, call.permission, decode)
        return ReadOptions(names, strong, staleness, prepared)

    def denied(self, requested: Attributes) -> Attributes:
        """Returns the attributes that the role may not read; raises `NoLane` if this differs between operations."""
        denials = {frozenset(self._denied(operation, requested)) for operation in ("GetItem", "BatchGetItem", "Query")}
        if len(denials) > 1:
            raise NoLane
        return denials.pop()

    def _denied(self, operation: str, requested: Attributes) -> Mapping[str, Deny]:
        session = self.session
        return session.permissions.attributes_denied(requested, operation, session.tenancy.table)


def get_answer(rows: RowType) -> Any:
    kind = msgspec.defstruct(
        "GetAnswer", [("Item", rows.type | None, None), ("ConsumedCapacity", ConsumedCapacity | None, None)], gc=False
    )
    return msgspec.json.Decoder(kind).decode


def batch_answer(rows: RowType) -> Any:
    kind = msgspec.defstruct(
        "BatchAnswer",
        [
            ("Responses", dict[str, list[rows.type]]),  # type: ignore[name-defined]  # created at run time
            ("UnprocessedKeys", dict[str, UnprocessedKeys], msgspec.field(default_factory=dict)),
            ("ConsumedCapacity", list[ConsumedCapacity] | None, None),
        ],
        gc=False,
    )
    return msgspec.json.Decoder(kind).decode


def query_answer(row: Any) -> Any:
    kind = msgspec.defstruct(
        "QueryAnswer",
        [
            ("Items", list[row]),
            ("LastEvaluatedKey", msgspec.Raw, NO_KEY),
            ("ScannedCount", int | None, None),
            ("ConsumedCapacity", ConsumedCapacity | None, None),
        ],
        gc=False,
    )
    return msgspec.json.Decoder(kind).decode


# request bodies: the texts between their slots, and the text that fills a slot

# characters that JSON does not escape
is_plain = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*').fullmatch


def escaped(text: str) -> str:
    """Escapes a text for use between the quotes of a JSON string."""
    return text if is_plain(text) is not None else orjson.dumps(text)[1:-1].decode()


def compact(raw: msgspec.Raw) -> str:
    """Returns a part of a response in the form in which we send it."""
    return orjson.dumps(orjson.loads(bytes(raw))).decode()


def pieces(body: dict[str, Any], *marks: str) -> list[str]:
    """Splits the text of a request body at the marks."""
    text, parts = orjson.dumps(body).decode(), []
    for mark in marks:
        before, separator, text = text.partition(mark)
        assert separator  # noqa: S101  we have put the marks there
        parts.append(before)
    return [*parts, text]
