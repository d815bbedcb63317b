"""Who may do what in the environments that Terraform would make, decided by the gateway's own evaluator."""

import json
from typing import Any

import pytest

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.policy_text import canonical
from gateway.iam.language.verdict import Allow, Authorisation
from gateway.iam.policies.deployment import render
from gateway.iam.policies.generate import BOUNDARY_FILE, ENDPOINT_FILE, GATEWAY_FILE, TENANT_FILE, TRUST_FILE
from gateway.iam.sts import trust
from gateway.iam.sts.assume_role import RoleRequest
from tests.terraform.conftest import PlanOf
from tests.terraform.installed_policies import ACCOUNT, REGION, Installed, allowing, installed
from tests.terraform.tool import REPOSITORY

_ENVIRONMENTS = ["dev", "prod", "minimal"]


def _rendered(file: str, documents: Installed) -> str:
    return canonical(render(json.loads((REPOSITORY / "policies" / file).read_text()), documents.deployment))


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_the_documents_are_those_of_policies(name: str, plan_of: PlanOf) -> None:
    found = installed(plan_of(name))
    assert [canonical(each) for each in found.tenant] == [_rendered(TENANT_FILE, found)]
    assert canonical(found.boundary) == _rendered(BOUNDARY_FILE, found)
    assert canonical(found.trust) == _rendered(TRUST_FILE, found)
    assert [canonical(each) for each in found.gateway] == [_rendered(GATEWAY_FILE, found)]


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_a_tenant_reads_its_own_rows_and_no_others(name: str, plan_of: PlanOf) -> None:
    found = installed(plan_of(name))
    assert found.reads("acme", "acme").allowed
    assert not found.reads("acme", "globex").allowed
    # a prefix of another name is not that tenant
    assert not found.reads("acme", "acme-2").allowed
    assert not found.reads("ac", "acme").allowed


def test_nothing_but_rows_of_the_one_table_is_reached(plan_of: PlanOf) -> None:
    permissions = installed(plan_of("prod")).permissions("acme", "admin")
    query = {"KeyConditionExpression": "GSI1PK = :pk", "ExpressionAttributeValues": {":pk": {"S": "TENANT#acme#X"}}}
    for operation, body in (
        ("Scan", {"TableName": "gateway-prod"}),
        ("ExecuteStatement", {"Statement": 'SELECT * FROM "gateway-prod"'}),
        ("DeleteTable", {"TableName": "gateway-prod"}),
        ("ExportTableToPointInTime", {"TableArn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/gateway-prod"}),
        ("Query", {"TableName": "gateway-dev", "IndexName": "GSI1", **query}),
    ):
        assert not permissions.check(operation, body).allowed, operation
    assert permissions.check("Query", {"TableName": "gateway-prod", "IndexName": "GSI1", **query}).allowed


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_the_gateway_itself_reaches_no_data(name: str, plan_of: PlanOf) -> None:
    found = installed(plan_of(name))
    policies = PolicySet(tuple(parse(each, "identity") for each in found.gateway))
    table = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{found.name}"
    for action in ("dynamodb:GetItem", "dynamodb:Scan", "dynamodb:DescribeTable", "dax:GetItem", "s3:GetObject"):
        assert not evaluate(policies, Authorisation(action, table, {})).allowed, action
    assert evaluate(policies, Authorisation("sts:AssumeRole", found.deployment.tenant_role, {})).allowed
    other = f"arn:aws:iam::{ACCOUNT}:role/administrator"
    assert not evaluate(policies, Authorisation("sts:AssumeRole", other, {})).allowed


