"""Policies for a sandbox, written by hand, so that a fault in the generated ones cannot hide one of the sandbox."""

import json
from pathlib import Path
from typing import Any

from gateway.iam.language.document import parse
from gateway.iam.policies.generate import kind_of
from gateway.sandbox.aws.policies import AccountPolicies, deployment_of

ACCOUNT = "222233334444"
REGION = "eu-west-1"
TABLE = "gateway-sandbox"
DEPLOYMENT = deployment_of(ACCOUNT, REGION, TABLE)
TENANT_ROLE = f"arn:aws:iam::{ACCOUNT}:role/gateway-tenant"
TABLE_ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{TABLE}"

_RESOURCES = [TABLE_ARN, *(f"{TABLE_ARN}/index/GSI{number}" for number in (1, 2, 3))]
_READS = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"]
_WRITES = ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"]
_OWN = "TENANT#${aws:PrincipalTag/TenantId}#*"
_PRESENT = {"dynamodb:LeadingKeys": "false", "aws:PrincipalTag/TenantId": "false"}
_GATEWAY_ACTIONS = ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"]


def _document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def _allow(**rest: Any) -> dict[str, Any]:
    return {"Effect": "Allow", **rest}


RAW: dict[str, dict[str, Any]] = {
    "tenant-role.json": _document(
        _allow(
            Action=[*_READS, *_WRITES],
            Resource=_RESOURCES,
            Condition={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [_OWN]}, "Null": _PRESENT},
        ),
        {"Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "*"},
    ),
    "tenant-trust.json": _document(
        _allow(
            Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:role/gateway"},
            Action=_GATEWAY_ACTIONS,
            Condition={"Null": {"aws:RequestTag/TenantId": "false"}},
        ),
    ),
    "boundary.json": _document(_allow(Action=[*_READS, *_WRITES], Resource=_RESOURCES)),
    "stream-role.json": _document(_allow(Action="dynamodb:DescribeStream", Resource="*")),
    "gateway-role.json": _document(_allow(Action=_GATEWAY_ACTIONS, Resource=TENANT_ROLE)),
}
VIEWER = json.dumps(_document(_allow(Action=_READS, Resource=_RESOURCES)))
EDITOR = json.dumps(_document(_allow(Action=[*_READS, *_WRITES], Resource=_RESOURCES)))


def policies() -> AccountPolicies:
    return {name: parse(document, kind_of(name)) for name, document in RAW.items()}


def written(directory: Path) -> Path:
    for name, document in RAW.items():
        (directory / name).write_text(json.dumps(document))
    return directory
