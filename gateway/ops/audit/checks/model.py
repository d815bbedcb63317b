"""Lines that the model alone decides: documented patterns, key prefixes, and keys that spread."""

from collections.abc import Iterator

from gateway.iam.policies.pattern_requests import sample
from gateway.model.docs.patterns import access_patterns
from gateway.model.entity import Entity, Placement
from gateway.model.keys import item_key
from gateway.model.patterns import Listing
from gateway.model.template import Literal
from gateway.model.tenant import owns, tenant_id
from gateway.ops.audit import fixes
from gateway.ops.audit.results import AuditFinding, Case, failed, passed, passed_unless
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.partitions import Partition, partitions

_TENANT = tenant_id("audit")


def documented_patterns(case: Case) -> Iterator[AuditFinding]:
    model = case.model
    silent = [name for name, pattern in model.patterns.items() if not pattern.description.strip()]
    if silent:
        yield failed(f"patterns without a description: {', '.join(silent)}", fixes.MODEL)
    read = {model.place(pattern).index for pattern in model.patterns.values() if isinstance(pattern, Listing)}
    idle = [index.name for index in model.table.indexes if index.name not in read]
    if idle:
        yield failed(f"no access pattern reads {', '.join(idle)}", "a pattern for the index, or the model without it")
    match case.facts.files.page:
        case None:
            yield failed("docs/access-patterns.md cannot be read", fixes.PAGE)
        case text if text != access_patterns(model):
            yield failed("docs/access-patterns.md does not match the model", fixes.PAGE)
        case _:
            yield passed(f"{len(model.patterns)} access patterns; docs/access-patterns.md is up to date")


def prefixes(case: Case) -> Iterator[AuditFinding]:
    """Uses the model alone, because reading items would need a Scan or a tenant's session."""
    wrong = [
        f"{entity.name} in {place.name}" for entity, place in case.model.placements if not _prefixed(entity, place)
    ]
    if wrong:
        yield failed(f"keys without the tenant's prefix and a word: {', '.join(wrong)}", fixes.MODEL)
        return
    count, entities = len(case.model.placements), len(case.model.entities)
    yield passed(
        f"every partition key of {count} places of {entities} entities starts with TENANT#<tenant>#WORD; "
        "checked on the model, no item was read"
    )


def cardinality(case: Case) -> Iterator[AuditFinding]:
    """What the model declares, and how hot it gets under the traffic that the model expects."""
    busiest = partitions(case.model, DEFAULTS)
    hot = [
        failed(_expected(partition), partition.advice or fixes.SHARDS)
        for partition in busiest
        if partition.heat == "hot"
    ]
    small = [place for _, place in case.model.placements if place.declared.low_cardinality_reason]
    sharded = [place for _, place in case.model.placements if place.shards is not None]
    yield from passed_unless(
        hot,
        f"{len(sharded)} places are sharded, {len(small)} are declared small with a reason, all others are keyed by "
        f"an id; the busiest partition: {_expected(busiest[0])}",
    )


def _expected(partition: Partition) -> str:
    return f"`{partition.key}` in {partition.place} expects {partition.read:,.0f} RCU and {partition.write:,.0f} WCU"


def _prefixed(entity: Entity, place: Placement) -> bool:
    key = item_key(_TENANT, entity, sample(entity, place), place)
    return owns(_TENANT, key.pk) and isinstance(place.pk.segments[0], Literal)
