"""Retention of data: TTL, point-in-time recovery, deletion protection, stream and encryption."""

from collections.abc import Iterator

from gateway.ops.audit import fixes
from gateway.ops.audit.facts import BackupFacts, KeyFacts, TtlFacts
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed, passed_unless

_ON = ("ENABLED", "ENABLING")
_LEAST_DAYS = 7
"""A fault that begins on a Friday evening and is noticed after a long weekend can still be undone."""


def ttl(case: Case) -> Iterator[AuditFinding]:
    live, declared = case.facts.ttl, case.model.table.ttl
    if not isinstance(live, TtlFacts):
        yield missing(live)
    elif live.status not in _ON:
        yield failed(f"TTL is {live.status}: expired items are never deleted", fixes.TTL)
    elif live.attribute != declared:
        yield failed(f"TTL reads `{live.attribute}`, the model writes `{declared}`", fixes.TTL)
    else:
        expiring = [entity.name for entity in case.model.entities.values() if entity.expiry is not None]
        yield passed(f"TTL is {live.status} on `{declared}`; expiring: {', '.join(expiring) or 'idempotency records'}")


def recovery(case: Case) -> Iterator[AuditFinding]:
    backups = case.facts.backups
    if not isinstance(backups, BackupFacts):
        yield missing(backups)
    elif not backups.enabled:
        yield failed("point-in-time recovery is off", fixes.RECOVERY)
    elif backups.days is not None and backups.days < _LEAST_DAYS:
        days = "1 day" if backups.days == 1 else f"{backups.days} days"
        yield failed(f"point-in-time recovery reaches {days} back, not {_LEAST_DAYS}", fixes.RECOVERY_DAYS)
    else:
        days = f", {backups.days} days back" if backups.days else ""
        yield passed(f"point-in-time recovery is on{days}")


def deletion_protection(case: Case) -> Iterator[AuditFinding]:
    if case.facts.table.deletion_protection:
        yield passed("the table cannot be deleted until its protection is switched off")
    else:
        yield failed("the table can be deleted by one call", fixes.PROTECTION)


def stream(case: Case) -> Iterator[AuditFinding]:
    if case.facts.table.stream is None:
        yield failed(
            "the stream is off: changes cannot be followed, and past changes cannot be recovered later", fixes.STREAM
        )
    else:
        yield passed(f"the stream is on, with {case.facts.table.stream}")


# Encryption at rest: with a key of the account that is enabled and rotates.


def encryption(case: Case) -> Iterator[AuditFinding]:
    key = case.facts.key
    if key is None:
        yield failed("the table is encrypted with DynamoDB's own key, which cannot be revoked", fixes.ENCRYPTION)
    elif not isinstance(key, KeyFacts):
        yield missing(key)
    else:
        fact = f"a key of the account that rotates encrypts the table: {case.facts.table.key_arn}"
        yield from passed_unless(_faults(key), fact)


def _faults(key: KeyFacts) -> Iterator[AuditFinding]:
    if key.manager != "CUSTOMER":
        yield failed("the table is encrypted with a key that AWS manages: its policy is not ours", fixes.ENCRYPTION)
        return
    if key.state != "Enabled":
        yield failed(f"the key of the table is {key.state}: DynamoDB loses the table", fixes.KEY_STATE)
    if not key.rotates:
        yield failed("the key of the table does not rotate", fixes.ROTATION)
