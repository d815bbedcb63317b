"""The documents that the sandbox enforces, as roles of its account: the shipped text, made for this deployment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.domains import MODEL
from gateway.errors import ConfigurationError
from gateway.iam import trust
from gateway.iam.deployment import Deployment, render_text
from gateway.iam.document import Document, parse
from gateway.iam.errors import PolicyError
from gateway.iam.generate import BOUNDARY_FILE, GATEWAY_FILE, KINDS, TENANT_FILE, TRUST_FILE, documents
from gateway.sandbox.account import Account, Caller, Role, role_holder

TENANT_ROLE = "gateway-tenant"
GATEWAY_ROLE = "gateway"


@dataclass(frozen=True, slots=True)
class Policies:
    """What IAM holds; session policies are not among them, because whoever assumes a role brings its own."""

    tenant: Document
    trust: Document
    boundary: Document
    gateway: Document


def deployment_of(account: str, region: str, table: str) -> Deployment:
    roles = {name: f"arn:aws:iam::{account}:role/{name}" for name in (TENANT_ROLE, GATEWAY_ROLE)}
    return Deployment("aws", region, account, table, roles[TENANT_ROLE], roles[GATEWAY_ROLE])


def read_policies(deployment: Deployment, directory: Path | None = None) -> Policies:
    """From the files of a directory, or as they are generated from the model; every fault of every file at once."""
    made: Mapping[str, Any] = documents(MODEL) if directory is None else {}
    found: dict[str, Document] = {}
    faults: list[str] = []
    for name in (TENANT_FILE, TRUST_FILE, BOUNDARY_FILE, GATEWAY_FILE):
        try:
            text = json.dumps(made[name]) if directory is None else (directory / name).read_text(encoding="utf-8")
            found[name] = parse(render_text(text, deployment), KINDS[name])
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            faults.append(f"policy `{(directory or Path()) / name}`: {error}")
    if faults:
        raise ConfigurationError(faults)
    return Policies(*found.values())


def account_with(deployment: Deployment, policies: Policies) -> Account:
    role = Role(trust.Role(deployment.tenant_role, policies.trust), (policies.tenant,), policies.boundary)
    return Account(deployment.account, deployment.region, {deployment.tenant_role: role})


def gateway_caller(account: Account, policies: Policies) -> Caller:
    return role_holder(account, GATEWAY_ROLE, (policies.gateway,))
