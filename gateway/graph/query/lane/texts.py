"""The texts of DynamoDB requests with slots, made by the same code that writes every request."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import orjson

from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId
from gateway.store import wire
from gateway.store.bounds import Bounds
from gateway.store.plan import QueryPartition

_PK, _SK, _LOW, _HIGH = "~pk~", "~sk~", "~low~", "~high~"
_TENANT = TenantId("any")
# what JSON writes as it is
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*').fullmatch


def escaped(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return text if _PLAIN(text) is not None else orjson.dumps(text)[1:-1].decode()


def compact(raw: msgspec.Raw) -> str:
    """A part of an answer in the form in which we send it."""
    return orjson.dumps(orjson.loads(bytes(raw))).decode()


def _pieces(body: dict[str, Any], *marks: str) -> list[str]:
    text, pieces = orjson.dumps(body).decode(), []
    for mark in marks:
        before, found, text = text.partition(mark)
        assert found  # noqa: S101  the marks are ours
        pieces.append(before)
    return [*pieces, text]


class ItemTexts:
    """GetItem and BatchGetItem for some attributes."""

    def __init__(self, spec: TableSpec, table: str, names: tuple[str, ...], *, strong: bool) -> None:
        key = ItemKey(_PK, _SK)
        self.example_get = wire.get_item(spec, table, key, names, strong)
        self.example_batch = wire.batch_get_item(table, [wire.key_of(spec, key)], names, strong)
        self._get = _pieces(self.example_get, _PK, _SK)
        text = orjson.dumps(wire.key_of(spec, key)).decode()
        self._key = _pieces(wire.key_of(spec, key), _PK, _SK)
        head, _, tail = orjson.dumps(self.example_batch).decode().partition(text)
        self._batch = head, tail
        self.marker = f'"{spec.pk}":{{"S":"'

    def get(self, pk: str, sk: str) -> str:
        before, between, behind = self._get
        if _PLAIN(pk + sk) is None:
            pk, sk = escaped(pk), escaped(sk)
        return f"{before}{pk}{between}{sk}{behind}"

    def batch(self, keys: Sequence[ItemKey]) -> str:
        """Built and checked as a whole: a batch has up to a hundred keys."""
        every = "".join(chain.from_iterable(keys))
        if not every.isprintable() or '"' in every or "\\" in every:
            keys = [ItemKey(escaped(pk), escaped(sk)) for pk, sk in keys]
        before, between, behind = self._key
        texts = f"{behind},{before}".join(map(between.join, keys))
        return f"{self._batch[0]}{before}{texts}{behind}{self._batch[1]}"

    def batch_again(self, keys: Sequence[msgspec.Raw]) -> str:
        """With the keys as DynamoDB has given them back, written as we write them."""
        texts = ",".join([compact(key) for key in keys])
        return f"{self._batch[0]}{texts}{self._batch[1]}"


class QueryTexts:
    """Query on one placement, in each form that its bounds can have."""

    marker = '":pk":{"S":"'

    def __init__(self, spec: TableSpec, table: str, plan: QueryPartition, names: tuple[str, ...]) -> None:
        self._spec = spec
        self._table = table
        self._plan = plan
        self._names = names
        self._forms: dict[tuple[bool, bool, bool, bool], list[str]] = {}

    def example(self, bounds: Bounds, *, forward: bool) -> dict[str, Any]:
        plan = self._plan
        example = QueryPartition(_TENANT, plan.index, _PK, bounds, forward, 1, plan.attributes, plan.strong)
        return wire.query(self._spec, self._table, example, self._names, 1)

    def text(self, partition: str, bounds: Bounds, *, forward: bool, limit: int, start: str | None = None) -> str:
        form = (bounds.prefix is not None, bounds.low is not None, bounds.high is not None, forward)
        pieces = self._forms.get(form)
        if pieces is None:
            pieces = self._forms[form] = self._made(*form)
        ends = [end for end in (bounds.low, bounds.high) if end is not None]
        if bounds.prefix is not None:
            ends = [bounds.prefix]
        parts = [pieces[0], escaped(partition)]
        for piece, end in zip(pieces[1:], ends, strict=False):
            parts += [piece, escaped(end)]
        text = f"{''.join(parts)}{pieces[-2]}{min(limit, wire.LARGEST_PAGE)}{pieces[-1]}"
        return text if start is None else f'{text[:-1]},"ExclusiveStartKey":{start}}}'

    def _made(self, prefix: bool, low: bool, high: bool, forward: bool) -> list[str]:
        bounds = Bounds(_LOW if low else None, _HIGH if high else None, _LOW if prefix else None)
        marks = [_LOW] if prefix else [mark for mark, given in ((_LOW, low), (_HIGH, high)) if given]
        pieces = _pieces(self.example(bounds, forward=forward), _PK, *marks)
        before, _, behind = pieces[-1].partition('"Limit":1,')
        return [*pieces[:-1], f'{before}"Limit":', f",{behind}"]
