"""Words of the wire tests: the keys of a context, and requests turned into authorisations."""

from typing import Any

from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.language.verdict import Authorisation
from tests.iam.place import PLACE

KEY = {"PK": {"S": "a#1"}, "SK": {"S": "x"}}
LK, ATT, SEL, RV = "dynamodb:LeadingKeys", "dynamodb:Attributes", "dynamodb:Select", "dynamodb:ReturnValues"
ENC, RCC, FIRST = "dynamodb:EnclosingOperation", "dynamodb:ReturnConsumedCapacity", "dynamodb:FirstPartitionKeyValues"
SPECIFIC, ALL, PROJECTED = "SPECIFIC_ATTRIBUTES", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"


def authorisations_of(operation: str, **body: Any) -> tuple[Authorisation, ...]:
    return authorisations(operation, body, PLACE)


def single(operation: str, **body: Any) -> Authorisation:
    found = authorisations_of(operation, **body)
    assert len(found) == 1
    return found[0]


def leading(*keys: str) -> dict[str, Any]:
    return {LK: keys, FIRST: keys}


def query(condition: str = "PK = :v", index: str | None = None, **more: Any) -> Authorisation:
    values = {":v": {"S": "a#1"}, ":w": {"S": "b"}, ":x": {"S": "c"}}
    body = {"TableName": "orders", "KeyConditionExpression": condition, "ExpressionAttributeValues": values, **more}
    return single("Query", **({**body, "IndexName": index} if index else body))
