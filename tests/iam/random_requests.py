"""Random policies and requests for the comparison of prepared permissions with the evaluator; seeded, so repeatable."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from gateway.demo import MODEL
from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.residual import marker_of
from gateway.iam.language.document import PolicyDocument, read
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.grammar import Kind
from gateway.model.keys import ItemKey
from gateway.store import wire

SPEC = MODEL.table
NAME = "pool"
TABLE = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
PLACE = TableRegistry(
    "eu-west-1", "123456789012", tables={NAME: KeySchema(SPEC.pk, {each.name: (each.pk,) for each in SPEC.indexes})}
)
TENANTS = ("acme", "acme-2", "ac", "globex", "a0")
"""Some are the beginnings of others."""
PATHS = (
    *("", "USER#1", "ORDER#7", "ORDER#2026#7", "EMAIL#a@b", "EMAIL", "EMAI", "PHONE#1", "email#a", "STATUS#OPEN"),
    *("#EMAIL#x", "*", "?", "USER#*", "line\nfeed", "EMAIL#\n", "\nEMAIL#", 'q"uote', "back\\slash", "\u00e9", "${x}"),
    *("USER#1/EMAIL#a", '","PK":{"S":"TENANT#acme#', "0"),
)
ODD_KEYS = (
    "TENANT#",
    "TENANT##x",
    "*",
    "TENANT#*",
    "TENANT#*#x",
    "TENANT#?cme#x",
    "tenant#acme#x",
    "",
    "SHARED#1",
    "\n",
)
TAG = "aws:PrincipalTag/TenantId"
VARIABLE = f"${{{TAG}}}"
OWN = f"TENANT#{VARIABLE}"
LK = "dynamodb:LeadingKeys"


@dataclass(frozen=True, slots=True)
class Form:
    """Requests that differ only in their leading keys; at `most` so many, or `exactly` so many."""

    title: str
    operation: str
    body: Callable[[list[str]], dict[str, Any]]
    marker: str
    most: int = 1
    exactly: bool = True


def tenant_key(random: Random, tenant: str) -> str:
    """Mostly the tenant's own."""
    chance = random.random()
    if chance < 0.8:
        return f"TENANT#{tenant}#{random.choice(PATHS)}"
    if chance < 0.93:
        return f"TENANT#{random.choice(TENANTS)}{random.choice(('#', '', '-'))}{random.choice(PATHS)}"
    return random.choice(ODD_KEYS)


def tenant_keys(random: Random, tenant: str, form: Form) -> list[str]:
    """Now and then none at all, where there can be any number."""
    few = form.most if form.exactly else random.choice((0, 1, 1, 2, 3, form.most))
    return [tenant_key(random, tenant) for _ in range(few)]


def forms() -> list[Form]:
    """What the store sends, and more: each operation, index and kind of projection."""
    pk = marker_of(SPEC.pk)
    found: list[Form] = []
    for names in (("PK", "SK", "name"), ("PK", "email"), ("orderId", "status", "total")):
        found += [
            _form("GetItem", pk, _get(names)),
            Form(f"BatchGetItem {names}", "BatchGetItem", _batch(names), pk, 4, exactly=False),
            *(_query(names, index) for index in (None, *(each.name for each in SPEC.indexes))),
        ]
    found += [
        _form("GetItem", pk, lambda key: sample_requests.get(NAME, _key(key))),
        _several("BatchGetItem", pk, lambda keys: sample_requests.batch_get(NAME, keys)),
        _form("Query", marker_of(":pk"), lambda key: sample_requests.query(NAME, SPEC, key)),
        _several("TransactGetItems", pk, lambda keys: sample_requests.transact_get(NAME, keys)),
        *_writes(pk),
    ]
    return found


