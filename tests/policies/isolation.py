"""What each shipped document must let through and must stop, judged by itself: no layer may lean on another."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.domains import MODEL
from gateway.iam.deployment import render
from gateway.iam.document import Document, parse
from gateway.iam.errors import PolicyError
from gateway.iam.evaluator import Allow, Authorisation, PolicySet, evaluate
from gateway.iam.generate import ENDPOINT_FILE, GATEWAY_FILE, KINDS, TRUST_FILE
from gateway.iam.lint import lint
from gateway.iam.personal import personal_attributes, personal_partitions
from gateway.iam.review import EVERY_ACTION, review
from gateway.iam.roles import ITEM_ACTIONS, READS, RETURNING
from gateway.iam.trust import Caller, Role, RoleRequest, assume
from gateway.iam.variables import Value
from tests.policies.world import (
    ACCOUNT,
    DEPLOYMENT,
    EVERYTHING,
    GATEWAY_ROLE,
    INDEXES,
    NAME,
    REGION,
    ROLE,
    TABLE,
    TENANT_ROLE,
    alone,
)

Context = dict[str, Value]

OWN_KEYS: tuple[tuple[str, ...], ...] = (
    ("TENANT#acme",),
    ("TENANT#acme#USER#1",),
    ("TENANT#acme#USER#1", "TENANT#acme#ORDER#2"),
)
FOREIGN_KEYS: tuple[tuple[str, ...], ...] = (
    ("TENANT#globex#USER#1",),
    ("TENANT#globex",),
    ("TENANT#acme2#USER#1",),
    ("TENANT#acme2",),
    ("TENANT#acmeUSER#1",),
    ("TENANT#acm#USER#1",),
    ("TENANT#*",),
    ("TENANT#",),
    ("tenant#acme#USER#1",),
    ("TENANT#ACME#USER#1",),
    ("USER#1",),
    ("TENANT#acme#USER#1", "TENANT#globex#USER#1"),
    (*(f"TENANT#acme#USER#{number}" for number in range(99)), "TENANT#acme2#USER#1"),
)
ELSEWHERE = (
    f"{TABLE}2",
    f"{TABLE}/index/GSI9",
    f"{TABLE}2/index/GSI1",
    f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{NAME}",
    f"arn:aws:dynamodb:{REGION}:999999999999:table/{NAME}",
    f"arn:aws-cn:dynamodb:{REGION}:{ACCOUNT}:table/{NAME}",
    f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{NAME}/index/GSI1",
    f"arn:aws:dynamodb:{REGION}:999999999999:table/{NAME}/index/GSI1",
)
_TAGS: Context = {"aws:PrincipalTag/TenantId": "acme", "aws:PrincipalTag/GatewayRole": "viewer"}


@dataclass(frozen=True, slots=True)
class Case:
    allowed: bool
    action: str
    resource: str
    context: Context = field(default_factory=dict)


def faults(name: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Everything that is wrong with a document under this name; nothing for the shipped one."""
    try:
        parsed = parse(render(document, DEPLOYMENT), KINDS[name])
    except PolicyError as error:
        yield f"refused: {error.message}"
        return
    for finding in (*lint(parsed), *review(parsed)):
        yield f"{finding.level}: {finding.statement} {finding.message}"
    if name == TRUST_FILE:
        yield from _trust_faults(parsed)
        return
    judge = _without_principal(document) if name == ENDPOINT_FILE else alone(parsed)
    yield from (_told(case) for case in cases(name) if _allows(judge, case) is not case.allowed)
    if name == GATEWAY_FILE:
        beside = PolicySet((parsed, EVERYTHING))
        data = (Case(False, action, "*") for action in ("dynamodb:GetItem", "dynamodb:Scan", "dax:GetItem"))
        yield from (f"beside a further grant {_told(case)}" for case in data if _allows(beside, case))


