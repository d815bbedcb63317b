"""The shipped policies, and the permissions that they give a tenant's session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from gateway.iam.dynamodb.condition_keys import ROLE_TAG
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import BOUNDARY_FILE, KINDS, TENANT_FILE, documents, session_file
from gateway.iam.policies.roles import ROLE_NAMES
from gateway.model.model import Model
from gateway.model.tenant import TenantId

PermissionsAt = Callable[[Deployment, TenantId, str], Permissions]

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
    """One document, rendered and parsed; a file that `KINDS` does not list is a session policy."""
    return parse(render(documents[name], deployment), KINDS.get(name, "session"))


def policies_of(texts: Mapping[str, Mapping[str, Any]]) -> Policies:
    """The policies of these documents; raises `PolicyError` if one of them is not valid."""
    return Policies(texts, {role: parse(texts[session_file(role)], "session") for role in ROLE_NAMES})


def generated(model: Model) -> Policies:
    return policies_of(documents(model))


def place_of(model: Model, deployment: Deployment) -> TableRegistry:
    keys = KeySchema(model.table.pk, {index.name: (index.pk,) for index in model.table.indexes})
    return TableRegistry(deployment.region, deployment.account, deployment.partition, {deployment.table: keys})


def permissions_at(policies: Policies, model: Model) -> PermissionsAt:
    """Policies are compiled once for each deployment and role; tenants share them and differ only in their tag."""

    @lru_cache(maxsize=_KEPT)
    def shared(deployment: Deployment, role: str) -> SharedPermissions:
        tags = {f"aws:PrincipalTag/{ROLE_TAG}": role}
        named = {"aws:PrincipalArn": deployment.tenant_role} if deployment.tenant_role else {}
        return SharedPermissions(policies.policy_set(role, deployment), {**tags, **named}, place_of(model, deployment))

    def permissions(deployment: Deployment, tenant: TenantId, role: str) -> Permissions:
        return Permissions.of_tenant(shared(deployment, role), tenant)

    return permissions