def _writes(pk: str) -> list[Form]:
    guard = sample_requests.guarded(SPEC)
    members = {
        "Put": lambda key: sample_requests.put(NAME, _key(key) | {"name": {"S": "n"}}, guard),
        "Update": lambda key: sample_requests.update(NAME, _key(key), "name", guard),
        "Delete": lambda key: sample_requests.delete(NAME, _key(key), guard),
        "ConditionCheck": lambda key: {"TableName": NAME, "Key": _key(key), **guard},
    }
    singles = [_form(f"{kind}Item", pk, members[kind]) for kind in ("Put", "Update", "Delete")]
    inside = [_form("TransactWriteItems", pk, _transaction(kind, make)) for kind, make in members.items()]

    def several(keys: list[str]) -> dict[str, Any]:
        return sample_requests.transact_write(
            *((kind, members[kind](key)) for kind, key in zip(members, keys, strict=True))
        )

    return [
        *singles,
        *inside,
        _form("DeleteItem", pk, lambda key: members["Delete"](key) | {"ReturnValues": "ALL_OLD"}),
        Form("four members", "TransactWriteItems", several, pk, 4),
        _several("BatchWriteItem", pk, lambda keys: sample_requests.batch_write(NAME, [], keys)),
    ]


def _transaction(kind: str, make: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    return lambda key: sample_requests.transact_write((kind, make(key)))


def _form(operation: str, marker: str, make: Callable[[str], dict[str, Any]]) -> Form:
    return Form(operation, operation, lambda keys: make(keys[0]), marker)


def _several(operation: str, marker: str, make: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> Form:
    return Form(operation, operation, lambda keys: make(list(map(_key, keys))), marker, 3, exactly=False)


def _key(text: str) -> dict[str, Any]:
    return {SPEC.pk: {"S": text}, SPEC.sk: {"S": "PROFILE"}}


def _get(names: tuple[str, ...]) -> Callable[[str], dict[str, Any]]:
    return lambda key: wire.get_item(SPEC, NAME, ItemKey(key, "S"), names, True)


def _batch(names: tuple[str, ...]) -> Callable[[list[str]], dict[str, Any]]:
    return lambda keys: wire.batch_get_item(NAME, list(map(_key, keys)), names, False)


def _query(names: tuple[str, ...], index: str | None) -> Form:
    def body(keys: list[str]) -> dict[str, Any]:
        found = sample_requests.query(NAME, SPEC, keys[0], names, index)
        return found | {"Limit": 26, "ScanIndexForward": False, "ReturnConsumedCapacity": "TOTAL"}

    return Form(f"Query {index}", "Query", body, marker_of(":pk"))


CONDITIONS: tuple[dict[str, Any], ...] = (
    {"ForAllValues:StringLike": {LK: [OWN, f"{OWN}#*"]}, "Null": {LK: "false", TAG: "false"}},
    {"ForAllValues:StringLike": {LK: [f"{OWN}#ORDER#*", f"{OWN}#USER#*", f"{OWN}#ORDER#2026#*"]}},
    {"ForAllValues:StringLikeIfExists": {"dynamodb:FirstPartitionKeyValues": [f"{OWN}#*", "SHARED#*"]}},
    {"ForAllValues:StringLike": {LK: f"TENANT#${{{TAG}, 'acme'}}#*"}},
    {"ForAllValues:StringNotLike": {LK: [f"{OWN}#EMAIL#*", f"{OWN}#PHONE#*"]}},
    {"ForAnyValue:StringLike": {LK: [f"{OWN}#EMAIL#*", f"{OWN}#PHONE#*"]}},
    {"ForAnyValue:StringNotLike": {LK: [OWN, f"{OWN}#*"]}},
    {"ForAnyValue:StringNotLike": {LK: [f"{OWN}#ORDER#*"]}},
    {"ForAnyValue:StringLike": {LK: [f"{OWN}#USER#*EMAIL*", f"{OWN}#?*"]}},
    {"ForAnyValue:StringEquals": {LK: [f"{OWN}#ORDER#7", f"{OWN}#"]}},
    {"ForAllValues:StringEquals": {LK: [f"{OWN}#ORDER#7", OWN]}},
    {"ForAnyValue:StringNotEquals": {LK: [f"{OWN}#ORDER#7"]}},
    {"ForAllValues:StringEquals": {LK: f"{OWN}#*"}},
    {"ForAllValues:StringLike": {LK: "TENANT#acme#*"}},
    {"ForAllValues:StringLike": {LK: f"{OWN}*"}},
    {"ForAllValues:StringLike": {LK: "*"}},
    {"ForAnyValue:StringLike": {LK: ["TENANT#*#EMAIL#*", f"{OWN}-2#*"]}},
    {"ForAllValues:StringLike": {LK: f"{OWN}#{VARIABLE}*"}},
    {"ForAllValues:StringEqualsIgnoreCase": {LK: f"{OWN}#ORDER#7"}},
    {"StringLike": {LK: f"{OWN}#*"}},
    {"StringNotLike": {LK: f"{OWN}#*"}},
    {"Null": {LK: "true"}},
    {"Null": {TAG: "true"}},
    {"Null": {LK: "false"}},
    {"StringEquals": {TAG: "acme"}},
    {"StringNotEquals": {TAG: ["globex", "ac"]}},
    {"StringEquals": {"aws:PrincipalTag/GatewayRole": "viewer"}},
    {"StringEquals": {"aws:PrincipalTag/GatewayRole": VARIABLE}},
    {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["email"]}},
    {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["PK", "SK", "name"]}},
    {"StringNotEquals": {"dynamodb:Select": ["COUNT", "SPECIFIC_ATTRIBUTES"]}},
    {"StringEquals": {"dynamodb:EnclosingOperation": "TransactWriteItems"}},
    {"StringEqualsIfExists": {"dynamodb:ReturnValues": "NONE"}},
    {"ForNoValue:StringLike": {LK: f"{OWN}#*"}},
    {"NumericEquals": {LK: "1"}},
)
ACTIONS = (
    "dynamodb:*",
    "*",
    "dynamodb:GetItem",
    "dynamodb:*Item",
    "dynamodb:Put*",
    "dynamodb:UpdateItem",
    "dynamodb:Query",
    "dynamodb:Batch*",
    "s3:*",
)
RESOURCES = ("*", "*", TABLE, f"{TABLE}*", f"{TABLE}/index/*", f"{TABLE[:-4]}{VARIABLE}", "arn:aws:s3:::*")


