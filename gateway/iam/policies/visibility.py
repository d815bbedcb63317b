"""Which roles can never read an attribute or use an access pattern, as decided by their policies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.pattern_requests import questions
from gateway.iam.policies.policies import Policies, permissions_at
from gateway.iam.policies.roles import ROLE_NAMES
from gateway.model.model import Model
from gateway.model.tenant import partition, tenant_id

# The verdicts do not depend on the deployment or the tenant.
_DEPLOYMENT: Final = Deployment("aws", "eu-west-1", "123456789012", "any-table")
_TENANT: Final = tenant_id("any-tenant")


@dataclass(frozen=True, slots=True)
class Visibility:
    """The roles that can never do something; what is not listed is open to every role."""

    unreadable: Mapping[str, tuple[str, ...]]
    """The roles that may not read an attribute, by the name of the attribute."""
    unasked: Mapping[str, tuple[str, ...]]
    """The roles that may not use an access pattern, by its name."""
    readers_only: tuple[str, ...]
    """Roles that may not write at all."""

    def of_attribute(self, name: str) -> str:
        """A sentence for the schema description; empty if every role may read the attribute."""
        return _sentence(self.unreadable.get(name, ()))

    def of_pattern(self, name: str) -> str:
        return _sentence(self.unasked.get(name, ()))

    def of_writes(self) -> str:
        return _sentence(self.readers_only)


def _sentence(roles: tuple[str, ...]) -> str:
    return f" Not for {' and '.join(f'`{role}`' for role in roles)}." if roles else ""


def visibility(model: Model, policies: Policies) -> Visibility:
    permissions = permissions_at(policies, model)
    roles = {role: permissions(_DEPLOYMENT, _TENANT, role) for role in ROLE_NAMES}
    return Visibility(
        unreadable=_by_name({role: _unreadable(model, permitted) for role, permitted in roles.items()}),
        unasked=_by_name({role: _unasked(model, permitted) for role, permitted in roles.items()}),
        readers_only=tuple(role for role, permitted in roles.items() if not _writes(model, permitted)),
    )


def _unreadable(model: Model, permissions: Permissions) -> set[str]:
    names = {attribute.name for entity in model.entities.values() for attribute in entity.attributes}
    own = partition(_TENANT, "ANY")
    return set(permissions.attributes_denied(names, "GetItem", _DEPLOYMENT.table, leading_key=own))


def _unasked(model: Model, permissions: Permissions) -> set[str]:
    """The requests read only keys, so that a hidden attribute does not hide the whole pattern."""
    keys = (model.table.pk, model.table.sk)
    return {
        question.pattern
        for question in questions(model, _TENANT)
        if not permissions.check(question.operation, question.body(model.table, _DEPLOYMENT.table, keys)).allowed
    }


def _writes(model: Model, permissions: Permissions) -> bool:
    item = {model.table.pk: {"S": partition(_TENANT, "ANY")}, model.table.sk: {"S": "ANY"}}
    return permissions.check("PutItem", {"TableName": _DEPLOYMENT.table, "Item": item}).allowed


def _by_name(by_role: Mapping[str, set[str]]) -> dict[str, tuple[str, ...]]:
    names = sorted(set().union(*by_role.values()))
    return {name: tuple(role for role, denied in by_role.items() if name in denied) for name in names}
