import pytest

from gateway.ops.audit.facts import NotHere, UnknownFact
from gateway.ops.audit.results import (
    AuditFinding,
    Case,
    ChecklistLine,
    LineVerdict,
    failed,
    missing,
    not_applicable,
    passed,
    result,
)

LINE = ChecklistLine("ttl", "TTL", "terraform/modules/table/main.tf")


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([passed("a"), failed("b", "c"), missing(UnknownFact("d"))], LineVerdict.FAIL),
        ([passed("a"), missing(UnknownFact("d")), not_applicable("e")], LineVerdict.UNKNOWN),
        ([passed("a"), not_applicable("e")], LineVerdict.PASS),
        ([missing(NotHere("e"))], LineVerdict.NOT_APPLICABLE),
    ],
)
def test_a_line_is_as_bad_as_the_worst_that_was_found(findings: list[AuditFinding], verdict: LineVerdict) -> None:
    assert result(LINE, findings).verdict is verdict


def test_a_check_that_finds_nothing_has_not_passed() -> None:
    assert result(LINE, []).verdict is LineVerdict.UNKNOWN


def test_policies_are_put_to_work_where_the_role_lives(case: Case) -> None:
    deployment = case.deployment
    assert deployment is not None
    assert (deployment.account, deployment.table) == ("123456789012", case.subject.table)
