"""IAM documents as Terraform installs them, and the questions that are put to them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.demo import MODEL
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.rules import RuleCompiler
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, place_of
from tests.terraform.plan import Plan

ACCOUNT, REGION = "123456789012", "eu-west-1"
TABLE = MODEL.table


@dataclass(frozen=True, slots=True)
class Installed:
    """The documents of one environment."""

    name: str
    tenant: tuple[Mapping[str, Any], ...]
    boundary: Mapping[str, Any]
    trust: Mapping[str, Any]
    gateway: tuple[Mapping[str, Any], ...]

    @property
    def deployment(self) -> Deployment:
        arns = {kind: f"arn:aws:iam::{ACCOUNT}:role/{self.name}-{REGION}-{kind}" for kind in ("tenant", "gateway")}
        return Deployment("aws", REGION, ACCOUNT, self.name, arns["tenant"], arns["gateway"])

    def permissions(self, tenant: str, role: str, **more: Value) -> Permissions:
        policies = PolicySet(
            tuple(parse(text, "identity") for text in self.tenant),
            (generated(MODEL).sessions[role],),
            parse(self.boundary, "boundary"),
        )
        tags: dict[str, Value] = {"aws:PrincipalTag/TenantId": tenant, "aws:PrincipalTag/GatewayRole": role}
        return Permissions(policies, {**tags, **more}, place_of(MODEL, self.deployment))

    def reads(self, tenant: str, owner: str, role: str = "viewer", **more: Value) -> Allow | Deny:
        """Whether a tenant's session may read a row of an owner."""
        key = {TABLE.pk: {"S": f"TENANT#{owner}#USER#1"}, TABLE.sk: {"S": "PROFILE"}}
        return self.permissions(tenant, role, **more).check("GetItem", {"TableName": self.name, "Key": key})


def installed(plan: Plan) -> Installed:
    roles = {values["name"]: values for values in plan.of("aws_iam_role", "module.iam").values()}
    name = next(role.removesuffix(f"-{REGION}-tenant") for role in roles if role.endswith("-tenant"))
    inline = list(plan.of("aws_iam_role_policy", "module.iam").values())
    of = {
        kind: tuple(json.loads(each["policy"]) for each in inline if each["role"] == f"{name}-{REGION}-{kind}")
        for kind in ("tenant", "gateway")
    }
    boundary = json.loads(plan.one("aws_iam_policy", "module.iam")["policy"])
    trust = json.loads(roles[f"{name}-{REGION}-tenant"]["assume_role_policy"])
    return Installed(name, of["tenant"], boundary, trust, of["gateway"])


def allowing(document: Mapping[str, Any], principal: str, action: str, context: Mapping[str, Value]) -> set[str]:
    """The statements of a resource policy, such as that of a key, that allow a principal an action."""
    parsed: PolicyDocument = parse(document, "endpoint")
    lowered = {key.lower(): value for key, value in context.items()}
    return {
        rule.statement.label
        for rule in RuleCompiler().rules(parsed, "endpoint")
        if rule.statement.effect == "Allow"
        and any(named in ("*", principal) for _, named in rule.statement.principals)
        and rule.acts(action.lower())
        and rule.failed(lowered) is None
    }
