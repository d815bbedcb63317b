"""What a document must let through and must stop, as questions to it alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from gateway.demo import MODEL
from gateway.iam.language.variables import Value
from gateway.iam.policies.hidden_data import hidden_partitions, personal_attributes
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, RETURNING
from gateway.model.model import Model
from gateway.model.role import Role
from tests.policies.declared_meaning import may, paths
from tests.policies.fixtures import ACCOUNT, GATEWAY_ROLE, INDEXES, NAME, REGION, ROLE, TABLE, TENANT_ROLE

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


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Kept, because a thousand mutants are asked the same."""
    match name:
        case "gateway-role.json":
            return tuple(gateway_cases())
        case "stream-role.json":
            return tuple(stream_cases())
        case "vpc-endpoint.json":
            return tuple(endpoint_cases())
        case "tenant-role.json" | "boundary.json":
            return tuple(layer_cases(ITEM_ACTIONS))
    return tuple(session_cases(name.removeprefix("session-").removesuffix(".json")))


def context_of(action: str, keys: tuple[str, ...] | None, **more: Value) -> Context:
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
            yield from (Case(True, name, resource, context_of(action, keys)) for keys in OWN_KEYS)
            yield from (Case(False, name, resource, context_of(action, keys)) for keys in (*FOREIGN_KEYS, (), None))
            for keys in (("TENANT#globex",), ("TENANT#globex#USER#1",)):
                yield Case(True, name, resource, context_of(action, keys) | {"aws:PrincipalTag/TenantId": "globex"})
            for tag in ("", "globex", None):
                tags: Context = {} if tag is None else {"aws:PrincipalTag/TenantId": tag}
                bare = {key: value for key, value in context_of(action, OWN_KEYS[1]).items() if key not in _TAGS}
                yield Case(False, name, resource, {**bare, **tags})


def other_action_cases(granted: tuple[str, ...]) -> Iterator[Case]:
    for action in sorted(EVERY_ACTION - set(granted)):
        for resource in (TABLE, INDEXES[0]):
            yield Case(False, f"dynamodb:{action}", resource, context_of(action, OWN_KEYS[1]))
    yield Case(False, "dynamodb:ActionOfNextYear", TABLE, context_of("", OWN_KEYS[1]))
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
            yield Case(False, f"dynamodb:{action}", resource, context_of(action, OWN_KEYS[1]))
    yield from table_key_cases()


