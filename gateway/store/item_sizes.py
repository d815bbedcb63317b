"""Sizes of items: as the model declares them, or as DynamoDB has billed them if they are larger."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson

from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.tenant import TenantId
from gateway.store.capacity_units import READ_BLOCK
from gateway.store.wire import units_of

MOST_TENANTS: Final = 1_000  # tenants whose items are larger than declared; the least recently seen one is dropped
_INERTIA: Final = 3  # a call that reads this many items moves the average by half
_AS_DECLARED: Final = 1.05  # a smaller deviation is not kept
_SAME: Final = 0.002  # a smaller step changes nothing, so that learned sizes settle and estimates can be cached
_numbers = itertools.count(1)


class SizedPlace(NamedTuple):
    """The items of an entity where they are stored whole (None), or its entries in an index that lacks attributes."""

    entity: str
    on: str | None = None  # an index


def sized_place(model: Model, entity: str, index: str | None) -> SizedPlace:
    projected = index is not None and model.table.carried(model.table.index(index)) is not None
    return SizedPlace(entity, index if projected else None)


class LearnedSizes(dict[SizedPlace, float]):
    """Sizes in bytes, of one tenant; immutable, and `number` identifies each version."""

    __slots__ = ("number",)

    def __init__(self, sizes: Mapping[SizedPlace, float] = MappingProxyType({})) -> None:
        super().__init__(sizes)
        self.number = next(_numbers)


NOTHING_LEARNED: Final = LearnedSizes()


def expected_item_bytes(model: Model, entity: str, sizes: LearnedSizes = NOTHING_LEARNED) -> float:
    """Returns the size of a whole item: the largest that a pattern declares, or what was learned."""
    declared = [pattern.traffic.item_bytes for pattern in model.patterns.values() if pattern.entity == entity]
    return max(max(declared, default=500), sizes.get(SizedPlace(entity), 0))


def expected_entry_bytes(model: Model, entity: str, index: str | None, sizes: LearnedSizes = NOTHING_LEARNED) -> float:
    """Returns the size of an item's entry in an index: what its lists read, if it does not contain whole items."""
    place = sized_place(model, entity, index)
    if place.on is None:
        return expected_item_bytes(model, entity, sizes)
    listings = [
        pattern for pattern in model.patterns.values() if isinstance(pattern, Listing) and pattern.entity == entity
    ]
    declared = [listing.traffic.item_bytes for listing in listings if model.place(listing).index == index]
    return max(max(declared, default=500), sizes.get(place, 0))


def learned(sizes: LearnedSizes, declared: int, model: Model, entity: str, index: str | None = None) -> float:
    """INVARIANT: never less than declared."""
    return max(declared, sizes.get(sized_place(model, entity, index), 0)) if sizes else declared


@dataclass(frozen=True, slots=True)
class ReadForm:
    """One form of a read: what its units and the length of its response say about the size of its items.

    Units are rounded up, so a single one says nothing. A response has names and types in addition to the values, and
    may omit attributes, so it only gives a lower bound.
    """

    place: SizedPlace
    declared: float  # bytes of one item
    unit_bytes: int
    slack: int  # bytes that rounding may have added to a call
    slack_each: int  # and to each item
    usual_units: float  # maximum billed bytes for an item of the declared size
    usual_content: float  # maximum bytes of such an item in a response

    def least(self, items: int, units: float, content: int) -> float:
        billed = (units * self.unit_bytes - self.slack) / items - self.slack_each if units > 1 else 0
        return max(billed, (content - READ_BLOCK) / items - self.declared)

    def most(self, items: int, units: float) -> float | None:
        """Returns the largest possible size after a Query, whose items are summed before they are rounded."""
        return units * self.unit_bytes / items if units > 1 and not self.slack_each else None


class ItemSizes:
    """The sizes that one process has learned; kept in memory only, starting from the model's declarations.

    Sizes are kept by tenant: the large items of one tenant do not make the lists of another expensive.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._forms: dict[tuple[SizedPlace, str, bool], ReadForm] = {}
        self.known: dict[TenantId, LearnedSizes] = {}

    def form(self, entity: str, index: str | None, operation: str, *, strong: bool) -> ReadForm:
        key = (sized_place(self._model, entity, index), operation, strong)
        form = self._forms.get(key)
        if form is None:
            declared, batch = expected_entry_bytes(self._model, entity, index), operation == "BatchGetItem"
            slack_each = 2 * READ_BLOCK if batch else 0  # some engines bill a unit for each
            form = self._forms[key] = ReadForm(
                place=key[0],
                declared=declared,
                unit_bytes=READ_BLOCK if strong else 2 * READ_BLOCK,
                slack=0 if batch else READ_BLOCK,
                slack_each=slack_each,
                usual_units=declared + slack_each,
                usual_content=2 * declared,
            )
        return form

    def was_read(self, tenant: TenantId, form: ReadForm, items: int, units: float, content: int) -> None:
        """`content` is the length of the response."""
        if not items:
            return
        before = self.known[tenant].get(form.place, form.declared) if tenant in self.known else form.declared
        least, most = form.least(items, units, content), form.most(items, units)
        if least > before:
            self._average(tenant, form.place, form.declared, least, items)
        elif most is not None and most < before:
            self._average(tenant, form.place, form.declared, most, items)

    def was_written(self, tenant: TenantId, entity: str, size: int) -> None:
        declared = expected_item_bytes(self._model, entity)
        if size > declared or tenant in self.known:
            self._average(tenant, SizedPlace(entity), declared, size, 1)

    def _average(self, tenant: TenantId, place: SizedPlace, declared: float, size: float, items: int) -> None:
        sizes = self.known.pop(tenant, NOTHING_LEARNED)
        before = sizes.get(place, float(declared))
        after = before + (max(size, declared) - before) * items / (items + _INERTIA)
        if abs(after - before) > before * _SAME:
            others = {other: value for other, value in sizes.items() if other != place}
            sizes = LearnedSizes({**others, place: after} if after > declared * _AS_DECLARED else others)
        if sizes:
            if len(self.known) >= MOST_TENANTS:
                del self.known[next(iter(self.known))]
            self.known[tenant] = sizes

    def explained(self, tenant: TenantId) -> list[dict[str, Any]]:
        """Returns, for `explain`, where the tenant's items are larger than declared, in bytes."""
        return [
            {
                "entity": place.entity,
                "index": place.on,
                "declared": expected_entry_bytes(self._model, place.entity, place.on),
                "learned": round(size),
            }
            for place, size in sorted(self.known.get(tenant, {}).items())
        ]

    def learn(self, tenant: TenantId, operation: str, body: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Learns from a call whose rows are of one entity.

        A filtered call says nothing, because rows that the filter removed are billed too.
        """
        rows = _rows(answer)
        kinds = {row.get(self._model.table.entity_type, {}).get("S") for row in rows}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None or kind not in self._model.stored or "FilterExpression" in body:
            return
        [request] = body["RequestItems"].values() if operation == "BatchGetItem" else [body]
        form = self.form(kind, body.get("IndexName"), operation, strong=bool(request.get("ConsistentRead")))
        units, content = units_of(answer.get("ConsumedCapacity")), len(orjson.dumps(rows))
        self.was_read(tenant, form, len(rows), units, content)


def _rows(answer: Mapping[str, Any]) -> list[Any]:
    if "Responses" in answer:
        return [row for rows in answer["Responses"].values() for row in rows]
    return answer.get("Items") or ([answer["Item"]] if answer.get("Item") else [])
