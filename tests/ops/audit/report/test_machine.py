import json
from dataclasses import replace

import pytest

from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.report.machine import as_json, as_sarif
from gateway.ops.audit.results import LineResult, failed, missing
from tests.ops.audit.fixtures import SUBJECT


@pytest.fixture
def spoilt(results: tuple[LineResult, ...]) -> tuple[LineResult, ...]:
    """One line that fails and one that is unknown among those that pass."""
    changes = {"deletion-protection": failed("bad", "do this"), "point-in-time-recovery": missing(UnknownFact("why"))}
    return tuple(
        replace(each, findings=(changes[each.line.name],)) if each.line.name in changes else each for each in results
    )


def test_json_has_every_line_with_its_findings(spoilt: tuple[LineResult, ...]) -> None:
    content = json.loads(json.dumps(as_json(SUBJECT, spoilt)))
    lines = {line["name"]: line for line in content["lines"]}
    assert content["table"] == "shop-prod"
    assert lines["deletion-protection"]["verdict"] == "fail"
    assert lines["deletion-protection"]["findings"] == [{"verdict": "fail", "fact": "bad", "fix": "do this"}]
    assert lines["point-in-time-recovery"]["verdict"] == "unknown"
    assert lines["access-patterns"]["number"] == 1


def test_sarif_has_a_rule_for_each_line_and_a_result_for_each_finding(spoilt: tuple[LineResult, ...]) -> None:
    content = json.loads(json.dumps(as_sarif("arn:table", spoilt)))
    assert content["version"] == "2.1.0"
    [run] = content["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [result.line.name for result in spoilt]
    assert len(run["results"]) == sum(len(result.findings) for result in spoilt)
    for found in run["results"]:
        assert rules[found["ruleIndex"]]["id"] == found["ruleId"]
        place = found["locations"][0]
        assert place["physicalLocation"]["artifactLocation"]["uri"]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == "arn:table"


def test_only_a_failure_has_a_level(spoilt: tuple[LineResult, ...]) -> None:
    # by the standard, a result that is no failure has the level `none`
    [run] = as_sarif("arn:table", spoilt)["runs"]
    levels = {(found["kind"], found["level"]) for found in run["results"]}
    assert levels == {("fail", "error"), ("open", "none"), ("pass", "none"), ("notApplicable", "none")}
