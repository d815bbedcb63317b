"""Capacity: indexes that can follow the table, a mode that holds the expected load, autoscaling at 70 %."""

from collections.abc import Iterator
from typing import Final, Literal

from gateway.ops.audit import fixes
from gateway.ops.audit.facts import Facts, IndexFacts, ScalingTarget, Seen, TableFacts, Throughput
from gateway.ops.audit.lines import Case, Finding, failed, missing, not_applicable, passed
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import TABLE, demand

Kind = Literal["read", "write"]

TARGET_PERCENT: Final = 70
_KINDS: Final[tuple[Kind, ...]] = ("read", "write")
_UNITS: Final = {"read": "RCU", "write": "WCU"}


def index_capacity(case: Case) -> Iterator[Finding]:
    """A write to the table waits for its indexes: one that takes less than the table throttles the table."""
    table = case.facts.table
    if not table.indexes:
        yield not_applicable("the table has no index")
        return
    whole = ceiling(case.facts, TABLE, "write")
    for name, index in table.indexes.items():
        most = ceiling(case.facts, name, "write")
        if index.status != "ACTIVE":
            yield failed(f"{name} is {index.status}", "wait until it is ACTIVE")
        if most < whole:
            fix = fixes.LIMITS if table.on_demand else fixes.BOUNDS
            yield failed(f"{name} takes {most:,.0f} WCU at most, the table {_words(whole)}", fix)
        yield from _throttled(case, name)
    if table.on_demand:
        yield passed(f"on demand: {', '.join(table.indexes)} grow with the table, up to {_words(whole)} WCU each")
    else:
        yield passed(f"compared with the table's {_words(whole)} WCU: {', '.join(table.indexes)}")


def mode(case: Case) -> Iterator[Finding]:
    """Whether what can be had at most is enough for what the model expects."""
    table, expected = case.facts.table, demand(case.model, DEFAULTS)
    name = "on demand" if table.on_demand else "provisioned"
    for place in (TABLE, *table.indexes):
        need = expected.need(place)
        for kind, units in (("read", need.read), ("write", need.write)):
            most = ceiling(case.facts, place, "read" if kind == "read" else "write")
            if most < units:
                fact = f"{name}: {place} has {most:,.0f} {_UNITS[kind]} at most, the model expects {units:,.0f}"
                yield failed(fact, fixes.LIMITS if table.on_demand else fixes.BOUNDS)
    yield from _throttled(case, TABLE)
    total = expected.total
    yield passed(
        f"{name}; the model expects {total.read:,.0f} RCU and {total.write:,.0f} WCU in all "
        "(`gateway capacity` compares the costs)"
    )


def autoscaling(case: Case) -> Iterator[Finding]:
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
    """The most units that a place can ever take: the limit on demand, or where autoscaling stops, or what is bought."""
    part: TableFacts | IndexFacts = facts.table if place == TABLE else facts.table.indexes[place]
    if facts.table.on_demand:
        return _of(part.limit, kind)
    target = _target(facts.scaling, place, kind) if isinstance(facts.scaling, tuple) else None
    return max(_of(part.provisioned, kind), target.most if target else 0)


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


def _throttled(case: Case, place: str) -> Iterator[Finding]:
    seen = case.facts.seen
    if isinstance(seen, Seen):
        for kind in _KINDS:
            count = seen.throttles.get((place, kind), 0)
            if count > 0:
                yield failed(f"{place}: {count:,.0f} throttled {kind}s in {seen.days} days", fixes.MODE)


def _of(throughput: Throughput, kind: Kind) -> float:
    return throughput.read if kind == "read" else throughput.write


def _words(units: float) -> str:
    return "the account's quota" if units == float("inf") else f"{units:,.0f}"
