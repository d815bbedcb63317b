"""Each pitfall is found, and the recommended policies have none."""

import copy
from typing import Any

import pytest

from gateway.iam.language.document import read
from gateway.iam.language.grammar import Kind
from gateway.iam.policies.lint import lint

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
TAG = "${aws:PrincipalTag/TenantId}"
LK, ATT = "dynamodb:LeadingKeys", "dynamodb:Attributes"
ROWS: dict[str, Any] = {
    "Sid": "OwnRows",
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem"],
    "Resource": [TABLE, f"{TABLE}/index/GSI1"],
    "Condition": {
        "ForAllValues:StringLike": {LK: [f"TENANT#{TAG}", f"TENANT#{TAG}#*"]},
        "Null": {LK: "false", "aws:PrincipalTag/TenantId": "false"},
    },
}
NEVER = {"Sid": "Never", "Effect": "Deny", "Action": ["dynamodb:Scan", "dynamodb:PartiQL*"], "Resource": "*"}
HIDDEN = {
    "Sid": "Personal",
    "Effect": "Deny",
    "Action": ["dynamodb:GetItem"],
    "Resource": "*",
    "Condition": {
        "ForAnyValue:StringEquals": {ATT: ["email"]},
        "StringNotEquals": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
    },
}
TRUST: dict[str, Any] = {
    "Sid": "Gateway",
    "Effect": "Allow",
    "Principal": {"AWS": "arn:aws:iam::123456789012:role/gateway"},
    "Action": ["sts:AssumeRole", "sts:TagSession"],
    "Condition": {"Null": {"aws:RequestTag/TenantId": "false"}},
}


def found(*statements: dict[str, Any], kind: Kind = "identity", version: str | None = "2012-10-17") -> list[str]:
    raw: dict[str, Any] = {"Statement": list(statements)}
    if version:
        raw["Version"] = version
    return [f"{one.level} {one.statement} {one.message}" for one in lint(read(raw, kind))]


def changed(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(ROWS), **more}


def conditioned(operator: str, key: str, *values: Any) -> dict[str, Any]:
    statement = changed()
    statement["Condition"].setdefault(operator, {})[key] = list(values)
    return statement


def test_the_recommended_documents_are_clean() -> None:
    assert found(ROWS, NEVER, HIDDEN) == []
    assert found(TRUST, kind="trust") == []
    gateway = {"Effect": "Allow", "Action": ["sts:AssumeRole"], "Resource": "arn:aws:iam::123456789012:role/tenant"}
    assert found(gateway) == []
    assert found({**ROWS, "Principal": "*"}, kind="endpoint") == []
    assert found(changed(Condition={"Bool": {"aws:SecureTransport": "true"}}), kind="boundary") == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (changed(Action=["dynamodb:*"]), "a wildcard also grants"),
        (changed(Action=["*"]), "a wildcard also grants"),
        (changed(Action=["dynamodb:Get*"]), "a wildcard also grants"),
        (changed(Action=["dynamodb:scan"]), "`dynamodb:scan`: LeadingKeys cannot keep tenants apart"),
        (changed(Action=["dynamodb:PartiQLSelect"]), "LeadingKeys cannot keep tenants apart"),
        (changed(Action=["dynamodb:SearchVectors"]), "LeadingKeys cannot keep tenants apart"),
        (changed(Action=["dynamodb:DescribeTable"]), "LeadingKeys cannot keep tenants apart"),
        (changed(Resource="*"), "resource `*`"),
        (changed(Resource=[f"{TABLE}/index/*"]), "/index/*`"),
        (changed(Condition={"Bool": {"aws:SecureTransport": "true"}}), "without a condition on LeadingKeys"),
        (changed(Condition={"Null": {LK: "false"}}), "without a condition on LeadingKeys"),
        (conditioned("ForAllValues:StringLike", LK, f"TENANT#{TAG}*"), "a wildcard right after a variable"),
        (conditioned("ForAllValues:StringLike", LK, "TENANT#*"), "the same for every tenant"),
        (conditioned("ForAllValues:StringEquals", ATT, "PK"), f"`{ATT}` is absent"),
        (conditioned("ForAnyValue:StringLike", LK, f"TENANT#{TAG}"), "one own key open a whole batch"),
        (conditioned("StringEquals", LK, f"TENANT#{TAG}"), "needs ForAllValues or ForAnyValue"),
        (conditioned("StringNotEquals", "aws:userid", "x"), "grants when `aws:userid` is absent"),
        (conditioned("StringEquals", "aws:userid", "${aws:username}"), "`aws:username` may be absent"),
        (conditioned("StringEquals", "aws:userid", "${aws:username"), "unterminated variable"),
        (conditioned("StringEquals", "aws:userid", "${}"), "malformed variable"),
        (conditioned("ForAnyValue:StringEqualsIfExists", "aws:TagKeys", "x"), "not documented"),
        (conditioned("StringEqualsIgnoreCase", "aws:userid", "\u00e9"), "beyond ASCII"),
        (conditioned("StringSimilar", "aws:userid", "x"), "unknown operator `StringSimilar`"),
        (conditioned("NumericEquals", "aws:userid", "x"), "wrong value `x`"),
    ],
)
def test_each_pitfall_is_an_error(statement: dict[str, Any], message: str) -> None:
    assert any(line.startswith("error OwnRows") and message in line for line in found(statement))


@pytest.mark.parametrize("guard", [LK, "aws:PrincipalTag/TenantId"])
def test_a_dropped_guard_is_an_error(guard: str) -> None:
    statement = changed()
    del statement["Condition"]["Null"][guard]
    assert any(line.startswith("error") and "add Null `false`" in line for line in found(statement))


def test_complements_that_grant_are_errors() -> None:
    statement = changed(NotAction="s3:*", NotResource=TABLE)
    del statement["Action"], statement["Resource"]
    assert any("NotAction grants" in line for line in found(statement))
    statement = changed(NotResource=TABLE)
    del statement["Resource"]
    assert any("NotResource grants" in line for line in found(statement))


def test_a_missing_version_is_an_error() -> None:
    assert any("variables are text" in line for line in found(ROWS, version=None))
    assert any("variables are text" in line for line in found(ROWS, version="2008-10-17"))


def test_a_key_that_an_action_never_has_is_a_warning() -> None:
    scan = {**NEVER, "Action": ["dynamodb:Scan"], "Condition": {"ForAnyValue:StringLike": {LK: "x*"}}}
    assert found(scan) == [f"warning Never `dynamodb:Scan` never has `{LK}`"]
    complement = {**scan, "NotAction": "s3:*"}
    del complement["Action"]
    assert found(complement) == []


def test_a_trust_policy_without_its_pin_is_an_error() -> None:
    unpinned = {**TRUST, "Condition": {"Bool": {"aws:SecureTransport": "true"}}}
    assert any("without its tenant tag" in line for line in found(unpinned, kind="trust"))
    assert any("sts:TagSession" in line for line in found({**TRUST, "Action": "sts:AssumeRole"}, kind="trust"))
    assert any("trusts every principal" in line for line in found({**TRUST, "Principal": "*"}, kind="trust"))
