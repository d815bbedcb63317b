"""The shapes of the keys in a DynamoDB request: `USER#<userId>`, without the value.

Only shards and time buckets are shown as they are: they show how a listing was read, and nothing about an item.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.model.entity import Placement
from gateway.model.model import Model
from gateway.model.table import TableSpec
from gateway.model.template import DERIVED, Literal, Template
from gateway.model.tenant import TenantId, owns, partition
from gateway.model.types import KEY_SEPARATOR
from gateway.store.key_ranges import TOP

HIDDEN = "…"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KeyShape:
    """A shape of keys: the partition key without the tenant's prefix, and the sort key or its range."""

    partition: str
    sort: str
    keys: int = 1


def key_shapes(model: Model, tenant: TenantId, operation: str, body: Body) -> tuple[KeyShape, ...]:
    if operation == "Query":
        return (_query(model, tenant, body),)
    forms = Counter(_item_form(model, tenant, pk, sk) for pk, sk in _keys(body, model.table))
    return tuple(KeyShape(*form, keys) for form, keys in forms.items())


def _keys(part: Any, table: TableSpec) -> Iterator[tuple[str, str]]:
    """Yields every key of a request; tolerates any operation, because explaining a call must not make it fail."""
    if isinstance(part, Mapping):
        if table.pk in part and table.sk in part:
            yield _text(part[table.pk]), _text(part[table.sk])
            return
        part = part.values()
    elif not isinstance(part, list | tuple):
        return
    for member in part:
        yield from _keys(member, table)


def _text(value: Any) -> str:
    return str(value.get("S", "")) if isinstance(value, Mapping) else ""


def _item_form(model: Model, tenant: TenantId, pk: str, sk: str) -> tuple[str, str]:
    # INVARIANT: nothing is shown of a key that is not the tenant's own.
    if not owns(tenant, pk):
        return HIDDEN, HIDDEN
    for place in _places(model, tenant, None, pk):
        form = _filled(place.sk, sk)
        if form is not None:
            return _partition_form(place, tenant, pk), form
    return _unknown(tenant, pk), HIDDEN


def _query(model: Model, tenant: TenantId, body: Body) -> KeyShape:
    values = {name: _text(value) for name, value in body.get("ExpressionAttributeValues", {}).items()}
    pk = values.get(":pk", "")
    if not owns(tenant, pk):
        return KeyShape(HIDDEN, HIDDEN)
    places = list(_places(model, tenant, body.get("IndexName"), pk))
    where = _partition_form(places[0], tenant, pk) if places else _unknown(tenant, pk)
    low, high = (_start(places, values[name]) if name in values else None for name in (":low", ":high"))
    if "begins_with" in body.get("KeyConditionExpression", ""):
        return KeyShape(where, f"begins with {low}")
    if low is not None and values.get(":low") == values.get(":high"):
        return KeyShape(where, low)
    ends = [f"{word} {text}" for word, text in (("from", low), ("to", high)) if text is not None]
    return KeyShape(where, " ".join(ends) or "all")


def _places(model: Model, tenant: TenantId, index: str | None, pk: str) -> Iterator[Placement]:
    """Yields the placements whose partition keys have this shape."""
    path = pk.removeprefix(partition(tenant, ""))
    for entity in model.stored.values():
        for place in entity.placements:
            if place.index == index and _filled(place.pk, path) is not None:
                yield place


def _partition_form(place: Placement, tenant: TenantId, pk: str) -> str:
    return _filled(place.pk, pk.removeprefix(partition(tenant, ""))) or HIDDEN


def _filled(template: Template, text: str) -> str | None:
    """Returns the template as a shape, if the text matches it."""
    parts = text.split(KEY_SEPARATOR)
    if len(parts) != len(template.segments):
        return None
    shown = []
    for segment, part in zip(template.segments, parts, strict=True):
        if isinstance(segment, Literal) and segment.text != part:
            return None
        shown.append(part if isinstance(segment, Literal) or segment.name in DERIVED else str(segment))
    return KEY_SEPARATOR.join(shown)


def _start(places: list[Placement], text: str) -> str:
    """Returns one end of a range of sort keys: the fixed text at its start, and what follows it."""
    # the longest fixed text first: a sort key that starts with a value matches any text
    for place in sorted(places, key=lambda place: -len(place.sk.prefix({}))):
        words = place.sk.prefix({})
        if text == words == place.sk.text:
            return text
        if text.startswith(words) and place.sk.holes:
            ended = text.removeprefix(words) in ("", TOP)
            return words + (HIDDEN if ended else f"{place.sk.holes[0]}{HIDDEN}")
    return HIDDEN


def _unknown(tenant: TenantId, pk: str) -> str:
    """Shows the fixed text that the gateway's own rows, such as uniqueness markers, start with."""
    word = pk.removeprefix(partition(tenant, "")).partition(KEY_SEPARATOR)[0]
    return f"{word}{KEY_SEPARATOR}{HIDDEN}"
