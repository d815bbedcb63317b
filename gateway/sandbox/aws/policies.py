"""The policies that the sandbox enforces, as roles of its account, rendered for its deployment."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.errors import ConfigurationError
from gateway.iam.language.document import VERSION, PolicyDocument, parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.policies.deployment import Deployment, render_text
from gateway.iam.policies.generate import (
    BOUNDARY_FILE,
    GATEWAY_FILE,
    STREAM_FILE,
    TENANT_FILE,
    TRUST_FILE,
    documents,
    kind_of,
)
from gateway.iam.sts import trust
from gateway.model.model import Model
from gateway.sandbox.aws.account import Account, AccountRole, KeyHolder, role_holder

TENANT_ROLE = "gateway-tenant"
STREAM_ROLE = "gateway-stream"
GATEWAY_ROLE = "gateway"


_STORED = (TENANT_FILE, TRUST_FILE, BOUNDARY_FILE, GATEWAY_FILE, STREAM_FILE)
AccountPolicies = Mapping[str, PolicyDocument]
"""The policies stored in IAM, by file. Session policies are not among them, because the caller of AssumeRole sends its
own."""


def deployment_of(account: str, region: str, table: str) -> Deployment:
    roles = {name: f"arn:aws:iam::{account}:role/{name}" for name in (TENANT_ROLE, GATEWAY_ROLE)}
    return Deployment("aws", region, account, table, roles[TENANT_ROLE], roles[GATEWAY_ROLE], files_bucket(table))


def files_bucket(table: str) -> str:
    """The bucket of the files; a table may have letters in its name that a bucket may not."""
    return "".join(char if char.isalnum() else "-" for char in table.lower())[:57].strip("-") + "-files"


def read_policies(deployment: Deployment, model: Model, directory: Path | None = None) -> AccountPolicies:
    """Reads a directory, or generates the policies from the model. Reports every fault of every file at once."""
    generated: Mapping[str, Any] = documents(model) if directory is None else {}
    parsed: dict[str, PolicyDocument] = {}
    faults: list[str] = []
    for name in _STORED:
        try:
            text = json.dumps(generated[name]) if directory is None else (directory / name).read_text(encoding="utf-8")
            parsed[name] = parse(render_text(text, deployment), kind_of(name))
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            faults.append(f"policy `{(directory or Path()) / name}`: {error}")
    if faults:
        raise ConfigurationError(faults)
    return parsed


def account_with(deployment: Deployment, policies: AccountPolicies) -> Account:
    trusted = trust.AssumableRole(deployment.tenant_role, policies[TRUST_FILE])
    role = AccountRole(trusted, (policies[TENANT_FILE],), policies[BOUNDARY_FILE])
    trusted = trust.AssumableRole(stream_role(deployment), _reader_trust(deployment))
    reader = AccountRole(trusted, (policies[STREAM_FILE],))
    roles = {deployment.tenant_role: role, stream_role(deployment): reader}
    return Account(deployment.account, deployment.region, roles)


def stream_role(deployment: Deployment) -> str:
    return f"arn:{deployment.partition}:iam::{deployment.account}:role/{STREAM_ROLE}"


def _reader_trust(deployment: Deployment) -> PolicyDocument:
    principal = {"AWS": deployment.gateway_role}
    clause = {"Sid": "Inside", "Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    return parse({"Version": VERSION, "Statement": [clause]}, "trust")


def gateway_caller(account: Account, deployment: Deployment, policies: AccountPolicies) -> KeyHolder:
    """The sandbox's gateway reads the stream inside its process, so it may assume that role too."""
    clause = {"Sid": "Inside", "Effect": "Allow", "Action": "sts:AssumeRole", "Resource": stream_role(deployment)}
    inside = parse({"Version": VERSION, "Statement": [clause]}, "identity")
    return role_holder(account, GATEWAY_ROLE, (policies[GATEWAY_FILE], inside))
