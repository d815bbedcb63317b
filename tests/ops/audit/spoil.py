"""Ways to change the facts of a good account, and to read what a check says about it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gateway.ops.audit.facts import Facts, IndexFacts, RoleFacts, ScalingTarget, TableFacts
from gateway.ops.audit.results import AuditFinding, Case, Check, LineVerdict
from gateway.ops.capacity.demand import TABLE, Need


def changed(case: Case, **facts: Any) -> Case:
    return replace(case, facts=replace(case.facts, **facts))


def with_table(case: Case, **table: Any) -> Case:
    return changed(case, table=replace(case.facts.table, **table))


def with_role(case: Case, name: str, **role: Any) -> Case:
    return changed(case, **{name: replace(role_of(case.facts, name), **role)})


def role_of(facts: Facts, name: str) -> RoleFacts:
    found = getattr(facts, name)
    assert isinstance(found, RoleFacts)
    return found


def provisioned(case: Case, most: int = 5_000, percent: float | None = 70) -> Case:
    """The same table with capacity that is bought, autoscaled in every place."""
    table, bought = case.facts.table, Need(10, 10)
    indexes = {name: replace(index, provisioned=bought) for name, index in table.indexes.items()}
    targets = tuple(
        ScalingTarget(place, kind, 5, most, percent) for place in (TABLE, *table.indexes) for kind in ("read", "write")
    )
    made = replace(table, on_demand=False, provisioned=bought, indexes=indexes)
    return changed(case, table=made, scaling=targets)


def with_index(table: TableFacts, name: str, **index: Any) -> Mapping[str, IndexFacts]:
    return {**table.indexes, name: replace(table.indexes[name], **index)}


def facts_of(check: Check, case: Case, verdict: LineVerdict) -> list[str]:
    return [finding.fact for finding in check(case) if finding.verdict is verdict]


def failures(check: Check, case: Case) -> list[str]:
    return facts_of(check, case, LineVerdict.FAIL)


def verdicts(findings: Iterable[AuditFinding]) -> set[LineVerdict]:
    return {finding.verdict for finding in findings}
