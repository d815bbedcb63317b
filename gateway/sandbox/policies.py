"""The documents that the sandbox enforces, as roles of its account."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ConfigurationError
from gateway.iam import trust
from gateway.iam.document import Document, parse
from gateway.iam.errors import PolicyError
from gateway.iam.statement import Kind
from gateway.sandbox.account import Account, Caller, Role, role_holder

TENANT_ROLE = "gateway-tenant"
GATEWAY_ROLE = "gateway"

_FILES: Mapping[str, Kind] = {
    "tenant-role.json": "identity",
    "tenant-trust.json": "trust",
    "boundary.json": "boundary",
    "gateway-role.json": "identity",
}


@dataclass(frozen=True, slots=True)
class Policies:
    tenant: Document
    trust: Document
    boundary: Document
    gateway: Document


def read_policies(directory: Path) -> Policies:
    """Every fault of every file at once."""
    found: dict[str, Document] = {}
    faults: list[str] = []
    for name, kind in _FILES.items():
        try:
            found[name] = parse((directory / name).read_text(), kind)
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            faults.append(f"policy file `{directory / name}`: {error}")
    if faults:
        raise ConfigurationError(faults)
    return Policies(*found.values())


def account_with(number: str, region: str, policies: Policies) -> Account:
    arn = f"arn:aws:iam::{number}:role/{TENANT_ROLE}"
    role = Role(trust.Role(arn, policies.trust), (policies.tenant,), policies.boundary)
    return Account(number, region, (role,))


def gateway_caller(account: Account, policies: Policies) -> Caller:
    return role_holder(account, GATEWAY_ROLE, (policies.gateway,))
