import pytest

from gateway.ops.audit.checks.retention import deletion_protection, recovery, ttl
from gateway.ops.audit.facts import BackupFacts, TtlFacts, Unknown
from gateway.ops.audit.lines import Case, Verdict
from tests.ops.audit.spoil import changed, facts_of, failures, verdicts, with_table


@pytest.mark.parametrize(
    ("found", "fact"),
    [
        (TtlFacts("DISABLED", None), "TTL is DISABLED: what expires stays for ever"),
        (TtlFacts("ENABLED", "expires"), "TTL reads `expires`, the model writes `ttl`"),
    ],
)
def test_ttl_that_is_off_or_elsewhere_fails(case: Case, found: TtlFacts, fact: str) -> None:
    assert failures(ttl, changed(case, ttl=found)) == [fact]


def test_ttl_that_is_being_switched_on_passes(case: Case) -> None:
    assert verdicts(ttl(changed(case, ttl=TtlFacts("ENABLING", "ttl")))) == {Verdict.PASS}


def test_recovery_that_is_off_fails(case: Case) -> None:
    assert failures(recovery, changed(case, backups=BackupFacts(enabled=False, days=None))) == [
        "point-in-time recovery is off"
    ]
    kept = changed(case, backups=BackupFacts(enabled=True, days=35))
    assert facts_of(recovery, kept, Verdict.PASS) == ["point-in-time recovery is on, 35 days back"]


def test_a_table_without_protection_fails(case: Case) -> None:
    assert failures(deletion_protection, with_table(case, deletion_protection=False)) == [
        "the table can be deleted by one call"
    ]


def test_what_nobody_may_look_at_is_unknown(case: Case) -> None:
    blind = changed(case, ttl=Unknown("why"), backups=Unknown("why"))
    assert verdicts([*ttl(blind), *recovery(blind)]) == {Verdict.UNKNOWN}
