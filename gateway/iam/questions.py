"""What each access pattern of a model asks DynamoDB, with sample values: the list that proofs and visibility walk."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from gateway.iam import bodies
from gateway.iam.bodies import Body
from gateway.iam.personal import personal_names
from gateway.model.entity import Entity, Placement
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, Listing, Lookup
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId
from gateway.model.types import Choice, Flag, Integer, Number, Timestamp

_MOMENT: Final = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """One operation on one partition; `index` is None in the table itself.

    `personal`: the partition is named by a personal attribute, so that not every role may ask.
    """

    pattern: str
    operation: str
    index: str | None
    key: ItemKey
    personal: bool

    def body(self, spec: TableSpec, table: str, names: tuple[str, ...] = ()) -> Body:
        """The request in its wire form; without names it asks for whole items."""
        keys = bodies.key(spec, self.key.pk, self.key.sk)
        match self.operation:
            case "GetItem":
                return bodies.get(table, keys, names)
            case "BatchGetItem":
                return bodies.batch_get(table, [keys], names)
        return bodies.query(table, spec, self.key.pk, names, self.index)


def questions(model: Model, tenant: TenantId) -> tuple[Question, ...]:
    """At least one for every access pattern: each operation it can become, on the partition it reads."""
    return tuple(question for pattern in model.patterns.values() for question in _of(model, pattern, tenant))


def _of(model: Model, pattern: AccessPattern, tenant: TenantId) -> Iterator[Question]:
    entity = model.entities[pattern.entity]
    place = model.place(pattern) if isinstance(pattern, Listing) else entity.primary
    key = item_key(tenant, entity, sample(entity, place), place)
    operations = ("GetItem", "BatchGetItem") if isinstance(pattern, Lookup) else ("Query",)
    for operation in operations:
        yield Question(pattern.name, operation, place.index, key, bool(personal_names(entity, place.pk)))


def sample(entity: Entity, place: Placement) -> dict[str, Any]:
    """Values with which an item of this entity has a place there."""
    values = {name: _value(entity, name) for name in place.names}
    if place.when is not None:
        text, kind = place.when.values[0], entity.attribute[place.when.attribute].type
        values[place.when.attribute] = text == "true" if isinstance(kind, Flag) else text
    return values


def _value(entity: Entity, name: str) -> Any:
    match entity.attribute[name].type:
        case Integer() | Number():
            return Decimal(1)
        case Flag():
            return True
        case Timestamp():
            return _MOMENT
        case Choice(enum):
            return next(iter(enum)).name
    return "sample-1"