def cases(name: str) -> Iterator[Case]:
    match name:
        case "gateway-role.json":
            return gateway_cases()
        case "vpc-endpoint.json":
            return endpoint_cases()
        case "tenant-role.json" | "boundary.json":
            return layer_cases(ITEM_ACTIONS)
    return session_cases(name.removeprefix("session-").removesuffix(".json"))


def _allows(policies: PolicySet, case: Case) -> bool:
    return evaluate(policies, Authorisation(case.action, case.resource, case.context)).allowed


def _told(case: Case) -> str:
    verb = "does not allow" if case.allowed else "allows"
    return f"{verb} {case.action} on {case.resource} with {case.context}"


def asked(action: str, keys: tuple[str, ...] | None, **more: Value) -> Context:
    """The context of a harmless request for keys only."""
    context: Context = {**_TAGS, "dynamodb:Attributes": ("PK", "SK")}
    if keys is not None:
        context["dynamodb:LeadingKeys"] = keys
    if action in READS:
        context["dynamodb:Select"] = "SPECIFIC_ATTRIBUTES"
    if action in RETURNING:
        context["dynamodb:ReturnValues"] = "NONE"
    return context | {f"dynamodb:{name}": value for name, value in more.items()}


def row_cases(granted: tuple[str, ...]) -> Iterator[Case]:
    """Own rows and nobody else's, for every action on every resource that has it."""
    for action in granted:
        name = f"dynamodb:{action}"
        for resource in (TABLE, *(INDEXES if action == "Query" else ())):
            yield from (Case(True, name, resource, asked(action, keys)) for keys in OWN_KEYS)
            yield from (Case(False, name, resource, asked(action, keys)) for keys in (*FOREIGN_KEYS, (), None))
            for keys in (("TENANT#globex",), ("TENANT#globex#USER#1",)):
                yield Case(True, name, resource, asked(action, keys) | {"aws:PrincipalTag/TenantId": "globex"})
            for tag in ("", "globex", None):
                tags: Context = {} if tag is None else {"aws:PrincipalTag/TenantId": tag}
                bare = {key: value for key, value in asked(action, OWN_KEYS[1]).items() if key not in _TAGS}
                yield Case(False, name, resource, {**bare, **tags})


def other_action_cases(granted: tuple[str, ...]) -> Iterator[Case]:
    for action in sorted(EVERY_ACTION - set(granted)):
        for resource in (TABLE, INDEXES[0]):
            yield Case(False, f"dynamodb:{action}", resource, asked(action, OWN_KEYS[1]))
    yield Case(False, "dynamodb:ActionOfNextYear", TABLE, asked("", OWN_KEYS[1]))
    yield Case(False, "s3:GetObject", "arn:aws:s3:::bucket/key", dict(_TAGS))
    yield Case(False, "sts:AssumeRole", TENANT_ROLE, dict(_TAGS))


def key_cases() -> Iterator[Case]:
    """The table's encryption key, through DynamoDB alone."""
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234"
    via: Context = {**_TAGS, "kms:ViaService": f"dynamodb.{REGION}.amazonaws.com"}
    of_table: Context = {**via, "kms:EncryptionContext:aws:dynamodb:tableName": NAME}
    yield Case(True, "kms:Decrypt", key, of_table)
    yield Case(False, "kms:Decrypt", key, {**of_table, "kms:ViaService": f"s3.{REGION}.amazonaws.com"})
    yield Case(False, "kms:Decrypt", key, {name: value for name, value in of_table.items() if name != "kms:ViaService"})
    yield from (Case(False, f"kms:{name}", key, of_table) for name in ("Encrypt", "GenerateDataKey", "CreateGrant"))


