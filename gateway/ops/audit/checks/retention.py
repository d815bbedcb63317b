"""What is deleted and what can be brought back or followed: TTL, recovery, deletion protection, stream."""

from collections.abc import Iterator

from gateway.ops.audit import fixes
from gateway.ops.audit.facts import BackupFacts, TtlFacts
from gateway.ops.audit.lines import Case, Finding, failed, missing, passed

_ON = ("ENABLED", "ENABLING")
_LEAST_DAYS = 7
"""A fault that begins on a Friday evening and is noticed after a long weekend can still be undone."""


def ttl(case: Case) -> Iterator[Finding]:
    found, wanted = case.facts.ttl, case.model.table.ttl
    if not isinstance(found, TtlFacts):
        yield missing(found)
    elif found.status not in _ON:
        yield failed(f"TTL is {found.status}: what expires stays for ever", fixes.TTL)
    elif found.attribute != wanted:
        yield failed(f"TTL reads `{found.attribute}`, the model writes `{wanted}`", fixes.TTL)
    else:
        expiring = [entity.name for entity in case.model.entities.values() if entity.expiry is not None]
        yield passed(f"TTL is {found.status} on `{wanted}`; expiring: {', '.join(expiring) or 'idempotency records'}")


def recovery(case: Case) -> Iterator[Finding]:
    found = case.facts.backups
    if not isinstance(found, BackupFacts):
        yield missing(found)
    elif not found.enabled:
        yield failed("point-in-time recovery is off", fixes.RECOVERY)
    elif found.days is not None and found.days < _LEAST_DAYS:
        days = "1 day" if found.days == 1 else f"{found.days} days"
        yield failed(f"point-in-time recovery reaches {days} back, not {_LEAST_DAYS}", fixes.RECOVERY_DAYS)
    else:
        days = f", {found.days} days back" if found.days else ""
        yield passed(f"point-in-time recovery is on{days}")


def deletion_protection(case: Case) -> Iterator[Finding]:
    if case.facts.table.deletion_protection:
        yield passed("the table cannot be deleted until its protection is switched off")
    else:
        yield failed("the table can be deleted by one call", fixes.PROTECTION)


def stream(case: Case) -> Iterator[Finding]:
    if case.facts.table.stream is None:
        yield failed("the stream is off: changes cannot be followed, and none of the past can be later", fixes.STREAM)
    else:
        yield passed(f"the stream is on, with {case.facts.table.stream}")
