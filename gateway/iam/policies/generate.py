"""Generates the policy documents of a model, which Terraform installs, AWS enforces and the gateway evaluates.

The tenants' role and its boundary name the table, its indexes and the rows of the tenant. A session policy defines what
a gateway role may do with them. Session policies name no table, so they are the same for every tenant, including
tenants with a table of their own, and stay far below the size limit of AWS.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_TENANT, ROLE_TAG, TENANT_TAG
from gateway.iam.language.document import VERSION
from gateway.iam.language.grammar import Kind
from gateway.iam.language.policy_text import SESSION_LIMIT, canonical
from gateway.iam.policies.deployment import GATEWAY_ROLE, TABLE, TENANT_ROLE, Deployment, render
from gateway.iam.policies.personal_data import personal_attributes, personal_partitions
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, RETURNING, ROLE_NAMES, ROLES, GatewayRole
from gateway.iam.policies.statements import (
    Clause,
    allow,
    any_table_key,
    deny,
    named,
    never,
    nothing_else,
    own_rows,
    table_key,
)
from gateway.iam.sts.assume_role import ASSUME_ACTIONS
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition

TENANT_FILE: Final = "tenant-role.json"
TRUST_FILE: Final = "tenant-trust.json"
BOUNDARY_FILE: Final = "boundary.json"
GATEWAY_FILE: Final = "gateway-role.json"
ENDPOINT_FILE: Final = "vpc-endpoint.json"

KINDS: Final[dict[str, Kind]] = {
    TENANT_FILE: "identity",
    TRUST_FILE: "trust",
    BOUNDARY_FILE: "boundary",
    **{f"session-{name}.json": "session" for name in ROLE_NAMES},
    GATEWAY_FILE: "identity",
    ENDPOINT_FILE: "endpoint",
}
"""The kind of document in each file."""


def session_file(role: str) -> str:
    return f"session-{role}.json"


def documents(model: Model) -> dict[str, dict[str, Any]]:
    """Documents by file name; they contain tokens, which `gateway.iam.policies.deployment.render` replaces."""
    return {
        TENANT_FILE: _document(*_where(model), table_key(), *never()),
        TRUST_FILE: _document(*_trust()),
        BOUNDARY_FILE: _document(*_where(model), table_key(), nothing_else(named(*ITEM_ACTIONS))),
        **{session_file(role.name): session_document(model, role) for role in ROLES},
        GATEWAY_FILE: _document(*_gateway()),
        ENDPOINT_FILE: _document(_endpoint(model)),
    }


def session_document(model: Model, role: GatewayRole) -> dict[str, Any]:
    return _document(*_session(model, role))


def _document(*clauses: Clause) -> dict[str, Any]:
    return {"Version": VERSION, "Statement": list(clauses)}


def _where(model: Model) -> tuple[Clause, ...]:
    """The rows of the tenant in the table and in each index of the model, which is named: no other index is granted."""
    indexes = [f"{TABLE}/index/{index.name}" for index in model.table.indexes]
    of_table = allow("OwnItems", named(*ITEM_ACTIONS), [TABLE], own_rows())
    return (of_table, allow("OwnIndexRows", named("Query"), indexes, own_rows())) if indexes else (of_table,)


def _session(model: Model, role: GatewayRole) -> tuple[Clause, ...]:
    granted = named(*role.actions)
    clauses = (allow("OwnItems", granted, "*", own_rows()), any_table_key(), nothing_else(granted))
    return clauses if role.sees_personal else (*clauses, *_impersonal(model))


def _impersonal(model: Model) -> tuple[Clause, ...]:
    """IAM checks the attributes that a request names, not those in the answer, so whole items are denied too."""
    hidden, keys = personal_attributes(model), personal_partitions(model)
    if not hidden:
        return ()
    some = {"StringNotEquals": {"dynamodb:Select": ["COUNT", "SPECIFIC_ATTRIBUTES"]}}
    returned = {"StringNotEquals": {"dynamodb:ReturnValues": "NONE"}}
    tenant = TenantId(f"${{{PRINCIPAL_TENANT}}}")
    by_key = {"ForAnyValue:StringLike": {LEADING_KEYS: [partition(tenant, pattern) for pattern in keys]}}
    return (
        deny("NeverPersonal", named("*"), {"ForAnyValue:StringEquals": {"dynamodb:Attributes": list(hidden)}}),
        deny("NeverWholeItems", named(*READS), some),
        deny("NeverReturnedItems", named(*RETURNING), returned),
        *([deny("NeverByPersonalKey", named("*"), by_key)] if keys else []),
    )


def _trust() -> tuple[Clause, ...]:
    """Only the gateway, with one tenant, one known role, and a source identity that CloudTrail records."""
    tenant, role = (f"aws:RequestTag/{tag}" for tag in (TENANT_TAG, ROLE_TAG))
    # At least two characters, like every tenant id: AWS does not document that an empty tag is null.
    tagged = {"StringLike": {tenant: "??*"}, "StringEquals": {role: list(ROLE_NAMES)}}
    present = {tenant: "false"}
    alone = {"ForAllValues:StringEquals": {"aws:TagKeys": [ROLE_TAG, TENANT_TAG]}}
    unlinked = {"aws:TagKeys": "false", "sts:TransitiveTagKeys": "true"}
    return (
        _trusted("GatewayAssumes", ASSUME_ACTIONS[0], {**tagged, "Null": {**present, "sts:SourceIdentity": "false"}}),
        _trusted("OneTenantOneRole", ASSUME_ACTIONS[1], {**tagged, **alone, "Null": {**present, **unlinked}}),
        _trusted("NamesItsTenant", ASSUME_ACTIONS[2]),
    )


def _trusted(sid: str, action: str, condition: Clause | None = None) -> Clause:
    clause = {"Sid": sid, "Effect": "Allow", "Principal": {"AWS": GATEWAY_ROLE}, "Action": action}
    return clause if condition is None else {**clause, "Condition": condition}


def _gateway() -> tuple[Clause, ...]:
    assume = {"Sid": "AssumeTenantRole", "Effect": "Allow", "Action": list(ASSUME_ACTIONS), "Resource": TENANT_ROLE}
    # INVARIANT: the gateway's own role has no permission on data; only tenant sessions do.
    return assume, deny("NoDataOfItsOwn", [*named("*"), "dax:*"])


def _endpoint(model: Model) -> Clause:
    # A gateway endpoint accepts only the principal `*`, so the role is a condition.
    resources = [TABLE, *(f"{TABLE}/index/{index.name}" for index in model.table.indexes)]
    return {
        "Sid": "TenantRoleOnly",
        "Effect": "Allow",
        "Principal": "*",
        "Action": named(*ITEM_ACTIONS),
        "Resource": resources,
        "Condition": {"ArnEquals": {"aws:PrincipalArn": TENANT_ROLE}, "Null": {PRINCIPAL_TENANT: "false"}},
    }


# The size limits of AWS for each kind of document.

LIMITS: Final[Mapping[Kind, int]] = {
    "identity": 10_240,  # all inline policies of a role together
    "trust": 2_048,
    "boundary": 6_144,  # a managed policy
    "session": SESSION_LIMIT,
    "endpoint": 20_480,
}


def lengths(documents: Mapping[str, Mapping[str, Any]], deployment: Deployment) -> dict[str, int]:
    """The length of each document as it is sent: rendered and without white space."""
    return {name: len(canonical(render(document, deployment))) for name, document in documents.items()}


def oversized(documents: Mapping[str, Mapping[str, Any]], deployment: Deployment) -> list[str]:
    """One message for each document that is too long for AWS."""
    return [
        f"{name} has {length} characters in this deployment, AWS accepts {LIMITS[KINDS[name]]}"
        for name, length in lengths(documents, deployment).items()
        if length > LIMITS[KINDS[name]]
    ]
