"""How long a decision takes: median and p99 of evaluator and request check, beside a SHA-256 of 1 KB."""

import gc
import hashlib
import time
from collections.abc import Callable
from typing import Any

from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/gateway"
ACTIONS = ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"]
FORBIDDEN = ["Scan", "PartiQL*", "SearchVectors", "GetRecords", "Export*", "*Backup", "*ResourcePolicy"]
TAG = "${aws:PrincipalTag/TenantId}"
ROUNDS, TIMED = 5, 2_000


def statement(effect: str, actions: list[str], **more: Any) -> dict[str, Any]:
    return {"Effect": effect, "Action": [f"dynamodb:{name}" for name in actions], "Resource": "*", **more}


def policies() -> PolicySet:
    """The recommended shape: own rows in all three layers, explicit denials, hidden attributes in the session."""
    own_rows = {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"TENANT#{TAG}", f"TENANT#{TAG}#*"]},
        "Null": {"dynamodb:LeadingKeys": "false", "aws:PrincipalTag/TenantId": "false"},
    }
    hidden = {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["email", "phone", "birthDate", "address"]}}
    resources = [TABLE, *(f"{TABLE}/index/GSI{number}" for number in (1, 2, 3))]
    allow = statement("Allow", ACTIONS, Sid="OwnRows", Condition=own_rows) | {"Resource": resources}
    deny = statement("Deny", FORBIDDEN, Sid="Never")
    personal = statement("Deny", ACTIONS, Sid="Personal", Condition=hidden)

    def document(*statements: dict[str, Any]) -> dict[str, Any]:
        return {"Version": "2012-10-17", "Statement": list(statements)}

    return PolicySet(
        identity=(parse(document(allow, deny), "identity"),),
        session=(parse(document(allow, personal), "session"),),
        boundary=parse(document(allow, deny), "boundary"),
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Median and p99 in microseconds over all rounds."""
    spans: list[int] = []
    for _ in range(ROUNDS):
        for _ in range(TIMED):
            start = time.perf_counter_ns()
            work()
            spans.append(time.perf_counter_ns() - start)
    spans.sort()
    return spans[len(spans) // 2] / 1_000, spans[len(spans) * 99 // 100] / 1_000


def bodies() -> dict[str, tuple[str, dict[str, Any]]]:
    key = {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}
    names = {"#n": "name", "#s": "status"}
    keys = [{"PK": {"S": f"TENANT#acme#USER#{number}"}, "SK": {"S": "PROFILE"}} for number in range(100)]
    projection = {"ProjectionExpression": "PK,SK,userId,#n,#s,version", "ExpressionAttributeNames": names}
    query = {
        "KeyConditionExpression": "#pk = :pk AND begins_with(#sk, :sk)",
        "ExpressionAttributeNames": {**names, "#pk": "GSI1PK", "#sk": "GSI1SK"},
        "ExpressionAttributeValues": {":pk": {"S": "TENANT#acme#EMAIL#a"}, ":sk": {"S": "ORDER#"}},
        "ProjectionExpression": projection["ProjectionExpression"],
    }
    return {
        "check GetItem": ("GetItem", {"TableName": "gateway", "Key": key, **projection}),
        "check Query on an index": ("Query", {"TableName": "gateway", "IndexName": "GSI1", **query}),
        "check BatchGetItem of 100": ("BatchGetItem", {"RequestItems": {"gateway": {"Keys": keys, **projection}}}),
        "check GetItem, denied": ("GetItem", {"TableName": "gateway", "Key": {"PK": {"S": "TENANT#b#"}}}),
        "check Scan, denied": ("Scan", {"TableName": "gateway"}),
    }


def main() -> None:
    indexes = {f"GSI{number}": (f"GSI{number}PK",) for number in (1, 2, 3)}
    place = TableRegistry("eu-west-1", "123456789012", tables={"gateway": KeySchema("PK", indexes)})
    principal = {"aws:PrincipalTag/TenantId": "acme", "aws:PrincipalTag/Role": "viewer", "aws:userid": "AROA:gw"}
    permissions = Permissions(policies(), principal, place)
    requests = bodies()
    get = authorisations(*requests["check GetItem"], place)[0]
    question = Authorisation(get.action, get.resource, {**get.context, **principal})
    block = bytes(1_024)
    gc.freeze()
    yard, _ = timed(lambda: hashlib.sha256(block).digest())
    print(f"{'what':<28}{'median us':>10}{'p99 us':>10}{'sha256(1 KB)':>15}")
    works: dict[str, Callable[[], object]] = {"sha256 of 1 KB": lambda: hashlib.sha256(block).digest()}
    works["evaluate GetItem"] = lambda: evaluate(permissions.policies, question)
    for title, (operation, body) in requests.items():
        works[title] = lambda operation=operation, body=body: permissions.check(operation, body)  # type: ignore[misc]
    for title, work in works.items():
        median, high = timed(work)
        print(f"{title:<28}{median:>10.2f}{high:>10.2f}{median / yard:>14.1f}x")


if __name__ == "__main__":
    main()
