"""Which roles can never read an attribute or use an access pattern, as decided by their policies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import Policies, permissions_at
from gateway.iam.policies.roles import GatewayRole, roles_of
from gateway.model.model import Model
from gateway.model.role_reach import SUBJECT
from gateway.model.tenant import partition, tenant_id

# The verdicts do not depend on the deployment or the tenant.
_DEPLOYMENT: Final = Deployment("aws", "eu-west-1", "123456789012", "any-table", bucket="any-bucket")
_TENANT: Final = tenant_id("any-tenant")
_SUBJECT: Final = "any-subject"


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

    def of_attributes(self, names: Iterable[str]) -> str:
        """For a field that needs all of these attributes."""
        denied = {role for name in names for role in self.unreadable.get(name, ())}
        return _sentence(tuple(sorted(denied)))

    def of_pattern(self, name: str) -> str:
        return _sentence(self.unasked.get(name, ()))

    def of_writes(self) -> str:
        return _sentence(self.readers_only)


def _sentence(roles: tuple[str, ...]) -> str:
    return f" Not for {' and '.join(f'`{role}`' for role in roles)}." if roles else ""


def visibility(model: Model, policies: Policies) -> Visibility:
    permissions = permissions_at(policies, model)
    roles = {
        role: permissions(_DEPLOYMENT, _TENANT, role.name, _SUBJECT if role.own else None)
        for role in roles_of(model)
        if not role.acting
    }
    return Visibility(
        unreadable=_by_name({role.name: _unreadable(model, permitted) for role, permitted in roles.items()}),
        unasked=_by_name({role.name: set(model.patterns) - role.patterns for role in roles}),
        readers_only=tuple(role.name for role, permitted in roles.items() if not _writes(model, role, permitted)),
    )


def _unreadable(model: Model, permissions: Permissions) -> set[str]:
    names = {attribute.name for entity in model.entities.values() for attribute in entity.attributes}
    return set(permissions.attributes_denied(names, "GetItem", _DEPLOYMENT.table))


def _writes(model: Model, role: GatewayRole, permissions: Permissions) -> bool:
    path = role.sample_path("PutItem")
    if path is None:
        return False
    item = {model.table.pk: {"S": partition(_TENANT, path.replace(SUBJECT, _SUBJECT))}, model.table.sk: {"S": "ANY"}}
    return permissions.check("PutItem", {"TableName": _DEPLOYMENT.table, "Item": item}).allowed


def _by_name(by_role: Mapping[str, set[str]]) -> dict[str, tuple[str, ...]]:
    names = sorted(set().union(*by_role.values()))
    return {name: tuple(role for role, denied in by_role.items() if name in denied) for name in names}
