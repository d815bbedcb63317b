"""Generates the policy documents of a model, which Terraform installs, AWS enforces and the gateway evaluates.

The tenants' role and its boundary name the table, its indexes and the rows of the tenant. A session policy defines what
a gateway role may do with them. Session policies name no table, so they are the same for every tenant, including
tenants with a table of their own, and stay far below the size limit of AWS.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.errors import ModelError
from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_TENANT, ROLE_TAG, SUBJECT_TAG, TENANT_TAG
from gateway.iam.language.document import VERSION
from gateway.iam.language.grammar import Kind
from gateway.iam.language.policy_text import SESSION_LIMIT, canonical
from gateway.iam.policies.deployment import BUCKET, GATEWAY_ROLE, TABLE, TENANT_ROLE, Deployment, render
from gateway.iam.policies.roles import FILE_ACTIONS, ITEM_ACTIONS, READS, RETURNING, GatewayRole, roles_of
from gateway.iam.policies.statements import (
    OWN_PREFIX,
    Clause,
    allow,
    any_table_key,
    deny,
    granted,
    granted_files,
    named,
    never,
    never_foreign_files,
    nothing_else,
    own_files,
    own_rows,
    stream_reader,
    table_key,
)
from gateway.iam.sts.assume_role import ASSUME_ACTIONS
from gateway.model.files.keys import has_files
from gateway.model.model import Model

TENANT_FILE: Final = "tenant-role.json"
TRUST_FILE: Final = "tenant-trust.json"
BOUNDARY_FILE: Final = "boundary.json"
GATEWAY_FILE: Final = "gateway-role.json"
ENDPOINT_FILE: Final = "vpc-endpoint.json"
STREAM_FILE: Final = "stream-role.json"
FILES_ENDPOINT_FILE: Final = "vpc-endpoint-files.json"
"""Only for models with files, like every statement about them."""

_KINDS: Final[dict[str, Kind]] = {
    TENANT_FILE: "identity",
    TRUST_FILE: "trust",
    BOUNDARY_FILE: "boundary",
    GATEWAY_FILE: "identity",
    ENDPOINT_FILE: "endpoint",
    STREAM_FILE: "identity",
    FILES_ENDPOINT_FILE: "endpoint",
}


def kind_of(name: str) -> Kind:
    """The kind of document in a file; each role of the model has a session policy besides the fixed files."""
    return _KINDS.get(name, "session")


def session_file(role: str) -> str:
    return f"session-{role}.json"


def documents(model: Model) -> dict[str, dict[str, Any]]:
    """Documents by file name; they contain tokens, which `gateway.iam.policies.deployment.render` replaces."""
    roles, files = roles_of(model), has_files(model)
    if faults := size_faults(roles):
        raise ModelError(*faults)
    return {
        TENANT_FILE: _document(*_where(model), table_key(), *never(), *([never_foreign_files()] if files else ())),
        TRUST_FILE: _document(*_trust(roles)),
        BOUNDARY_FILE: _document(
            *_where(model), table_key(), nothing_else([*named(*ITEM_ACTIONS), *(FILE_ACTIONS if files else ())])
        ),
        **{session_file(role.name): session_document(role) for role in roles},
        GATEWAY_FILE: _document(*_gateway(files)),
        ENDPOINT_FILE: _document(_endpoint(model)),
        STREAM_FILE: _document(*stream_reader(TABLE)),
        **({FILES_ENDPOINT_FILE: _document(_files_endpoint())} if files else {}),
    }


def session_document(role: GatewayRole) -> dict[str, Any]:
    return _document(*_session(role))


def _document(*clauses: Clause) -> dict[str, Any]:
    return {"Version": VERSION, "Statement": list(clauses)}


def _where(model: Model) -> tuple[Clause, ...]:
    """The rows of the tenant in the table and in each index of the model, which is named: no other index is granted."""
    indexes = [f"{TABLE}/index/{index.name}" for index in model.table.indexes]
    of_table = allow("OwnItems", named(*ITEM_ACTIONS), [TABLE], own_rows())
    of_indexes = (allow("OwnIndexRows", named("Query"), indexes, own_rows()),) if indexes else ()
    return (of_table, *of_indexes, *((own_files(),) if has_files(model) else ()))


def size_faults(roles: Sequence[GatewayRole]) -> list[str]:
    """A session policy contains no value of a deployment, so its length is known with the model."""
    lengths_of = ((role, len(canonical(session_document(role)))) for role in roles)
    return [
        f"role {role.name}: its session policy has {length:,} characters, AWS takes {SESSION_LIMIT:,}: {_shorter(role)}"
        for role, length in lengths_of
        if length > SESSION_LIMIT
    ]


def _shorter(role: GatewayRole) -> str:
    split = "name patterns instead of entities in `reads`, or declare two roles"
    if not role.hidden:
        return split
    taken = sum(len(name) + len('"",') for name in role.hidden)
    return (
        f"the names of its {len(role.hidden)} hidden attributes take {taken:,} of them; put attributes that belong "
        f"together into one Struct, which has one name, or {split}"
    )


def _session(role: GatewayRole) -> tuple[Clause, ...]:
    actions = [*named(*role.actions), *role.file_actions]
    files = (granted_files(grant, number) for number, grant in enumerate(role.files, 1))
    closed = [deny("NeverConfidential", named("*"), _any_of(role.closed))] if role.closed else []
    return (*map(granted, role.grants), *files, any_table_key(), nothing_else(actions), *_hiding(role), *closed)


def _hiding(role: GatewayRole) -> tuple[Clause, ...]:
    """IAM checks the attributes that a request names, not those in the answer, so whole items are denied too."""
    if not role.hidden:
        return ()
    some = {"StringNotEquals": {"dynamodb:Select": ["COUNT", "SPECIFIC_ATTRIBUTES"]}}
    returned = {"StringNotEquals": {"dynamodb:ReturnValues": "NONE"}}
    returning = [action for action in RETURNING if action in role.actions]
    return (
        deny("NeverHidden", named("*"), {"ForAnyValue:StringEquals": {"dynamodb:Attributes": list(role.hidden)}}),
        deny("NeverWholeItems", named(*READS), some),
        *([deny("NeverReturnedItems", named(*returning), returned)] if returning else []),
        *([deny("NeverByHiddenKey", named("*"), _any_of(role.hidden_paths))] if role.hidden_paths else []),
        *_finding(role),
    )


def _finding(role: GatewayRole) -> Iterator[Clause]:
    """If a hidden attribute is the partition key and the role may find items by it, a read may name only their id."""
    for number, attributes in enumerate(dict.fromkeys(find.attributes for find in role.finds), 1):
        keys = [f"{OWN_PREFIX}{find.path}" for find in role.finds if find.attributes == attributes]
        condition = {
            "ForAnyValue:StringLike": {LEADING_KEYS: keys},
            "ForAnyValue:StringNotEquals": {"dynamodb:Attributes": list(attributes)},
        }
        yield deny(f"OnlyFinds{number if number > 1 else ''}", named("*"), condition)


def _any_of(paths: Sequence[str]) -> Clause:
    """One of the keys is in one of these partitions of the tenant."""
    return {"ForAnyValue:StringLike": {LEADING_KEYS: [f"{OWN_PREFIX}{path}" for path in paths]}}


def _trust(roles: Sequence[GatewayRole]) -> Iterator[Clause]:
    """Only the gateway, with one tenant, one known role, and a source identity that CloudTrail records.

    A session of an own-rows role has a subject as well; no other session has one.
    """
    everyone = [role.name for role in roles]
    shared, own = ([role.name for role in roles if role.own is kind] for kind in (False, True))
    yield _trusted("GatewayAssumes", ASSUME_ACTIONS[0], _tagged(everyone, {"sts:SourceIdentity": "false"}, TENANT_TAG))
    if shared:
        yield _trusted("OneTenantOneRole", ASSUME_ACTIONS[1], _alone(shared, TENANT_TAG))
    if own:
        yield _trusted("OneSubject", ASSUME_ACTIONS[1], _alone(own, TENANT_TAG, SUBJECT_TAG))
    yield _trusted("NamesItsTenant", ASSUME_ACTIONS[2])


def _tagged(roles: Sequence[str], null: Mapping[str, str], *tags: str) -> Clause:
    # At least two characters, like every tenant id: AWS does not document that an empty tag is null.
    texts = {f"aws:RequestTag/{tag}": "??*" if tag == TENANT_TAG else "?*" for tag in tags}
    return {
        "StringLike": texts,
        "StringEquals": {f"aws:RequestTag/{ROLE_TAG}": list(roles)},
        "Null": {**dict.fromkeys(texts, "false"), **null},
    }


def _alone(roles: Sequence[str], *tags: str) -> Clause:
    """The session has these tags and its role, no others, and none that is passed on to another role."""
    unlinked = {"aws:TagKeys": "false", "sts:TransitiveTagKeys": "true"}
    only = {"ForAllValues:StringEquals": {"aws:TagKeys": sorted((ROLE_TAG, *tags))}}
    return {**_tagged(roles, unlinked, *tags), **only}


def _trusted(sid: str, action: str, condition: Clause | None = None) -> Clause:
    clause = {"Sid": sid, "Effect": "Allow", "Principal": {"AWS": GATEWAY_ROLE}, "Action": action}
    return clause if condition is None else {**clause, "Condition": condition}


def _gateway(files: bool) -> tuple[Clause, ...]:
    assume = {"Sid": "AssumeTenantRole", "Effect": "Allow", "Action": list(ASSUME_ACTIONS), "Resource": TENANT_ROLE}
    # INVARIANT: the gateway's own role has no permission on data; only tenant sessions do.
    return assume, deny("NoDataOfItsOwn", [*named("*"), "dax:*", *(["s3:*"] if files else ())])


def _endpoint(model: Model) -> Clause:
    resources = [TABLE, *(f"{TABLE}/index/{index.name}" for index in model.table.indexes)]
    return _tenant_role_only("TenantRoleOnly", named(*ITEM_ACTIONS), resources)


def _files_endpoint() -> Clause:
    return _tenant_role_only("TenantFilesOnly", FILE_ACTIONS, [f"{BUCKET}/*"])


def _tenant_role_only(sid: str, actions: Sequence[str], resources: Sequence[str]) -> Clause:
    # A gateway endpoint accepts only the principal `*`, so the role is a condition.
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": "*",
        "Action": list(actions),
        "Resource": list(resources),
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
        f"{name} has {length} characters in this deployment, AWS accepts {LIMITS[kind_of(name)]}"
        for name, length in lengths(documents, deployment).items()
        if length > LIMITS[kind_of(name)]
    ]
