import json

from gateway.ops.audit.checklist import judge
from gateway.ops.audit.facts import Unknown
from gateway.ops.audit.lines import Case
from gateway.ops.audit.report.machine import as_json, as_sarif
from tests.ops.audit.spoil import changed, with_table
from tests.ops.audit.world import SUBJECT


def spoilt(case: Case) -> Case:
    return changed(with_table(case, deletion_protection=False), backups=Unknown("no permission"))


def test_json_has_every_line_with_its_findings(case: Case) -> None:
    content = json.loads(json.dumps(as_json(SUBJECT, judge(spoilt(case)))))
    lines = {line["name"]: line for line in content["lines"]}
    assert content["table"] == "shop-prod"
    assert lines["deletion-protection"]["verdict"] == "fail"
    assert lines["deletion-protection"]["findings"][0]["fix"]
    assert lines["point-in-time-recovery"]["verdict"] == "unknown"
    assert lines["access-patterns"]["number"] == 1


def test_sarif_has_a_rule_for_each_line_and_a_result_for_each_finding(case: Case) -> None:
    results = judge(spoilt(case))
    content = json.loads(json.dumps(as_sarif(case.facts.table.arn, results)))
    assert content["version"] == "2.1.0"
    [run] = content["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [result.line.name for result in results]
    assert len(run["results"]) == sum(len(result.findings) for result in results)
    for found in run["results"]:
        assert rules[found["ruleIndex"]]["id"] == found["ruleId"]
        place = found["locations"][0]
        assert place["physicalLocation"]["artifactLocation"]["uri"]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == case.facts.table.arn


def test_only_a_failure_has_a_level(case: Case) -> None:
    # by the standard, a result that is no failure has the level `none`
    [run] = as_sarif("arn", judge(spoilt(case)))["runs"]
    levels = {(found["kind"], found["level"]) for found in run["results"]}
    assert levels == {("fail", "error"), ("open", "none"), ("pass", "none"), ("notApplicable", "none")}
