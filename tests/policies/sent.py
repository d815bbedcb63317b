"""What the gateway really sends for each access pattern: plans of the store in their wire form."""

from collections.abc import Iterator, Sequence
from typing import Any

from gateway.demo import MODEL
from gateway.iam.policies.pattern_requests import sample
from gateway.model.keys import item_key
from gateway.model.patterns import ItemCollection, Listing, Lookup, parameters
from gateway.model.role_reach import Find
from gateway.model.tenant import TenantId
from gateway.store import wire
from gateway.store.plan import QueryPartition, Range, Window, plan_item_collection, plan_listing, plan_lookup
from gateway.store.rows import Rows
from tests.policies.fixtures import NAME

Sent = tuple[str, str, dict[str, Any]]

_ROWS = Rows(MODEL)


def requests(tenant: TenantId, *, hidden: frozenset[str] = frozenset(), finds: Sequence[Find] = ()) -> Iterator[Sent]:
    """Pattern, operation and body, asking for every attribute that is not hidden; of what is found, for the id."""
    found = {find.pattern: frozenset(find.attributes) for find in finds}
    for pattern in MODEL.patterns.values():
        entity = MODEL.entities[pattern.entity]
        names = (frozenset(entity.attribute) - hidden) & found.get(pattern.name, frozenset(entity.attribute))
        match pattern:
            case Lookup():
                plan = plan_lookup(MODEL, pattern, tenant, (sample(entity, entity.primary),), names)
                stored = _ROWS.stored_names(names, None, (entity.name,)).read
                yield pattern.name, "GetItem", wire.get_item(MODEL.table, NAME, plan.keys[0], stored, plan.strong)
                keys = [wire.key_of(MODEL.table, key) for key in plan.keys]
                yield pattern.name, "BatchGetItem", wire.batch_get_item(NAME, keys, stored, plan.strong)
            case Listing():
                yield from _listing(pattern, tenant, names)
            case ItemCollection():
                together = plan_item_collection(MODEL, pattern, tenant, sample(entity, entity.primary), 10, names)
                yield _query(pattern.name, together.query)


def _listing(listing: Listing, tenant: TenantId, names: frozenset[str]) -> Iterator[Sent]:
    entity, place = MODEL.entities[listing.entity], MODEL.place(listing)
    values = sample(entity, place)
    arguments: dict[str, Any] = {name: values[name] for name in parameters(MODEL, listing)}
    if listing.between is not None:
        arguments[listing.between] = Range(values[listing.between], values[listing.between])
    plan = plan_listing(MODEL, listing, tenant, arguments, Window(10), names)
    yield from (_query(listing.name, query) for group in plan.groups for query in group)
    yield from _through(listing, tenant, names)


def _query(name: str, plan: QueryPartition) -> Sent:
    stored = _ROWS.stored_names(plan.attributes, plan.index, (MODEL.patterns[name].entity,)).read
    return name, "Query", wire.query(MODEL.table, NAME, plan, stored, plan.limit)


def _through(listing: Listing, tenant: TenantId, names: frozenset[str]) -> Iterator[Sent]:
    """What a listing reads from the table where its index has not all that is asked for."""
    entity, index = MODEL.entities[listing.entity], MODEL.table.index(MODEL.place(listing).index)
    stored = _ROWS.stored_names(names, index, (entity.name,)).through
    if stored is not None:
        key = wire.key_of(MODEL.table, item_key(tenant, entity, sample(entity, entity.primary)))
        yield listing.name, "BatchGetItem", wire.batch_get_item(NAME, [key], stored, False)
