"""The shipped policies, and the permissions that they give a tenant's session."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from gateway.iam.dynamodb.condition_keys import ROLE_TAG
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, documents, kind_of, session_file
from gateway.iam.policies.roles import owned_partitions, role_names, roles_of
from gateway.model.model import Model
from gateway.model.tenant import TenantId


class PermissionsAt(Protocol):
    """The permissions of a tenant's session; `subject` is None unless the role only sees its own rows."""

    def __call__(
        self, deployment: Deployment, tenant: TenantId, role: str, subject: str | None = None
    ) -> Permissions: ...


_KEPT: Final = 1_024


@dataclass(frozen=True, slots=True)
class Policies:
    """`documents` contain tokens; `sessions` are the session policies by role, strongest role first."""

    documents: Mapping[str, Mapping[str, Any]]
    sessions: Mapping[str, PolicyDocument]

    def document(self, name: str, deployment: Deployment) -> PolicyDocument:
        return document(self.documents, name, deployment)

    def policy_set(self, role: str, deployment: Deployment) -> PolicySet:
        """The three layers of a session in this role."""
        return PolicySet(
            identity=(self.document(TENANT_FILE, deployment),),
            session=(self.sessions[role],),
            boundary=self.document(BOUNDARY_FILE, deployment),
        )


def document(documents: Mapping[str, Mapping[str, Any]], name: str, deployment: Deployment) -> PolicyDocument:
    """One document, rendered and parsed."""
    return parse(render(documents[name], deployment), kind_of(name))


def policies_of(model: Model, texts: Mapping[str, Mapping[str, Any]]) -> Policies:
    """The policies of these documents; raises `PolicyError` if one of them is not valid."""
    return Policies(texts, {role: parse(texts[session_file(role)], "session") for role in role_names(model)})


@lru_cache(maxsize=8)
def generated(model: Model) -> Policies:
    """Parsed once: a process that starts needs them for the schema, for its checks and for the sessions."""
    return policies_of(model, documents(model))


def place_of(model: Model, deployment: Deployment) -> TableRegistry:
    keys = KeySchema(model.table.pk, {index.name: (index.pk,) for index in model.table.indexes})
    return TableRegistry(deployment.region, deployment.account, deployment.partition, {deployment.table: keys})


def permissions_at(policies: Policies, model: Model) -> PermissionsAt:
    """Policies are compiled once for each deployment and role; sessions share them and differ only in their tags."""
    roles = {role.name: role for role in roles_of(model)}

    @lru_cache(maxsize=_KEPT)
    def shared(deployment: Deployment, role: str) -> SharedPermissions:
        tags = {f"aws:PrincipalTag/{ROLE_TAG}": role}
        named = {"aws:PrincipalArn": deployment.tenant_role} if deployment.tenant_role else {}
        place = place_of(model, deployment)
        rows = owned_partitions(roles[role])
        return SharedPermissions(policies.policy_set(role, deployment), {**tags, **named}, place, rows)

    def permissions(deployment: Deployment, tenant: TenantId, role: str, subject: str | None = None) -> Permissions:
        return Permissions.of_tenant(shared(deployment, role), tenant, subject)

    return permissions
