"""Encryption at rest: a key of the account, which is in use, rotates, and can be taken away by nobody else."""

from collections.abc import Iterator

from gateway.ops.audit import fixes
from gateway.ops.audit.facts import KeyFacts
from gateway.ops.audit.lines import Case, Finding, failed, missing, passed_unless


def encryption(case: Case) -> Iterator[Finding]:
    key = case.facts.key
    if key is None:
        yield failed("the table is encrypted with DynamoDB's own key, which nobody can withdraw", fixes.ENCRYPTION)
    elif not isinstance(key, KeyFacts):
        yield missing(key)
    else:
        fact = f"a key of the account that rotates encrypts the table: {case.facts.table.key_arn}"
        yield from passed_unless(_faults(key), fact)


def _faults(key: KeyFacts) -> Iterator[Finding]:
    if key.manager != "CUSTOMER":
        yield failed("the table is encrypted with a key that AWS manages: its policy is not ours", fixes.ENCRYPTION)
        return
    if key.state != "Enabled":
        yield failed(f"the key of the table is {key.state}: DynamoDB loses the table", fixes.KEY_STATE)
    if not key.rotates:
        yield failed("the key of the table does not rotate", fixes.ROTATION)
