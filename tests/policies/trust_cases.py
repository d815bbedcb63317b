"""Who may assume the tenants' role, and with what: each of the three actions evaluated alone."""

import json
from collections.abc import Iterator
from typing import Any

from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.verdict import Allow
from gateway.iam.sts.assume_role import RoleRequest
from gateway.iam.sts.trust import AssumableRole, AssumingCaller, assume
from tests.policies.fixtures import ACCOUNT, EVERYTHING, GATEWAY_ROLE, ROLE, TENANT_ROLE

GOOD_TAGS = (("TenantId", "acme"), ("GatewayRole", "viewer"))


def role_request(**changed: Any) -> RoleRequest:
    given = {"session_name": "viewer@acme", "tags": GOOD_TAGS, "source_identity": "acme", **changed}
    return RoleRequest(TENANT_ROLE, **given)


def _tags(role: str) -> tuple[tuple[str, str], ...]:
    tags = (("TenantId", "acme"), ("GatewayRole", role))
    return (*tags, ("Subject", "u-1")) if ROLE[role].own else tags


GOOD_REQUESTS = tuple(role_request(tags=_tags(role)) for role in ROLE)
OWN_TAGS = (("TenantId", "acme"), ("GatewayRole", "customer"))
BAD_REQUESTS = {
    "no tags": role_request(tags=()),
    "no tenant": role_request(tags=(("GatewayRole", "viewer"),)),
    "no role": role_request(tags=(("TenantId", "acme"),)),
    "an empty tenant": role_request(tags=(("TenantId", ""), ("GatewayRole", "viewer"))),
    "a tenant of one letter": role_request(tags=(("TenantId", "a"), ("GatewayRole", "viewer"))),
    "an unknown role": role_request(tags=(("TenantId", "acme"), ("GatewayRole", "root"))),
    "a further tag": role_request(tags=(*GOOD_TAGS, ("Team", "x"))),
    "a subject of a role that has none": role_request(tags=(*GOOD_TAGS, ("Subject", "u-1"))),
    "no subject of a role of own rows": role_request(tags=OWN_TAGS),
    "an empty subject": role_request(tags=(*OWN_TAGS, ("Subject", ""))),
    "a further tag beside the subject": role_request(tags=(*OWN_TAGS, ("Subject", "u-1"), ("Team", "x"))),
    "a subject without a tenant": role_request(tags=(("GatewayRole", "customer"), ("Subject", "u-1"))),
    "a subject with a tenant of one letter": role_request(
        tags=(("TenantId", "a"), ("GatewayRole", "customer"), ("Subject", "u-1"))
    ),
    "a subject that is carried on": role_request(
        tags=(*OWN_TAGS, ("Subject", "u-1")), transitive_tag_keys=("Subject",)
    ),
    "a tag that is carried on": role_request(transitive_tag_keys=("TenantId",)),
    "no source identity": role_request(source_identity=None),
}


def caller(arn: str = GATEWAY_ROLE) -> AssumingCaller:
    return AssumingCaller(
        arn, PolicySet((EVERYTHING,)), f"{arn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/1"
    )


STRANGERS = (f"{GATEWAY_ROLE}2", f"arn:aws:iam::{ACCOUNT}:user/somebody", "arn:aws:iam::999999999999:role/gateway")
_STS = ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")
# What each action must refuse by itself; the other two are not even asked about it.
_REFUSED = {
    "sts:AssumeRole": {
        *("no tags", "no tenant", "no role", "an empty tenant", "a tenant of one letter", "an unknown role"),
        *("no source identity", "a subject without a tenant", "a subject with a tenant of one letter"),
    },
    "sts:TagSession": set(BAD_REQUESTS) - {"no tags", "no source identity"},
    "sts:SetSourceIdentity": set(),
}


def trust_faults(document: PolicyDocument) -> Iterator[str]:
    """Each action alone, as if the other two were open to everybody."""
    for action in _STS:
        role = AssumableRole(TENANT_ROLE, _only(document, action))
        for request in GOOD_REQUESTS:
            if not _assumed(role, request):
                yield f"{action}: does not trust the gateway with {request.tags}"
        for what in sorted(_REFUSED[action]):
            if _assumed(role, BAD_REQUESTS[what]):
                yield f"{action}: lets a session start with {what}"
        for request in GOOD_REQUESTS:
            yield from (f"{action}: trusts {arn}" for arn in STRANGERS if _assumed(role, request, arn))


def _assumed(role: AssumableRole, request: RoleRequest, arn: str = GATEWAY_ROLE) -> bool:
    return isinstance(assume(request, role, caller(arn)), Allow)


def _only(document: PolicyDocument, action: str) -> PolicyDocument:
    raw = json.loads(document.text)
    others = [name for name in _STS if name != action]
    listed = [
        clause
        for clause in raw["Statement"]
        if "NotAction" in clause or not set(others) & set(_listed(clause.get("Action", [])))
    ]
    open_to_all = {"Sid": "Others", "Effect": "Allow", "Principal": "*", "Action": others}
    return parse({**raw, "Statement": [*listed, open_to_all]}, "trust")


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
