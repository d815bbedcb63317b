"""The permissions of one session, checked before every DynamoDB call."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from gateway.iam.dynamodb import wire
from gateway.iam.dynamodb.condition_keys import PRINCIPAL_SUBJECT, PRINCIPAL_TENANT
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_schemas import TableRegistry
from gateway.iam.dynamodb.partial_evaluation import SUBJECT, TENANT
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.dynamodb.shared_permissions import AttributeQuestion, AttributeRead, SharedPermissions
from gateway.iam.dynamodb.writes import ON_FAILURE, SINGLE_WRITES
from gateway.iam.language.evaluator import PolicySet, decide, lowered, restricts
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Allow, Authorisation, Deny
from gateway.model import role_reach
from gateway.model.tenant import TenantId, partition

_DISCLOSURE: Final = frozenset(("dynamodb:attributes", "dynamodb:returnvalues"))


@dataclass(frozen=True, slots=True, init=False)
class Permissions:
    """Shares everything with sessions of the same policies, except the tags of tenant and subject."""

    shared: SharedPermissions
    tenant: Value | None
    subject: Value | None

    def __init__(self, policies: PolicySet, principal: Mapping[str, Value], place: TableRegistry) -> None:
        """`principal` holds context keys of the caller, such as `aws:PrincipalTag/TenantId`."""
        tags = lowered(principal)
        others = {key: value for key, value in principal.items() if key.lower() not in (TENANT, SUBJECT)}
        object.__setattr__(self, "shared", SharedPermissions(policies, others, place))
        object.__setattr__(self, "tenant", tags.get(TENANT))
        object.__setattr__(self, "subject", tags.get(SUBJECT))

    @classmethod
    def of_tenant(cls, shared: SharedPermissions, tenant: TenantId, subject: str | None = None) -> Self:
        permissions = cls.__new__(cls)
        object.__setattr__(permissions, "shared", shared)
        object.__setattr__(permissions, "tenant", tenant)
        object.__setattr__(permissions, "subject", subject)
        return permissions

    @property
    def policies(self) -> PolicySet:
        return self.shared.policies

    @property
    def place(self) -> TableRegistry:
        return self.shared.place

    @property
    def principal(self) -> dict[str, Value]:
        tags = {PRINCIPAL_TENANT: self.tenant, PRINCIPAL_SUBJECT: self.subject}
        return {**self.shared.principal, **{key: value for key, value in tags.items() if value is not None}}

    @property
    def reader(self) -> str | None:
        """The subject, if the session only sees its own rows: part of every cache key for it."""
        return self.subject if isinstance(self.subject, str) else None

    def foreign(self, index: str | None, partition_key: str) -> bool:
        """Whether the partition belongs to another subject of the tenant, whose rows are treated as missing."""
        owned = self.shared.rows.owned
        if not owned:
            return False
        return self.shared.rows.foreign(index, partition_key.removeprefix(self.own), self.reader or "")

    @property
    def own(self) -> str:
        """The prefix of the tenant's keys; empty without a tenant, and an empty prefix never satisfies a residual."""
        tenant = self.tenant
        return partition(TenantId(tenant), "") if tenant and isinstance(tenant, str) else ""

    @property
    def fingerprint(self) -> str:
        """The hash of the policies; it is part of the key of every cache whose content depends on permissions."""
        return self.policies.fingerprint

    def check(self, operation: str, body: Mapping[str, Any]) -> Allow | Deny:
        """The verdict on a request as it will be sent. Never raises: if deciding fails, the request is denied.

        A request of a known shape is decided by its prepared permission, every other request by the evaluator.
        """
        own, reader = self.own, self.reader
        allow = self.shared.allowed(operation, body, own, reader)
        if allow is not None:
            return allow
        verdict = self._evaluated(operation, body)
        if isinstance(verdict, Allow):
            self.shared.learn(operation, body, own, verdict, reader)
        return verdict

    def check_action(self, action: str, resource: str) -> Allow | Deny:
        """The verdict on an action of another service, such as `s3:GetObject`. Never raises."""
        try:
            return decide(self.policies, action, resource, self._fixed)
        except Exception as error:  # INVARIANT: if deciding fails, the request is denied
            return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=action, resource=resource)

    def _evaluated(self, operation: str, body: Mapping[str, Any]) -> Allow | Deny:
        try:
            return self._check(operation, body)
        except NotUnderstood as error:
            return self._not_understood(error)
        except Exception as error:  # INVARIANT: if deciding fails, the request is denied
            return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=f"dynamodb:{operation}")

    def attributes_denied(
        self,
        names: Iterable[str],
        operation: str,
        table: str,
        *,
        leading_key: str | None = None,
        index: str | None = None,
    ) -> Mapping[str, Deny]:
        """The attributes that this principal may not read, each with its denial.

        `leading_key` is a partition key that the principal may read, by default that of the role's sample. Use one that
        is the same for all tenants after their prefix, so that they share the cached answers.
        """
        own, reader, rows = self.own, self.reader, self.shared.rows
        if leading_key is None:
            leading_key = own + rows.sample.replace(role_reach.SUBJECT, reader or "")
            if rows.sample_index is not None:  # a role that only reads from indexes
                operation, index = "Query", rows.sample_index
        attributes = names if isinstance(names, frozenset) else tuple(names)
        question = AttributeQuestion(operation, table, index, attributes)
        return self.shared.denied(question, leading_key, own, self._probe, reader)

    def _probe(self, read: AttributeRead, leading_key: str) -> Deny | None:
        """Checks a read of one attribute and the keys."""
        action, place, index = f"dynamodb:{read.operation}", self.place, read.index_name
        try:
            table = place.table(read.table)
            keys = (table.keys.pk,) if index is None else table.keys.indexes[index]
            context = wire.leading(*([leading_key] for _ in keys))
            context["dynamodb:Attributes"] = wire.attributes((table.keys.pk,), keys, (read.attribute,))
            context["dynamodb:Select"] = "SPECIFIC_ATTRIBUTES"
            context["dynamodb:ReturnConsumedCapacity"] = "NONE"
            resource = table.arn if index is None else place.index_arn(table.arn, index)
            verdict = _decide(self.policies, self._fixed, Authorisation(action, resource, context))
        except Exception as error:  # INVARIANT: if deciding fails, the request is denied
            return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=action)
        return verdict if isinstance(verdict, Deny) else None

    @property
    def _fixed(self) -> dict[str, Value]:
        tags = {TENANT: self.tenant, SUBJECT: self.subject}
        return {**self.shared.known, **{key: value for key, value in tags.items() if value is not None}}

    def _check(self, operation: str, body: Mapping[str, Any]) -> Allow | Deny:
        needed = authorisations(operation, body, self.place)
        if operation in SINGLE_WRITES and body.get(ON_FAILURE) == "ALL_OLD":
            first = needed[0]
            if restricts(self.policies, first.action, first.resource, _DISCLOSURE):
                reason = f"`{ON_FAILURE}` would return a whole item although a policy restricts attributes"
                return Deny(reason, "request", action=first.action, resource=first.resource)
        granted: list[str] = []
        fixed = self._fixed
        for authorisation in needed:
            verdict = _decide(self.policies, fixed, authorisation)
            if isinstance(verdict, Deny):
                return verdict
            granted.extend(verdict.statements)
        return Allow(tuple(dict.fromkeys(granted)))

    def _not_understood(self, error: NotUnderstood) -> Deny:
        """Always a denial; if a policy denies the action explicitly, that is the reason."""
        if error.action and error.resource:
            verdict = _explicit(self.policies, error.action, error.resource, self._fixed)
            if verdict is not None:
                return verdict
        reason = f"the request is not understood: {error.message}"
        return Deny(reason, "request", action=error.action, resource=error.resource)


def _decide(policies: PolicySet, fixed: dict[str, Value], authorisation: Authorisation) -> Allow | Deny:
    # INVARIANT: the request cannot overwrite the attributes of the principal.
    context = {key.lower(): value for key, value in authorisation.context.items()} | fixed
    return decide(policies, authorisation.action, authorisation.resource, context)


def _explicit(policies: PolicySet, action: str, resource: str, fixed: dict[str, Value]) -> Deny | None:
    try:
        verdict = decide(policies, action, resource, fixed)
    except Exception:  # INVARIANT: if the search for a better reason fails, the denial stays as it is
        return None
    return verdict if isinstance(verdict, Deny) and verdict.explicit else None
