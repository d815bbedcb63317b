"""Builds a sample DynamoDB request for each access pattern of a model."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.policies.hidden_data import personal_names
from gateway.model.entity import Entity, Placement
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.model.patterns import AccessPattern, Listing, Lookup, reads_through
from gateway.model.role_reach import holds_owner
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId
from gateway.model.types import Id

SAMPLE_SUBJECT: Final = Id().sample
"""The owner of the sample rows, so a session with this subject has them."""


@dataclass(frozen=True, slots=True)
class PatternRequest:
    """One operation on one partition; `index` is None for the table itself.

    `personal` means that the partition key contains a personal attribute, so not every role may use it. `owned` means
    that it contains the owner of the item. `through` means that a list reads it after its index, so a role that does
    not use the pattern may be allowed the same request by another one.
    """

    pattern: str
    operation: str
    index: str | None
    key: ItemKey
    personal: bool
    owned: bool
    through: bool = False

    def body(self, spec: TableSpec, table: str, names: tuple[str, ...] = ()) -> Body:
        """The request in its wire form; without names it reads whole items."""
        keys = sample_requests.key(spec, self.key.pk, self.key.sk)
        match self.operation:
            case "GetItem":
                return sample_requests.get(table, keys, names)
            case "BatchGetItem":
                return sample_requests.batch_get(table, [keys], names)
        return sample_requests.query(table, spec, self.key.pk, names, self.index)


def questions(model: Model, tenant: TenantId, subject: str = SAMPLE_SUBJECT) -> tuple[PatternRequest, ...]:
    """At least one request for every access pattern: one for each operation that can serve it.

    `subject` is the owner of the requested rows, if they have one.
    """
    return tuple(question for pattern in model.patterns.values() for question in _of(model, pattern, tenant, subject))


def _of(model: Model, pattern: AccessPattern, tenant: TenantId, subject: str) -> Iterator[PatternRequest]:
    entity = model.entities[pattern.entity]
    place = model.place(pattern) if isinstance(pattern, Listing) else entity.primary
    operations = ("GetItem", "BatchGetItem") if isinstance(pattern, Lookup) else ("Query",)
    for operation in operations:
        yield _request(pattern.name, operation, tenant, entity, place, subject)
    if isinstance(pattern, Listing) and reads_through(model, pattern, entity.attribute.keys()):
        through = _request(pattern.name, "BatchGetItem", tenant, entity, entity.primary, subject)
        yield replace(through, through=True)


def _request(
    pattern: str, operation: str, tenant: TenantId, entity: Entity, place: Placement, subject: str
) -> PatternRequest:
    key = item_key(tenant, entity, sample(entity, place, subject), place)
    personal = bool(personal_names(entity, place.pk))
    return PatternRequest(pattern, operation, place.index, key, personal, holds_owner(entity, place))


def transaction(
    model: Model, mutation: Mutation, tenant: TenantId, table: str, more: Body, subject: str = SAMPLE_SUBJECT
) -> Body:
    """The transaction that a mutation sends over all places of an item in the table; `more` is added to each write."""
    entity = model.entities[mutation.returns]
    kind, make = ("Delete", sample_requests.delete) if mutation.removes else ("Put", sample_requests.put)
    keys = (
        item_key(tenant, entity, sample(entity, place, subject), place)
        for place in entity.placements
        if place.index is None
    )
    items = (sample_requests.key(model.table, key.pk, key.sk) for key in keys)
    return sample_requests.transact_write(*((kind, make(table, item, more)) for item in items))


def sample(entity: Entity, place: Placement, subject: str = SAMPLE_SUBJECT) -> dict[str, Any]:
    """Values for which an item of this entity and this owner has this placement."""
    values = {name: subject if name == entity.owner else entity.attribute[name].type.sample for name in place.names}
    if place.when is not None:
        kind: Any = entity.attribute[place.when.attribute].type  # a key type: checked with the entity
        values[place.when.attribute] = kind.key_value(place.when.values[0])
    return values
