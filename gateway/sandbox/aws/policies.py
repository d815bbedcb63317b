"""The policies that the sandbox enforces, as roles of its account, rendered for its deployment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import ConfigurationError
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.policies.deployment import Deployment, render_text
from gateway.iam.policies.generate import BOUNDARY_FILE, GATEWAY_FILE, TENANT_FILE, TRUST_FILE, documents, kind_of
from gateway.iam.sts import trust
from gateway.model.model import Model
from gateway.sandbox.aws.account import Account, AccountRole, KeyHolder, role_holder

TENANT_ROLE = "gateway-tenant"
GATEWAY_ROLE = "gateway"


@dataclass(frozen=True, slots=True)
class AccountPolicies:
    """The policies stored in IAM. Session policies are not among them: whoever assumes a role sends its own."""

    tenant: PolicyDocument
    trust: PolicyDocument
    boundary: PolicyDocument
    gateway: PolicyDocument


def deployment_of(account: str, region: str, table: str) -> Deployment:
    roles = {name: f"arn:aws:iam::{account}:role/{name}" for name in (TENANT_ROLE, GATEWAY_ROLE)}
    return Deployment("aws", region, account, table, roles[TENANT_ROLE], roles[GATEWAY_ROLE])


def read_policies(deployment: Deployment, model: Model, directory: Path | None = None) -> AccountPolicies:
    """Reads a directory, or generates the policies from the model. Reports every fault of every file at once."""
    made: Mapping[str, Any] = documents(model) if directory is None else {}
    found: dict[str, PolicyDocument] = {}
    faults: list[str] = []
    for name in (TENANT_FILE, TRUST_FILE, BOUNDARY_FILE, GATEWAY_FILE):
        try:
            text = json.dumps(made[name]) if directory is None else (directory / name).read_text(encoding="utf-8")
            found[name] = parse(render_text(text, deployment), kind_of(name))
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            faults.append(f"policy `{(directory or Path()) / name}`: {error}")
    if faults:
        raise ConfigurationError(faults)
    return AccountPolicies(*found.values())


def account_with(deployment: Deployment, policies: AccountPolicies) -> Account:
    role = AccountRole(
        trust.AssumableRole(deployment.tenant_role, policies.trust), (policies.tenant,), policies.boundary
    )
    return Account(deployment.account, deployment.region, {deployment.tenant_role: role})


def gateway_caller(account: Account, policies: AccountPolicies) -> KeyHolder:
    return role_holder(account, GATEWAY_ROLE, (policies.gateway,))