def _request(found: Installed, **changed: Any) -> RoleRequest:
    given: dict[str, Any] = {
        "role_arn": found.deployment.tenant_role,
        "session_name": "viewer@acme",
        "tags": (("TenantId", "acme"), ("GatewayRole", "viewer")),
        "source_identity": "acme",
        "duration_seconds": 3_600,
    }
    return RoleRequest(**{**given, **changed})


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_only_the_gateway_opens_sessions_and_only_for_a_tenant(name: str, plan_of: PlanOf) -> None:
    found = installed(plan_of(name))
    own = PolicySet(tuple(parse(each, "identity") for each in found.gateway))
    role = trust.AssumableRole(found.deployment.tenant_role, parse(found.trust, "trust"))
    gateway = trust.AssumingCaller(found.deployment.gateway_role, own)
    assert isinstance(trust.assume(_request(found), role, gateway), Allow)
    assert not isinstance(trust.assume(_request(found, tags=()), role, gateway), Allow)
    assert not isinstance(trust.assume(_request(found, source_identity=None), role, gateway), Allow)
    further = (("TenantId", "acme"), ("GatewayRole", "viewer"), ("Other", "x"))
    assert not isinstance(trust.assume(_request(found, tags=further), role, gateway), Allow)
    anyone = parse(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}, "identity"
    )
    stranger = trust.AssumingCaller(f"arn:aws:iam::{ACCOUNT}:role/administrator", PolicySet((anyone,)))
    assert not isinstance(trust.assume(_request(found), role, stranger), Allow)


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_only_the_platform_runs_in_the_gateways_role(name: str, plan_of: PlanOf) -> None:
    roles = plan_of(name).documents("aws_iam_role", "assume_role_policy", "aws_iam_role.gateway")
    (trusted,) = roles.values()
    (statement,) = trusted["Statement"]
    assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


@pytest.mark.parametrize("name", ["dev", "prod", "extras"])
def test_a_service_is_asked_for_its_source_only_where_it_can_show_it(name: str, plan_of: PlanOf) -> None:
    # CloudTrail sends none when it assumes a role, Backup and DAX promise none: a condition would stop them
    tells = {"ecs-tasks.amazonaws.com", "vpc-flow-logs.amazonaws.com"}
    found = set()
    for document in plan_of(name).documents("aws_iam_role", "assume_role_policy").values():
        for statement in document["Statement"]:
            if service := statement["Principal"].get("Service"):
                found.add(service)
                expected = {"StringEquals": {"aws:SourceAccount": ACCOUNT}} if service in tells else None
                assert statement.get("Condition") == expected, service
    assert found >= {"prod": {"cloudtrail.amazonaws.com", "backup.amazonaws.com"}, "extras": {"dax.amazonaws.com"}}.get(
        name, {"ecs-tasks.amazonaws.com"}
    )


def test_the_endpoint_has_the_document_of_policies(plan_of: PlanOf) -> None:
    for name in ("dev", "prod"):
        found = installed(plan_of(name))
        policy = plan_of(name).one("aws_vpc_endpoint", ".dynamodb")["policy"]
        assert canonical(json.loads(policy)) == _rendered(ENDPOINT_FILE, found)


def test_through_the_endpoint_of_sts_only_the_gateway_assumes_only_the_tenants_role(plan_of: PlanOf) -> None:
    plan = plan_of("prod")
    deployment = installed(plan).deployment
    document = plan.documents("aws_vpc_endpoint", "policy", '.interface["sts"]')
    (policy,) = document.values()
    assert allowing(policy, deployment.gateway_role, "sts:AssumeRole", {})
    assert not allowing(policy, deployment.tenant_role, "sts:AssumeRole", {})
    assert not allowing(policy, deployment.gateway_role, "sts:GetSessionToken", {})
    assert {each["Resource"] for each in policy["Statement"]} == {deployment.tenant_role}


def _key_policies(plan_of: PlanOf, name: str = "prod") -> dict[str, dict[str, Any]]:
    found = plan_of(name).documents("aws_kms_key", "policy")
    return {address.rpartition(".")[2].removesuffix("[0]"): policy for address, policy in found.items()}


_THROUGH = {"kms:ViaService": f"dynamodb.{REGION}.amazonaws.com", "kms:CallerAccount": ACCOUNT}
_OF_TABLE = {"kms:EncryptionContext:aws:dynamodb:tableName": "gateway-prod"}


def test_a_tenants_session_uses_the_data_key_through_dynamodb_for_this_table_alone(plan_of: PlanOf) -> None:
    policy = _key_policies(plan_of)["data"]
    role = installed(plan_of("prod")).deployment.tenant_role
    assert allowing(policy, role, "kms:Decrypt", {**_THROUGH, **_OF_TABLE}) == {"TenantsThroughDynamoDB"}
    assert not allowing(policy, role, "kms:Decrypt", {**_OF_TABLE, "kms:CallerAccount": ACCOUNT})
    other = {**_THROUGH, "kms:ViaService": f"secretsmanager.{REGION}.amazonaws.com"}
    assert not allowing(policy, role, "kms:Decrypt", {**other, **_OF_TABLE})
    assert not allowing(policy, role, "kms:Decrypt", _THROUGH)
    assert not allowing(policy, role, "kms:GenerateDataKey", {**_THROUGH, **_OF_TABLE})