def table_key_cases() -> Iterator[Case]:
    """The key of this table, and of no other table, region or account."""
    own: Context = {
        "kms:ViaService": f"dynamodb.{REGION}.amazonaws.com",
        "kms:EncryptionContext:aws:dynamodb:tableName": NAME,
    }
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234"
    yield Case(False, "kms:Decrypt", key, {**own, "kms:EncryptionContext:aws:dynamodb:tableName": "another"})
    yield Case(False, "kms:Decrypt", key, {"kms:ViaService": own["kms:ViaService"]})
    yield Case(False, "kms:Decrypt", key, {**own, "kms:ViaService": "dynamodb.us-east-1.amazonaws.com"})
    yield Case(False, "kms:Decrypt", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1234", own)
    yield Case(False, "kms:Decrypt", f"arn:aws:kms:{REGION}:999999999999:key/1234", own)


def session_cases(role: str) -> Iterator[Case]:
    whole = tuple(action for grant in ROLE[role].grants if grant.paths is None for action in grant.actions)
    yield from row_cases(whole)
    yield from other_action_cases(ROLE[role].actions)
    yield from key_cases()
    yield from partition_cases(MODEL, MODEL.all_roles[role], () if whole else ROLE[role].actions)
    if whole:
        yield from partition_cases(MODEL, MODEL.all_roles[role], tuple(set(ROLE[role].actions) - set(whole)))
        found = {find.path: find.attributes for find in ROLE[role].finds}
        yield from attribute_cases(sees_personal=not ROLE[role].hidden, finds=tuple(found))
        yield from (case for path, names in found.items() for case in find_cases(path, names))
    yield from closed_cases(role)


def partition_cases(model: Model, role: Role, actions: Sequence[str]) -> Iterator[Case]:
    """Every partition of the model, on the table and on every index, for its owner, for others and for nobody."""
    subjects: tuple[Context, ...] = ({"aws:PrincipalTag/Subject": "u-1"}, {}, {"aws:PrincipalTag/Subject": ""})
    everywhere = {path: None for _, path in paths(model)}
    places: dict[str | None, str] = {
        None: TABLE,
        **{index.name: f"{TABLE}/index/{index.name}" for index in model.table.indexes},
    }
    for action in sorted(actions):
        for index, resource in places.items() if action == "Query" else [(None, TABLE)]:
            for subject in subjects:
                name = str(subject.get("aws:PrincipalTag/Subject", "")) or None
                allowed = {path: may(model, role, action, index, path, name) for path in everywhere}
                yield from _partition_cases(action, resource, subject, allowed)


def _partition_cases(action: str, resource: str, subject: Context, allowed: Mapping[str, bool]) -> Iterator[Case]:
    name = f"dynamodb:{action}"
    for path, expected in allowed.items():
        yield Case(expected, name, resource, context_of(action, (f"TENANT#acme#{path}",)) | subject)
        yield Case(False, name, resource, context_of(action, (f"TENANT#globex#{path}",)) | subject)
        globex: Context = {"aws:PrincipalTag/TenantId": "globex"}
        yield Case(expected, name, resource, context_of(action, (f"TENANT#globex#{path}",)) | subject | globex)
        if "/index/" in resource:
            yield Case(False, name, f"{resource}9", context_of(action, (f"TENANT#acme#{path}",)) | subject)
    good = next((path for path, expected in allowed.items() if expected), None)
    bad = next((path for path, expected in allowed.items() if not expected), None)
    if good is None:
        return
    own = f"TENANT#acme#{good}"
    for others in ((f"TENANT#globex#{good}",), (own, f"TENANT#globex#{good}"), (), (own, f"TENANT#acme#{bad}")):
        yield Case(False, name, resource, context_of(action, others) | subject)
    yield Case(False, name, resource, context_of(action, None) | subject)
    for tenant in ({}, {"aws:PrincipalTag/TenantId": ""}, {"aws:PrincipalTag/TenantId": "globex"}):
        bare = {key: value for key, value in context_of(action, (own,)).items() if key not in _TAGS}
        yield Case(False, name, resource, {**bare, **subject, **tenant})


def find_cases(path: str, names: Sequence[str]) -> Iterator[Case]:
    """Who knows the whole value finds the id, in one tenant, and reads nothing else there."""
    key, own = f"TENANT#acme#{path.replace('*', 'ann@example.com')}", OWN_KEYS[1][0]
    every = {attribute.name for entity in MODEL.entities.values() for attribute in entity.attributes}
    for action in READS:
        name = f"dynamodb:{action}"
        for attribute in sorted(every | MODEL.table.reserved):
            for keys in ((key,), (own, key)):
                yield Case(attribute in names, name, INDEXES[0], context_of(action, keys, Attributes=("PK", attribute)))
        yield Case(True, name, INDEXES[0], context_of(action, (key,), Attributes=tuple(names)))
        yield Case(
            False, name, INDEXES[0], context_of(action, (key.replace("acme", "globex"),), Attributes=tuple(names))
        )
        for select in ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"):
            yield Case(False, name, INDEXES[0], context_of(action, (key,), Select=select))
        elsewhere = context_of(action, (key.replace("acme", "globex"),), Attributes=("PK", "verified"))
        yield Case(False, name, INDEXES[0], elsewhere | {"aws:PrincipalTag/TenantId": "globex"})


def closed_cases(role: str) -> Iterator[Case]:
    """What is confidential stays closed, in any company and in every tenant, on the table and on each index."""
    keys = [f"TENANT#acme#{path.replace('*', 's-1')}" for path in ROLE[role].closed]
    for action in ROLE[role].actions:
        for key in keys:
            for resource in (TABLE, *INDEXES, ELSEWHERE[0]):
                for found in ((key,), (OWN_KEYS[1][0], key)):
                    yield Case(False, f"dynamodb:{action}", resource, context_of(action, found, Attributes=("PK",)))
                other = context_of(action, (key.replace("acme", "globex"),), Attributes=("PK",))
                yield Case(False, f"dynamodb:{action}", resource, other | {"aws:PrincipalTag/TenantId": "globex"})


def attribute_cases(*, sees_personal: bool, finds: Sequence[str] = ()) -> Iterator[Case]:
    """Personal attributes in any company, whole items, personal keys; everything else stays readable."""
    keys = OWN_KEYS[1]
    names = {attribute.name for entity in MODEL.entities.values() for attribute in entity.attributes}
    hidden = set(personal_attributes(MODEL))
    for action in READS:
        for name in sorted(names | MODEL.table.reserved):
            allowed = sees_personal or name not in hidden
            for attributes in ((name,), ("PK", "SK", name)):
                yield Case(allowed, f"dynamodb:{action}", TABLE, context_of(action, keys, Attributes=attributes))
        for name in sorted(hidden):
            elsewhere = context_of(action, keys, Attributes=("PK", name))
            yield Case(sees_personal, f"dynamodb:{action}", ELSEWHERE[0], elsewhere)
        for select in ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"):
            yield Case(sees_personal, f"dynamodb:{action}", TABLE, context_of(action, keys, Select=select))
        yield Case(True, f"dynamodb:{action}", TABLE, context_of(action, keys, Select="COUNT"))
        for pattern in hidden_partitions(MODEL, frozenset(personal_attributes(MODEL))):
            named = f"TENANT#acme#{pattern.replace('*', 'ann@example.com')}"
            opened = sees_personal or pattern in finds
            for found in ((named,), (keys[0], named)):
                yield Case(opened, f"dynamodb:{action}", INDEXES[0], context_of(action, found))
            other = context_of(action, (named.replace("acme", "globex"),)) | {"aws:PrincipalTag/TenantId": "globex"}
            yield Case(opened, f"dynamodb:{action}", INDEXES[0], other)


def gateway_cases() -> Iterator[Case]:
    """The gateway by itself: one role to assume, no data."""
    for action in ("AssumeRole", "TagSession", "SetSourceIdentity"):
        yield Case(True, f"sts:{action}", TENANT_ROLE)
        yield from (Case(False, f"sts:{action}", other) for other in (f"{TENANT_ROLE}2", GATEWAY_ROLE))
    yield from (Case(False, f"sts:{action}", TENANT_ROLE) for action in ("AssumeRoleWithSAML", "GetFederationToken"))
    yield from (Case(False, f"dynamodb:{action}", TABLE) for action in sorted(EVERY_ACTION))
    yield from (Case(False, action, "*") for action in ("dax:GetItem", "s3:GetObject", "iam:PassRole", "kms:Decrypt"))


def endpoint_cases() -> Iterator[Case]:
    """The policy of the VPC endpoint: the tenants' role, with a tenant, on the table."""
    caller: Context = {**_TAGS, "aws:PrincipalArn": TENANT_ROLE}
    for action in ITEM_ACTIONS:
        yield from (Case(True, f"dynamodb:{action}", resource, caller) for resource in (TABLE, *INDEXES))
        yield from (Case(False, f"dynamodb:{action}", resource, caller) for resource in ELSEWHERE)
    for changed in ({"aws:PrincipalArn": GATEWAY_ROLE}, {"aws:PrincipalArn": ""}, {"aws:PrincipalTag/TenantId": ""}):
        yield Case(False, "dynamodb:GetItem", TABLE, {**caller, **changed})
    for missing in ("aws:PrincipalArn", "aws:PrincipalTag/TenantId"):
        yield Case(False, "dynamodb:GetItem", TABLE, {key: value for key, value in caller.items() if key != missing})
    yield from (Case(False, f"dynamodb:{action}", TABLE, caller) for action in sorted(EVERY_ACTION - set(ITEM_ACTIONS)))


def stream_cases() -> Iterator[Case]:
    """The reader of the stream: the table's streams, the leases, and no row of a tenant."""
    reads, leases = ("DescribeStream", "GetRecords", "GetShardIterator"), ("GetItem", "PutItem", "Query", "UpdateItem")
    streams = (f"{TABLE}/stream/2026-11-17T00:00:00.000", f"{TABLE}/stream/2027-01-01T00:00:00.000")
    for action in reads:
        yield from (Case(True, f"dynamodb:{action}", stream) for stream in streams)
        others = (TABLE, f"{TABLE}2/stream/x", *(f"{place}/stream/x" for place in ELSEWHERE), INDEXES[0])
        yield from (Case(False, f"dynamodb:{action}", other) for other in others)
    yield Case(True, "dynamodb:DescribeTable", TABLE)
    yield from (Case(False, "dynamodb:DescribeTable", other) for other in (*ELSEWHERE, streams[0]))
    for action in leases:
        name, own = f"dynamodb:{action}", {"dynamodb:LeadingKeys": ("SYSTEM#STREAM",)}
        yield Case(True, name, TABLE, dict(own))
        yield from (Case(False, name, other, dict(own)) for other in (*ELSEWHERE, *INDEXES))
        wrong = ("SYSTEM#", "SYSTEM#STREAMS", "system#stream", "SYSTEM#*", *(key for keys in OWN_KEYS for key in keys))
        for key in wrong:
            yield Case(False, name, TABLE, {"dynamodb:LeadingKeys": (key,)})
            yield Case(False, name, TABLE, {"dynamodb:LeadingKeys": ("SYSTEM#STREAM", key)})
        empty: tuple[Context, ...] = ({}, {"dynamodb:LeadingKeys": ()})
        yield from (Case(False, name, TABLE, context) for context in empty)
    granted = {*reads, *leases, "DescribeTable"}
    for action in (*sorted(EVERY_ACTION - granted), "ActionOfNextYear"):
        for resource in (TABLE, streams[0]):
            yield Case(False, f"dynamodb:{action}", resource, {"dynamodb:LeadingKeys": ("SYSTEM#STREAM",)})
    yield from (Case(False, action, "*") for action in ("dax:GetItem", "s3:GetObject", "sts:AssumeRole"))
    yield from key_cases()
    yield from table_key_cases()
