import pytest

from gateway.ops.audit.checks.retention import deletion_protection, recovery, stream, ttl
from gateway.ops.audit.facts import BackupFacts, TtlFacts, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.spoil import changed, facts_of, failures, verdicts, with_table


@pytest.mark.parametrize(
    ("found", "fact"),
    [
        (TtlFacts("DISABLED", None), "TTL is DISABLED: expired items are never deleted"),
        (TtlFacts("ENABLED", "expires"), "TTL reads `expires`, the model writes `ttl`"),
    ],
)
def test_ttl_that_is_off_or_elsewhere_fails(case: Case, found: TtlFacts, fact: str) -> None:
    assert failures(ttl, changed(case, ttl=found)) == [fact]


def test_ttl_that_is_being_switched_on_passes(case: Case) -> None:
    assert verdicts(ttl(changed(case, ttl=TtlFacts("ENABLING", "ttl")))) == {LineVerdict.PASS}


def test_recovery_that_is_off_fails(case: Case) -> None:
    assert failures(recovery, changed(case, backups=BackupFacts(enabled=False, days=None))) == [
        "point-in-time recovery is off"
    ]
    kept = changed(case, backups=BackupFacts(enabled=True, days=35))
    assert facts_of(recovery, kept, LineVerdict.PASS) == ["point-in-time recovery is on, 35 days back"]


@pytest.mark.parametrize(
    ("days", "fact"),
    [
        (1, "point-in-time recovery reaches 1 day back, not 7"),
        (6, "point-in-time recovery reaches 6 days back, not 7"),
    ],
)
def test_recovery_that_does_not_reach_back_a_week_fails(case: Case, days: int, fact: str) -> None:
    assert failures(recovery, changed(case, backups=BackupFacts(enabled=True, days=days))) == [fact]
    assert failures(recovery, changed(case, backups=BackupFacts(enabled=True, days=7))) == []


def test_a_stream_that_is_off_fails(case: Case) -> None:
    assert facts_of(stream, case, LineVerdict.PASS) == ["the stream is on, with NEW_AND_OLD_IMAGES"]
    [fact] = failures(stream, with_table(case, stream=None))
    assert fact.startswith("the stream is off")


def test_a_table_without_protection_fails(case: Case) -> None:
    assert failures(deletion_protection, with_table(case, deletion_protection=False)) == [
        "the table can be deleted by one call"
    ]


def test_what_nobody_may_look_at_is_unknown(case: Case) -> None:
    blind = changed(case, ttl=UnknownFact("why"), backups=UnknownFact("why"))
    assert verdicts([*ttl(blind), *recovery(blind)]) == {LineVerdict.UNKNOWN}