def layer_cases(granted: tuple[str, ...]) -> Iterator[Case]:
    """The role and its boundary: rows, and one table in one place."""
    yield from row_cases(granted)
    yield from other_action_cases(granted)
    yield from key_cases()
    for action in granted:
        for resource in (*ELSEWHERE, *(() if action == "Query" else INDEXES)):
            yield Case(False, f"dynamodb:{action}", resource, asked(action, OWN_KEYS[1]))
    own: Context = {"kms:ViaService": f"dynamodb.{REGION}.amazonaws.com", "kms:EncryptionContext:aws:dynamodb:tableName": NAME}
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234"
    yield Case(False, "kms:Decrypt", key, {**own, "kms:EncryptionContext:aws:dynamodb:tableName": "another"})
    yield Case(False, "kms:Decrypt", key, {"kms:ViaService": own["kms:ViaService"]})
    yield Case(False, "kms:Decrypt", key, {**own, "kms:ViaService": "dynamodb.us-east-1.amazonaws.com"})
    yield Case(False, "kms:Decrypt", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1234", own)
    yield Case(False, "kms:Decrypt", f"arn:aws:kms:{REGION}:999999999999:key/1234", own)


def session_cases(role: str) -> Iterator[Case]:
    granted = ROLE[role].actions
    yield from row_cases(granted)
    yield from other_action_cases(granted)
    yield from key_cases()
    yield from attribute_cases(sees_personal=ROLE[role].sees_personal)


def attribute_cases(*, sees_personal: bool) -> Iterator[Case]:
    """Personal attributes in any company, whole items, personal keys; everything else stays readable."""
    keys = OWN_KEYS[1]
    names = {attribute.name for entity in MODEL.entities.values() for attribute in entity.attributes}
    hidden = set(personal_attributes(MODEL))
    for action in READS:
        for name in sorted(names | MODEL.table.reserved):
            allowed = sees_personal or name not in hidden
            for attributes in ((name,), ("PK", "SK", name)):
                yield Case(allowed, f"dynamodb:{action}", TABLE, asked(action, keys, Attributes=attributes))
        for name in sorted(hidden):
            elsewhere = asked(action, keys, Attributes=("PK", name))
            yield Case(sees_personal, f"dynamodb:{action}", ELSEWHERE[0], elsewhere)
        for select in ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"):
            yield Case(sees_personal, f"dynamodb:{action}", TABLE, asked(action, keys, Select=select))
        yield Case(True, f"dynamodb:{action}", TABLE, asked(action, keys, Select="COUNT"))
        for pattern in personal_partitions(MODEL):
            named = f"TENANT#acme#{pattern.replace('*', 'ann@example.com')}"
            for found in ((named,), (keys[0], named)):
                yield Case(sees_personal, f"dynamodb:{action}", INDEXES[0], asked(action, found))
            other = {"aws:PrincipalTag/TenantId": "globex", "dynamodb:LeadingKeys": (named.replace("acme", "globex"),)}
            yield Case(sees_personal, f"dynamodb:{action}", INDEXES[0], asked(action, None) | other)


def gateway_cases() -> Iterator[Case]:
    """The gateway by itself: one role to assume, no data."""
    for action in ("AssumeRole", "TagSession", "SetSourceIdentity"):
        yield Case(True, f"sts:{action}", TENANT_ROLE)
        yield from (Case(False, f"sts:{action}", other) for other in (f"{TENANT_ROLE}2", GATEWAY_ROLE))
    yield from (Case(False, f"sts:{action}", TENANT_ROLE) for action in ("AssumeRoleWithSAML", "GetFederationToken"))
    yield from (Case(False, f"dynamodb:{action}", TABLE) for action in sorted(EVERY_ACTION))
    yield from (Case(False, action, "*") for action in ("dax:GetItem", "s3:GetObject", "iam:PassRole", "kms:Decrypt"))


def endpoint_cases() -> Iterator[Case]:
    """The network's door: the tenants' role, with a tenant, on the table."""
    caller: Context = {**_TAGS, "aws:PrincipalArn": TENANT_ROLE}
    for action in ITEM_ACTIONS:
        yield from (Case(True, f"dynamodb:{action}", resource, caller) for resource in (TABLE, *INDEXES))
        yield from (Case(False, f"dynamodb:{action}", resource, caller) for resource in ELSEWHERE)
    for changed in ({"aws:PrincipalArn": GATEWAY_ROLE}, {"aws:PrincipalArn": ""}, {"aws:PrincipalTag/TenantId": ""}):
        yield Case(False, "dynamodb:GetItem", TABLE, {**caller, **changed})
    for missing in ("aws:PrincipalArn", "aws:PrincipalTag/TenantId"):
        yield Case(False, "dynamodb:GetItem", TABLE, {key: value for key, value in caller.items() if key != missing})
    yield from (Case(False, f"dynamodb:{action}", TABLE, caller) for action in sorted(EVERY_ACTION - set(ITEM_ACTIONS)))


def _without_principal(document: Mapping[str, Any]) -> PolicySet:
    """An endpoint policy as if it were the caller's own: a gateway endpoint takes no principal but `*`."""
    clauses = [{key: value for key, value in one.items() if key != "Principal"} for one in document["Statement"]]
    return PolicySet((parse(render({**document, "Statement": clauses}, DEPLOYMENT), "identity"),))


GOOD_TAGS = (("TenantId", "acme"), ("GatewayRole", "viewer"))


def role_request(**changed: Any) -> RoleRequest:
    given = {"session_name": "viewer@acme", "tags": GOOD_TAGS, "source_identity": "acme", **changed}
    return RoleRequest(TENANT_ROLE, **given)


GOOD_REQUESTS = tuple(role_request(tags=(("TenantId", "acme"), ("GatewayRole", role))) for role in ROLE)
BAD_REQUESTS = {
    "no tags": role_request(tags=()),
    "no tenant": role_request(tags=(("GatewayRole", "viewer"),)),
    "no role": role_request(tags=(("TenantId", "acme"),)),
    "an empty tenant": role_request(tags=(("TenantId", ""), ("GatewayRole", "viewer"))),
    "a tenant of one letter": role_request(tags=(("TenantId", "a"), ("GatewayRole", "viewer"))),
    "an unknown role": role_request(tags=(("TenantId", "acme"), ("GatewayRole", "root"))),
    "a further tag": role_request(tags=(*GOOD_TAGS, ("Team", "x"))),
    "a tag that is carried on": role_request(transitive_tag_keys=("TenantId",)),
    "no source identity": role_request(source_identity=None),
}


def caller(arn: str = GATEWAY_ROLE) -> Caller:
    return Caller(arn, PolicySet((EVERYTHING,)), f"{arn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/1")


STRANGERS = (f"{GATEWAY_ROLE}2", f"arn:aws:iam::{ACCOUNT}:user/somebody", "arn:aws:iam::999999999999:role/gateway")
_STS = ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")
# What each action must refuse by itself; the other two are not even asked about it.
_REFUSED = {
    "sts:AssumeRole": set(BAD_REQUESTS) - {"a further tag", "a tag that is carried on"},
    "sts:TagSession": set(BAD_REQUESTS) - {"no tags", "no source identity"},
    "sts:SetSourceIdentity": set(),
}


def _trust_faults(document: Document) -> Iterator[str]:
    """Each action alone, as if the other two were open to everybody."""
    for action in _STS:
        role = Role(TENANT_ROLE, _only(document, action))
        for request in GOOD_REQUESTS:
            if not _assumed(role, request):
                yield f"{action}: does not trust the gateway with {request.tags}"
        for what in sorted(_REFUSED[action]):
            if _assumed(role, BAD_REQUESTS[what]):
                yield f"{action}: lets a session start with {what}"
        yield from (f"{action}: trusts {arn}" for arn in STRANGERS if _assumed(role, GOOD_REQUESTS[0], arn))


def _assumed(role: Role, request: RoleRequest, arn: str = GATEWAY_ROLE) -> bool:
    return isinstance(assume(request, role, caller(arn)), Allow)


def _only(document: Document, action: str) -> Document:
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


__all__ = ["BAD_REQUESTS", "ENDPOINT_FILE", "GATEWAY_FILE", "GOOD_REQUESTS", "Case", "cases", "faults", "role_request"]