def test_the_tenants_own_policies_agree_with_the_key(plan_of: PlanOf) -> None:
    found = installed(plan_of("prod"))
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"
    tags = {"aws:PrincipalTag/TenantId": "acme", "aws:PrincipalTag/GatewayRole": "viewer"}
    policies = found.permissions("acme", "viewer").policies
    assert evaluate(policies, Authorisation("kms:Decrypt", key, {**tags, **_THROUGH, **_OF_TABLE})).allowed
    assert not evaluate(policies, Authorisation("kms:Decrypt", key, {**tags, **_OF_TABLE})).allowed


def test_nobody_uses_the_data_key_directly_not_even_an_administrator(plan_of: PlanOf) -> None:
    policy = _key_policies(plan_of)["data"]
    account = f"arn:aws:iam::{ACCOUNT}:root"
    for action in ("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:CreateGrant"):
        assert not allowing(policy, account, action, {"kms:CallerAccount": ACCOUNT}), action
        assert allowing(policy, account, action, _THROUGH) == {"AccountThroughDynamoDB"}
    # who could not change the policy would have lost the key
    assert allowing(policy, account, "kms:PutKeyPolicy", {}) == {"Administration"}


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_alarms_and_events_can_use_the_key_of_their_topics(name: str, plan_of: PlanOf) -> None:
    policy = _key_policies(plan_of, name)["operations"]
    source = {"aws:SourceAccount": ACCOUNT, "aws:SourceArn": f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:x"}
    for action in ("kms:Decrypt", "kms:GenerateDataKey"):
        assert allowing(policy, "cloudwatch.amazonaws.com", action, source) == {"Alarms"}
        # EventBridge says nothing about its source
        assert allowing(policy, "events.amazonaws.com", action, {}) == {"Events"}
    assert not allowing(policy, "cloudwatch.amazonaws.com", "kms:Decrypt", {**source, "aws:SourceAccount": "9" * 12})
    group = {"kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/gateway/x"}
    assert allowing(policy, f"logs.{REGION}.amazonaws.com", "kms:Encrypt", group) == {"LogGroups"}
    trailed = {"aws:SourceArn": f"arn:aws:cloudtrail:{REGION}:{ACCOUNT}:trail/gateway-prod-audit"}
    found = allowing(policy, "cloudtrail.amazonaws.com", "kms:GenerateDataKey", trailed)
    assert found == ({"Trail"} if name == "prod" else set())


def test_sessions_issued_before_a_time_can_be_revoked_for_all_or_for_one(plan_of: PlanOf) -> None:
    found = installed(plan_of("extras"))

    def reads(tenant: str, hour: str) -> bool:
        return found.reads(tenant, tenant, **{"aws:TokenIssueTime": f"2026-01-31T{hour}:00:00Z"}).allowed

    # all from before ten, those of acme from before twelve
    assert [reads("acme", hour) for hour in ("09", "11", "13")] == [False, False, True]
    assert [reads("globex", hour) for hour in ("09", "11", "13")] == [False, True, True]


def test_policies_that_somebody_attaches_by_hand_are_taken_off(plan_of: PlanOf) -> None:
    plan = plan_of("prod")
    inline = {each["role_name"]: each["policy_names"] for each in plan.of("aws_iam_role_policies_exclusive").values()}
    assert inline == {
        "gateway-prod-eu-west-1-tenant": ["own-rows"],
        "gateway-prod-eu-west-1-gateway": ["gateway-prod-eu-west-1-tenant"],
    }
    attached = plan.of("aws_iam_role_policy_attachments_exclusive").values()
    assert {each["role_name"]: each["policy_arns"] for each in attached} == {role: [] for role in inline}


def test_no_table_has_a_resource_policy(plan_of: PlanOf) -> None:
    for name in ("dev", "prod", "provisioned", "extras", "minimal"):
        assert not plan_of(name).of("aws_dynamodb_resource_policy")


def test_the_role_that_starts_tasks_is_not_the_gateways(plan_of: PlanOf) -> None:
    # what it may do names the secret, which is known after the apply: test_apply reads it back
    names = {values["name"] for values in plan_of("prod").of("aws_iam_role").values()}
    assert {"gateway-prod-eu-west-1-execution", "gateway-prod-eu-west-1-gateway"} <= names
