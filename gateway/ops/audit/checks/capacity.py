"""Capacity: indexes that keep up with the table, enough capacity for the expected load, autoscaling at 70 %."""

from collections.abc import Iterator
from typing import Final

from gateway.ops.audit import fixes
from gateway.ops.audit.facts import CountedByCloudWatch, Facts, IndexFacts, ScalingTarget, TableFacts, UnknownFact
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, not_applicable, passed, passed_unless
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import TABLE, Demand, Kind, demand

TARGET_PERCENT: Final = 70
_KINDS: Final[tuple[Kind, ...]] = ("read", "write")
_UNITS: Final = {"read": "RCU", "write": "WCU"}


def index_capacity(case: Case) -> Iterator[AuditFinding]:
    """A write to the table waits for its indexes, so an index with less capacity throttles the table."""
    table = case.facts.table
    if not table.indexes:
        yield not_applicable("the table has no index")
        return
    yield from (blind := tuple(_unlearned(case)))
    for name in table.indexes:
        faults, most = tuple(_index_faults(case, name)), ceiling(case.facts, name, "write")
        if faults or not blind:
            yield from passed_unless(faults, f"{name} takes as much as the table: {_words(most)}")


def _index_faults(case: Case, name: str) -> Iterator[AuditFinding]:
    table = case.facts.table
    most, whole = ceiling(case.facts, name, "write"), ceiling(case.facts, TABLE, "write")
    if table.indexes[name].status != "ACTIVE":
        yield failed(f"{name} is {table.indexes[name].status}", "wait until it is ACTIVE")
    if most < whole and _bounds_known(case.facts):
        yield failed(f"{name} takes {_words(most)} at most, the table {_words(whole)}", _raise(case.facts))
    yield from _throttled(case, name)


def mode(case: Case) -> Iterator[AuditFinding]:
    """Compares the maximum capacity with what the model expects."""
    expected = demand(case.model, DEFAULTS)
    name, total = "on demand" if case.facts.table.on_demand else "provisioned", expected.total
    yield from (blind := tuple(_unlearned(case)))
    faults = (*_too_little(case, name, expected), *_throttled(case, TABLE))
    if faults or not blind:
        yield from passed_unless(
            faults,
            f"{name}; the model expects {total.read:,.0f} RCU and {total.write:,.0f} WCU in all "
            "(`gateway capacity` compares the costs)",
        )


def _too_little(case: Case, name: str, expected: Demand) -> Iterator[AuditFinding]:
    for place in (TABLE, *case.facts.table.indexes):
        need = expected.need(place)
        for kind in _KINDS:
            most, units = ceiling(case.facts, place, kind), need.of(kind)
            if most < units and _bounds_known(case.facts):
                fact = f"{name}: {place} has {most:,.0f} {_UNITS[kind]} at most, the model expects {units:,.0f}"
                yield failed(fact, _raise(case.facts))


def autoscaling(case: Case) -> Iterator[AuditFinding]:
    facts = case.facts
    if facts.table.on_demand:
        yield not_applicable("on demand: there is nothing to scale")
        return
    if not isinstance(facts.scaling, tuple):
        yield missing(facts.scaling)
        return
    right = []
    for place in (TABLE, *facts.table.indexes):
        for kind in _KINDS:
            fault = _scaling_fault(_target(facts.scaling, place, kind))
            if fault:
                yield failed(f"{place}, {kind}: {fault}", fixes.TARGET)
            else:
                right.append(f"{place} {kind}")
    if right:
        yield passed(f"tracks {TARGET_PERCENT} %: {', '.join(right)}")


def ceiling(facts: Facts, place: str, kind: Kind) -> float:
    """The maximum units of a place: the on-demand limit, the ceiling of autoscaling, or the provisioned capacity."""
    part: TableFacts | IndexFacts = facts.table if place == TABLE else facts.table.indexes[place]
    if facts.table.on_demand:
        return part.limit.of(kind)
    target = _target(facts.scaling, place, kind) if isinstance(facts.scaling, tuple) else None
    return max(part.provisioned.of(kind), target.most if target else 0)


def _target(targets: tuple[ScalingTarget, ...], place: str, kind: Kind) -> ScalingTarget | None:
    return next((target for target in targets if (target.place, target.kind) == (place, kind)), None)


def _scaling_fault(target: ScalingTarget | None) -> str | None:
    if target is None:
        return "is not autoscaled"
    if target.percent is None:
        return "has bounds, but no policy that tracks a target"
    if target.percent != TARGET_PERCENT:
        return f"tracks {target.percent:g} %"
    return None if target.least < target.most else f"cannot move: both bounds are {target.most}"


def _unlearned(case: Case) -> Iterator[AuditFinding]:
    """Missing facts that the verdict needs: throttled requests, and the bounds of autoscaling."""
    needed = (case.facts.seen,) if case.facts.table.on_demand else (case.facts.seen, case.facts.scaling)
    return (missing(fact) for fact in needed if isinstance(fact, UnknownFact))


def _bounds_known(facts: Facts) -> bool:
    return facts.table.on_demand or not isinstance(facts.scaling, UnknownFact)


def _throttled(case: Case, place: str) -> Iterator[AuditFinding]:
    seen = case.facts.seen
    if isinstance(seen, CountedByCloudWatch):
        for kind in _KINDS:
            count = seen.throttles.get((place, kind), 0)
            if count > 0:
                yield failed(f"{place}: {count:,.0f} throttled {kind}s in {seen.days} days", fixes.MODE)


def _raise(facts: Facts) -> str:
    return fixes.LIMITS if facts.table.on_demand else fixes.BOUNDS


def _words(units: float) -> str:
    return "what the account's quota allows" if units == float("inf") else f"{units:,.0f} WCU"
