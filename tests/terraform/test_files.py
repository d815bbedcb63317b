"""The bucket of files: closed to everybody but the tenant below whose prefix they lie."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.ops.policies.files import write_policies
from tests.files.vault import MODEL
from tests.terraform.installed_policies import ACCOUNT, REGION
from tests.terraform.tool import Workspace, workspace

TENANT = f"arn:aws:iam::{ACCOUNT}:role/gateway-x-tenant"
BUCKET = "arn:aws:s3:::gateway-x-files"


def _alone(sources: Path, module: str, account: str) -> Workspace:
    made = workspace(sources, f"modules/{module}", account)
    return replace(made, environment={**made.environment, "AWS_REGION": REGION})


def _allowed(policy: dict[str, Any], action: str, resource: str, **context: str) -> bool:
    """Whether a session that its role allows everything in S3 gets past the bucket's policy."""
    denials = [{key: value for key, value in each.items() if key != "Principal"} for each in policy["Statement"]]
    anything = {"Sid": "Role", "Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    document = parse({**policy, "Statement": [anything, *denials]}, "identity")
    tls = {"aws:SecureTransport": "true", **context}
    return evaluate(PolicySet((document,)), Authorisation(action, resource, tls)).allowed


def test_the_bucket_keeps_tenants_apart_whatever_their_role_may(provider: None, sources: Path, account: str) -> None:
    plan = _alone(sources, "files", account).plan(bucket_name="gateway-x-files", tenant_role_arns=[TENANT])
    (policy,) = plan.documents("aws_s3_bucket_policy", "policy").values()
    acme = {"aws:PrincipalArn": TENANT, "aws:PrincipalTag/TenantId": "acme"}
    assert _allowed(policy, "s3:GetObject", f"{BUCKET}/acme/Paper/scan/p-1/x", **acme)
    assert not _allowed(policy, "s3:GetObject", f"{BUCKET}/acme2/Paper/scan/p-1/x", **acme)
    assert not _allowed(policy, "s3:ListBucket", BUCKET, **acme)
    assert not _allowed(policy, "s3:GetObject", f"{BUCKET}/acme/x", **acme, **{"aws:SecureTransport": "false"})
    assert not _allowed(policy, "s3:GetObject", f"{BUCKET}/acme/x", **{"aws:PrincipalArn": TENANT})
    other = {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/other", "aws:PrincipalTag/TenantId": "acme"}
    assert not _allowed(policy, "s3:GetObject", f"{BUCKET}/acme/x", **other)


def test_the_documents_of_a_model_with_files_name_the_bucket(
    provider: None, sources: Path, account: str, tmp_path: Path
) -> None:
    write_policies(tmp_path / "policies", MODEL)
    given = {"name": "gateway-x", "table_name": "gateway-x", "policies_dir": str(tmp_path / "policies")}
    plan = _alone(sources, "iam", account).plan(**given, bucket_name="gateway-x-files")
    [statement] = json.loads(plan.outputs()["s3_endpoint_statements"])
    assert statement["Resource"] == [f"{BUCKET}/*"]
    rights = json.dumps(list(plan.documents("aws_iam_role_policy", "policy").values()))
    assert f"{BUCKET}/${{aws:PrincipalTag/TenantId}}/*" in rights
