import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.report import as_json, as_sarif, show, summary
from gateway.ops.audit.results import ChecklistLine, LineResult, failed, missing, passed
from tests.ops.audit.fixtures import SUBJECT


def shown(results: tuple[LineResult, ...]) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    show(console, SUBJECT, results)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_line_is_a_row(results: tuple[LineResult, ...]) -> None:
    text = shown(results)
    assert "shop-prod in eu-west-1" in text
    for result in results:
        assert result.line.title in text


def test_a_failure_comes_first_with_its_fix() -> None:
    line = ChecklistLine("ttl", "TTL", "x")
    text = shown(
        (LineResult(line, (passed("good"), failed("bad [b]", "do this"), missing(UnknownFact("who knows", "ask")))),)
    )
    assert text.index("✗ bad [b]") < text.index("→ do this") < text.index("? who knows") < text.index("✓ good")


def test_the_summary_counts_every_verdict(results: tuple[LineResult, ...]) -> None:
    assert summary(results) == f"0 fail, 0 unknown, {len(results) - 1} pass, 1 not applicable"


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