def random_policies(random: Random) -> PolicySet:
    session = (_document(random, "session"),) if random.random() < 0.5 else None
    boundary = _document(random, "boundary") if random.random() < 0.3 else None
    return PolicySet((_document(random, "identity"),), session, boundary)


def _document(random: Random, kind: Kind) -> PolicyDocument:
    """A grant that many requests get through, among statements of all sorts; unknown operators included."""
    grant: dict[str, Any] = {"Sid": "Grant", "Effect": "Allow", "Action": "*", "Resource": "*"}
    if random.random() < 0.7:
        grant["Condition"] = random.choice(CONDITIONS[:4])
    listed = [grant, *(_statement(random) for _ in range(random.choice((0, 0, 1, 1, 2))))]
    random.shuffle(listed)
    version = "2008-10-17" if random.random() < 0.05 else "2012-10-17"
    return read({"Version": version, "Statement": listed}, kind)


def _statement(random: Random) -> dict[str, Any]:
    condition: dict[str, Any] = {}
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        condition |= random.choice(CONDITIONS)
    return {
        "Effect": random.choice(("Allow", "Deny")),
        random.choice(("Action", "Action", "Action", "NotAction")): random.choice(ACTIONS),
        random.choice(("Resource", "Resource", "Resource", "NotResource")): random.choice(RESOURCES),
        **({"Condition": condition} if condition else {}),
    }
