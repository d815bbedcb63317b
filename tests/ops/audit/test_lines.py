import pytest

from gateway.ops.audit.facts import NotHere, Unknown
from gateway.ops.audit.lines import Case, Finding, Line, Verdict, failed, missing, not_applicable, passed, result

LINE = Line("ttl", "TTL", "terraform/modules/table/main.tf")


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([passed("a"), failed("b", "c"), missing(Unknown("d"))], Verdict.FAIL),
        ([passed("a"), missing(Unknown("d")), not_applicable("e")], Verdict.UNKNOWN),
        ([passed("a"), not_applicable("e")], Verdict.PASS),
        ([missing(NotHere("e"))], Verdict.NOT_APPLICABLE),
    ],
)
def test_a_line_is_as_bad_as_the_worst_that_was_found(findings: list[Finding], verdict: Verdict) -> None:
    assert result(LINE, findings).verdict is verdict


def test_a_check_that_finds_nothing_has_not_passed() -> None:
    assert result(LINE, []).verdict is Verdict.UNKNOWN


def test_policies_are_put_to_work_where_the_role_lives(case: Case) -> None:
    deployment = case.deployment
    assert deployment is not None
    assert (deployment.account, deployment.table) == ("123456789012", case.subject.table)
