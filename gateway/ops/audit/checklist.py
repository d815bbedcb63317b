"""The production checklist: each line with its check, in order."""

from collections.abc import Iterator
from typing import Final

from gateway.ops.audit.checks.alarms import alarms
from gateway.ops.audit.checks.capacity import autoscaling, index_capacity, mode
from gateway.ops.audit.checks.drift import policy_drift, table_drift
from gateway.ops.audit.checks.model import cardinality, documented_patterns, prefixes
from gateway.ops.audit.checks.network import endpoint
from gateway.ops.audit.checks.privilege import gateway_privilege, no_scan, tenant_privilege
from gateway.ops.audit.checks.retention import deletion_protection, encryption, recovery, stream, ttl
from gateway.ops.audit.results import AuditFinding, Case, Check, ChecklistLine, LineResult, not_applicable, result

_TABLE: Final = "terraform/modules/table/main.tf"
_DOMAINS: Final = "gateway/demo/__init__.py"


def _least_privilege(case: Case) -> Iterator[AuditFinding]:
    yield from tenant_privilege(case)
    yield from gateway_privilege(case)


CHECKLIST: Final[tuple[tuple[ChecklistLine, Check], ...]] = (
    (
        ChecklistLine("access-patterns", "access patterns are documented", "docs/access-patterns.md"),
        documented_patterns,
    ),
    (ChecklistLine("key-prefixes", "one table, keys with prefixes", _DOMAINS), prefixes),
    (ChecklistLine("key-cardinality", "partition keys spread, busy ones are sharded", _DOMAINS), cardinality),
    (ChecklistLine("no-scan", "no Scan", "policies/tenant-role.json"), no_scan),
    (ChecklistLine("index-capacity", "indexes can keep up with the table", _TABLE), index_capacity),
    (ChecklistLine("capacity-mode", "the capacity mode holds the load", _TABLE), mode),
    (ChecklistLine("autoscaling", "autoscaling at 70 %", "terraform/modules/table/autoscaling.tf"), autoscaling),
    (ChecklistLine("ttl", "TTL on what expires", _TABLE), ttl),
    (ChecklistLine("point-in-time-recovery", "point-in-time recovery", _TABLE), recovery),
    (ChecklistLine("vpc-endpoint", "VPC endpoint with a policy", "terraform/modules/network/main.tf"), endpoint),
    (ChecklistLine("alarms", "alarms with the right dimensions", "terraform/modules/observability/main.tf"), alarms),
    (ChecklistLine("least-privilege", "least privilege", "terraform/modules/iam/main.tf"), _least_privilege),
    (ChecklistLine("table-drift", "the table is as the model says", "terraform/table.json"), table_drift),
    (ChecklistLine("policy-drift", "the policies are as the model says", "policies/README.md"), policy_drift),
    (ChecklistLine("deletion-protection", "deletion protection", _TABLE), deletion_protection),
    (ChecklistLine("encryption", "encryption with a key of the account", _TABLE), encryption),
    (ChecklistLine("stream", "a stream of changes", _TABLE), stream),
)
"""Twelve lines on how the table is run, then drift, then protection against accidents."""

NAMES: Final = tuple(line.name for line, _ in CHECKLIST)


def run_checks(case: Case, skipped: frozenset[str] = frozenset()) -> tuple[LineResult, ...]:
    """The result of every line; skipped lines say so."""
    return tuple(
        result(line, [not_applicable("skipped on request")] if line.name in skipped else check(case))
        for line, check in CHECKLIST
    )
