"""Modules by themselves, for what the environments do not use: silos, and the rights of a DAX cluster."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.model.model import Model
from gateway.model.table import Index
from tests.terraform.installed_policies import ACCOUNT, REGION
from tests.terraform.tool import Failed, Workspace, workspace

_THROUGH = {"kms:ViaService": f"dynamodb.{REGION}.amazonaws.com", "kms:CallerAccount": ACCOUNT}
_OF_TABLE = {"kms:EncryptionContext:aws:dynamodb:tableName": "gateway-prod"}


def _alone(sources: Path, module: str, account: str) -> Workspace:
    made = workspace(sources, f"modules/{module}", account)
    return replace(made, environment={**made.environment, "AWS_REGION": REGION})


def test_a_silos_role_passes_the_endpoint_to_tables_of_its_own_account(
    provider: None, sources: Path, account: str
) -> None:
    silo, table = "arn:aws:iam::210987654321:role/silo-tenant", "table/silo"
    module = _alone(sources, "iam", account)
    plan = module.plan(name="gateway-prod", table_name="gateway-prod", further_tenant_role_arns=[silo])
    policy = json.loads(plan.outputs()["dynamodb_endpoint_policy"])
    tagged = {"aws:PrincipalTag/TenantId": "acme"}
    for role, owner, passes in ((silo, "210987654321", True), (silo, ACCOUNT, False), (f"{silo}-2", ACCOUNT, False)):
        request = Authorisation(
            "dynamodb:GetItem",
            f"arn:aws:dynamodb:{REGION}:{owner}:{table}",
            {"aws:PrincipalArn": role, **tagged},
        )
        document = parse({**policy, "Statement": [_unprincipled(each) for each in policy["Statement"]]}, "identity")
        assert evaluate(PolicySet((document,)), request).allowed is passes
    assert {each["Sid"] for each in policy["Statement"]} >= {"TenantRoleOnly"}


def test_a_dax_cluster_can_read_a_table_that_is_encrypted_and_nothing_else(
    provider: None, sources: Path, account: str
) -> None:
    table, key = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/gateway-prod", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
    module = _alone(sources, "dax", account)
    variables = {"table_arn": table, "kms_key_arn": key, "vpc_id": "vpc-1", "subnet_ids": ["subnet-1"]}
    plan = module.plan(name="reports", accept_no_tenant_isolation=True, **variables)
    (document,) = plan.documents("aws_iam_role_policy", "policy").values()
    cluster = PolicySet((parse(document, "identity"),))
    assert evaluate(cluster, Authorisation("dynamodb:GetItem", table, {})).allowed
    assert not evaluate(cluster, Authorisation("dynamodb:PutItem", table, {})).allowed
    assert evaluate(cluster, Authorisation("kms:Decrypt", key, {**_THROUGH, **_OF_TABLE})).allowed
    assert not evaluate(cluster, Authorisation("kms:Decrypt", key, _OF_TABLE)).allowed


def _unprincipled(statement: dict[str, Any]) -> dict[str, Any]:
    """The evaluator knows no endpoints; without its principal a statement reads as one of an identity."""
    return {key: value for key, value in statement.items() if key != "Principal"}


def test_more_silos_than_a_role_can_hold_are_refused(provider: None, sources: Path, account: str) -> None:
    silos = [f"arn:aws:iam::{ACCOUNT}:role/silo-{number}" for number in range(31)]
    with pytest.raises(Failed) as refused:
        _alone(sources, "iam", account).plan(name="gateway-x", table_name="gateway-x", further_tenant_role_arns=silos)
    assert "enough for 30 silos" in " ".join(str(refused.value).split())


def test_a_table_gets_its_local_indexes(provider: None, sources: Path, account: str) -> None:
    domain = replace(MODEL.domains[-1], indexes=(*MODEL.domains[-1].indexes, Index("LSI1", local=True)))
    model = Model(domains=(*MODEL.domains[:-1], domain))
    plan = _alone(sources, "table", account).plan(name="gateway-prod", definition=model.table.terraform_inputs())
    table = plan.one("aws_dynamodb_table")
    assert [(each["name"], each["range_key"]) for each in table["local_secondary_index"]] == [("LSI1", "LSI1SK")]
    assert "LSI1" not in {each["name"] for each in table["global_secondary_index"]}
