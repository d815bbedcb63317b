"""Builds a sample DynamoDB request for each access pattern of a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.policies.hidden_data import personal_names
from gateway.model.entity import Entity, Placement
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, Listing, Lookup, reads_through
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId
from gateway.model.types import Id

SAMPLE_SUBJECT: Final = Id().sample
"""The owner of the sample rows, so a session with this subject has them."""


@dataclass(frozen=True, slots=True)
class PatternRequest:
    """One operation on one partition; `index` is None for the table itself.

    `personal` means that the partition key contains a personal attribute, so not every role may use it.
    """

    pattern: str
    operation: str
    index: str | None
    key: ItemKey
    personal: bool

    def body(self, spec: TableSpec, table: str, names: tuple[str, ...] = ()) -> Body:
        """The request in its wire form; without names it reads whole items."""
        keys = sample_requests.key(spec, self.key.pk, self.key.sk)
        match self.operation:
            case "GetItem":
                return sample_requests.get(table, keys, names)
            case "BatchGetItem":
                return sample_requests.batch_get(table, [keys], names)
        return sample_requests.query(table, spec, self.key.pk, names, self.index)


def questions(model: Model, tenant: TenantId) -> tuple[PatternRequest, ...]:
    """At least one request for every access pattern: one for each operation that can serve it."""
    return tuple(question for pattern in model.patterns.values() for question in _of(model, pattern, tenant))


def _of(model: Model, pattern: AccessPattern, tenant: TenantId) -> Iterator[PatternRequest]:
    entity = model.entities[pattern.entity]
    place = model.place(pattern) if isinstance(pattern, Listing) else entity.primary
    key = item_key(tenant, entity, sample(entity, place), place)
    operations = ("GetItem", "BatchGetItem") if isinstance(pattern, Lookup) else ("Query",)
    for operation in operations:
        yield PatternRequest(pattern.name, operation, place.index, key, bool(personal_names(entity, place.pk)))
    if isinstance(pattern, Listing) and reads_through(model, pattern, entity.attribute.keys()):
        item = item_key(tenant, entity, sample(entity, entity.primary))
        yield PatternRequest(pattern.name, "BatchGetItem", None, item, bool(personal_names(entity, entity.primary.pk)))


def sample(entity: Entity, place: Placement) -> dict[str, Any]:
    """Values with which an item of this entity has this placement."""
    values = {name: entity.attribute[name].type.sample for name in place.names}
    if place.when is not None:
        kind: Any = entity.attribute[place.when.attribute].type  # a key type: checked with the entity
        values[place.when.attribute] = kind.key_value(place.when.values[0])
    return values
