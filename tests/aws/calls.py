"""Calls that tests of the client make."""

from typing import Any

from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.retry import RetryRules
from tests.aws.fake import CREDENTIALS, FakeAws

# pauses that a test can wait for
QUICK = RetryRules(pause=0.001, throttled_pause=0.001)
BODY = {"TableName": "gateway", "Key": {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}}


async def get(
    client: DynamoDBClient, fake: FakeAws, credentials: Credentials = CREDENTIALS, deadline: float | None = None
) -> dict[str, Any]:
    return await client.call("GetItem", BODY, credentials=credentials, target=fake.target, deadline=deadline)


def client(limits: WireLimits | None = None, retry: RetryRules = QUICK) -> DynamoDBClient:
    return DynamoDBClient(limits or WireLimits(connections=2), retry)
