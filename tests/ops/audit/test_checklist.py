from dataclasses import replace

from gateway.ops.audit.checklist import CHECKLIST, NAMES, run_checks
from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.results import Case, LineResult, LineVerdict


def test_an_account_as_terraform_makes_it_fails_no_line(results: tuple[LineResult, ...]) -> None:
    bad = {
        result.line.name: [finding for finding in result.findings if finding.verdict is not LineVerdict.PASS]
        for result in results
        if result.verdict not in (LineVerdict.PASS, LineVerdict.NOT_APPLICABLE)
    }
    assert bad == {}


def test_only_autoscaling_does_not_apply_on_demand(results: tuple[LineResult, ...]) -> None:
    idle = [result.line.name for result in results if result.verdict is LineVerdict.NOT_APPLICABLE]
    assert idle == ["autoscaling"]


def test_how_the_table_is_run_comes_first_and_then_drift() -> None:
    assert len(set(NAMES)) == len(CHECKLIST)
    assert NAMES[:12] == (
        *("access-patterns", "key-prefixes", "key-cardinality", "no-scan", "index-capacity", "capacity-mode"),
        *("autoscaling", "ttl", "point-in-time-recovery", "vpc-endpoint", "alarms", "least-privilege"),
    )
    assert NAMES[12:14] == ("table-drift", "policy-drift")


def test_a_line_that_is_skipped_says_so(case: Case) -> None:
    spoilt = replace(case, facts=replace(case.facts, backups=UnknownFact("why")))
    found = {result.line.name: result for result in run_checks(spoilt, frozenset({"point-in-time-recovery"}))}
    skipped = found["point-in-time-recovery"]
    assert (skipped.verdict, skipped.findings[0].fact) == (LineVerdict.NOT_APPLICABLE, "skipped on request")
    assert found["ttl"].verdict is LineVerdict.PASS
