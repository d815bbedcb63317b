"""The rules on events, tried on events as AWS sends them."""

import json
import re
from typing import Any

import pytest

from tests.terraform.conftest import PlanOf
from tests.terraform.event_pattern import matches
from tests.terraform.installed_policies import ACCOUNT, REGION
from tests.terraform.plan import Plan
from tests.terraform.tool import REPOSITORY

_NAME = "gateway-prod"
_TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{_NAME}"
_SERVICE = f"arn:aws:ecs:{REGION}:{ACCOUNT}:service/{_NAME}/{_NAME}"
_PAGED = {"table-deleted", "table-unprotected", "table-unrecoverable", "table-encryption", "table-policy"}


def _call(name: str, **parameters: Any) -> dict[str, Any]:
    return {
        "source": "aws.dynamodb",
        "detail-type": "AWS API Call via CloudTrail",
        "detail": {"eventSource": "dynamodb.amazonaws.com", "eventName": name, "requestParameters": parameters},
    }


def _on_table(name: str, **parameters: Any) -> dict[str, Any]:
    return _call(name, tableName=_NAME, **parameters)


def _recovery(enabled: bool) -> dict[str, Any]:
    return {"pointInTimeRecoverySpecification": {"pointInTimeRecoveryEnabled": enabled}}


def _backup(kind: str, state: str, table: str = _TABLE) -> dict[str, Any]:
    return {"source": "aws.backup", "detail-type": kind, "detail": {"state": state, "resourceArn": table}}


def _deployment(name: str, service: str = _SERVICE) -> dict[str, Any]:
    detail = {"eventType": "ERROR", "eventName": name}
    return {
        "source": "aws.ecs",
        "detail-type": "ECS Deployment State Change",
        "resources": [service],
        "detail": detail,
    }


_EVENTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "the table is deleted": (_on_table("DeleteTable"), {"table-deleted"}),
    "the table is deleted by its ARN": (_call("DeleteTable", tableName=_TABLE), {"table-deleted"}),
    "another table is deleted": (_call("DeleteTable", tableName=f"{_NAME}-2"), set()),
    "protection is off": (_on_table("UpdateTable", deletionProtectionEnabled=False), {"table-unprotected"}),
    "protection is on": (_on_table("UpdateTable", deletionProtectionEnabled=True), set()),
    "recovery is off": (_on_table("UpdateContinuousBackups", **_recovery(enabled=False)), {"table-unrecoverable"}),
    "recovery is on": (_on_table("UpdateContinuousBackups", **_recovery(enabled=True)), set()),
    "encryption is off": (_on_table("UpdateTable", sSESpecification={"enabled": False}), {"table-encryption"}),
    "another key": (
        _on_table("UpdateTable", sSESpecification={"enabled": True, "kMSMasterKeyId": "x"}),
        {"table-encryption"},
    ),
    "autoscaling": (_on_table("UpdateTable", provisionedThroughput={"readCapacityUnits": 5}), set()),
    "a policy on the table": (_call("PutResourcePolicy", resourceArn=_TABLE), {"table-policy"}),
    "a policy on its stream": (_call("PutResourcePolicy", resourceArn=f"{_TABLE}/stream/1"), {"table-policy"}),
    "a policy on another table": (_call("PutResourcePolicy", resourceArn=f"{_TABLE[:-4]}else"), set()),
    "a backup failed": (_backup("Backup Job State Change", "FAILED"), {"backup-failed"}),
    "a copy failed": (_backup("Copy Job State Change", "FAILED"), {"backup-failed"}),
    "a backup is done": (_backup("Backup Job State Change", "COMPLETED"), set()),
    "a backup of another table failed": (_backup("Backup Job State Change", "FAILED", f"{_TABLE}-2"), set()),
    "a deployment failed": (_deployment("SERVICE_DEPLOYMENT_FAILED"), {"deployment-failed"}),
    "a deployment is done": (_deployment("SERVICE_DEPLOYMENT_COMPLETED"), set()),
    "another service's failed": (_deployment("SERVICE_DEPLOYMENT_FAILED", f"{_SERVICE}-2"), set()),
}


def _rules(plan: Plan) -> dict[str, dict[str, Any]]:
    found = plan.of("aws_cloudwatch_event_rule", "event_rule.this")
    return {values["name"].removeprefix(f"{_NAME}-"): dict(values) for values in found.values()}


@pytest.mark.parametrize(("event", "named"), _EVENTS.values(), ids=_EVENTS)
def test_an_event_matches_the_rules_that_are_named(event: dict[str, Any], named: set[str], plan_of: PlanOf) -> None:
    rules = _rules(plan_of("prod"))
    assert {name for name, rule in rules.items() if matches(json.loads(rule["event_pattern"]), event)} == named


def test_what_takes_protection_from_the_table_pages_and_the_rest_is_a_notice(plan_of: PlanOf) -> None:
    targets = plan_of("prod").of("aws_cloudwatch_event_target", "event_target.this")
    topics = {values["rule"].removeprefix(f"{_NAME}-"): values["target_id"] for values in targets.values()}
    assert topics == {**dict.fromkeys(_PAGED, "page"), "backup-failed": "notice", "deployment-failed": "notice"}


def test_what_does_not_exist_is_not_watched(plan_of: PlanOf) -> None:
    # no service in the first, no backups in the second
    assert "deployment-failed" not in _rules(plan_of("provisioned"))
    assert not [name for name in _rules(plan_of("dev")) if name.endswith("backup-failed")]


def test_every_rule_names_a_runbook_that_speaks_of_it(plan_of: PlanOf) -> None:
    rules = _rules(plan_of("prod"))
    assert rules.keys() == {*_PAGED, "backup-failed", "deployment-failed"}
    for name, rule in rules.items():
        found = re.search(r"Runbook: (docs/runbooks/[a-z-]+\.md)$", rule["description"])
        assert found is not None, name
        assert f"`$NAME-{name}`" in (REPOSITORY / found[1]).read_text(), name
