"""A role of IAM with every policy that is attached to it, as IAM holds them."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from gateway.ops.audit.facts import RoleFacts, Statements, UnknownFact
from gateway.ops.audit.gather.account import FactUnavailable, Live


def role_facts(live: Live, arn: str | None, option: str) -> RoleFacts:
    """`option` is the one that would have named the role."""
    live.expect("iam")
    if arn is None:
        # INVARIANT: a role that is not named is unknown, and never passes.
        raise FactUnavailable(UnknownFact("the role is not named", f"give `{option}`"))
    name = arn.rpartition("/")[2]
    role = live.call("iam", "get_role", RoleName=name)["Role"]
    if role["Arn"] != arn:
        raise FactUnavailable(UnknownFact(f"the audited account has `{role['Arn']}`, not `{arn}`"))
    return RoleFacts(
        arn=arn,
        trust=document(role.get("AssumeRolePolicyDocument", {})),
        policies={**_inline(live, name), **_attached(live, name)},
        boundary=_boundary(live, role),
        longest_session=role.get("MaxSessionDuration", 3_600),
    )


def document(policy: Any) -> Statements:
    """boto3 hands out some policies decoded and some as text."""
    if isinstance(policy, str):
        try:
            policy = json.loads(unquote(policy) if policy.startswith("%") else policy)
        except ValueError:
            return {}
    return policy if isinstance(policy, dict) else {}


def _inline(live: Live, role: str) -> dict[str, Statements]:
    names = live.pages("iam", "list_role_policies", "PolicyNames", RoleName=role)
    return {
        name: document(live.call("iam", "get_role_policy", RoleName=role, PolicyName=name)["PolicyDocument"])
        for name in names
    }


def _attached(live: Live, role: str) -> dict[str, Statements]:
    policies = live.pages("iam", "list_attached_role_policies", "AttachedPolicies", RoleName=role)
    return {policy["PolicyName"]: _managed(live, policy["PolicyArn"]) for policy in policies}


def _boundary(live: Live, role: Mapping[str, Any]) -> Statements | None:
    arn = role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn")
    return None if arn is None else _managed(live, arn)


def _managed(live: Live, arn: str) -> Statements:
    version = live.call("iam", "get_policy", PolicyArn=arn)["Policy"]["DefaultVersionId"]
    answer = live.call("iam", "get_policy_version", PolicyArn=arn, VersionId=version)
    return document(answer["PolicyVersion"]["Document"])
