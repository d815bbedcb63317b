"""What one DynamoDB call costs this process in CPU time: our client next to boto3, aiobotocore and aiodynamo.

Run `python -m bench.wire`. Each line is one client; read the ratios, not the microseconds. The other side is a stub in a
process of its own, so only the client is measured.
"""

import argparse
import asyncio
import importlib.util
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import boto3
import uvloop
from botocore.config import Config

from gateway.aws.credentials import Credentials
from gateway.aws.dynamodb import DynamoDBClient
from gateway.aws.limits import WireLimits
from gateway.aws.target import Target

Calls = Mapping[str, Callable[[], Awaitable[object]]]
REGION = "eu-west-1"
# as long as the session tokens of STS
CREDENTIALS = Credentials("ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "t" * 800)
KEY = {"PK": {"S": "TENANT#acme#ORDER#00000001"}, "SK": {"S": "META"}}
KEYS = [{"PK": {"S": f"TENANT#acme#ORDER#{number:08}"}, "SK": {"S": "META"}} for number in range(100)]
REQUESTS: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "gateway", "Key": KEY},
    "Query": {
        "TableName": "gateway",
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "TENANT#acme#USER#000001"}},
        "Limit": 25,
    },
    "BatchGetItem": {"RequestItems": {"gateway": {"Keys": KEYS}}},
}
TITLES = {"GetItem": "GetItem", "Query": "Query of 25", "BatchGetItem": "BatchGetItem of 100"}


@contextmanager
def stub() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.stub"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
        child.communicate()


async def measure(call: Callable[[], Awaitable[object]], seconds: float, width: int) -> float:
    """CPU microseconds for a call with `width` of them under way."""
    await asyncio.gather(*(call() for _ in range(width)))
    end = time.perf_counter() + seconds
    count = 0

    async def worker() -> None:
        nonlocal count
        while time.perf_counter() < end:
            await call()
            count += 1

    started = time.process_time()
    await asyncio.gather(*(worker() for _ in range(width)))
    return (time.process_time() - started) / count * 1e6


@asynccontextmanager
async def ours(url: str) -> Any:
    target = Target(url, REGION)

    async with DynamoDBClient(WireLimits(connections=64)) as client:

        def calling(operation: str) -> Callable[[], Awaitable[object]]:
            body = REQUESTS[operation]
            return lambda: client.call(operation, body, credentials=CREDENTIALS, target=target)

        yield {operation: calling(operation) for operation in REQUESTS}


def boto3_client(url: str) -> Any:
    session = boto3.Session(
        aws_access_key_id=CREDENTIALS.access_key,
        aws_secret_access_key=CREDENTIALS.secret_key,
        aws_session_token=CREDENTIALS.session_token,
        region_name=REGION,
    )
    return session.client("dynamodb", endpoint_url=url, config=Config(max_pool_connections=64))


def boto3_calls(url: str) -> dict[str, Callable[[], object]]:
    client = boto3_client(url)
    return {
        "GetItem": lambda: client.get_item(**REQUESTS["GetItem"]),
        "Query": lambda: client.query(**REQUESTS["Query"]),
        "BatchGetItem": lambda: client.batch_get_item(**REQUESTS["BatchGetItem"]),
    }


@asynccontextmanager
async def boto3_in_this_thread(url: str) -> Any:
    def calling(call: Callable[[], object]) -> Callable[[], Awaitable[object]]:
        async def run() -> object:
            return call()

        return run

    yield {operation: calling(call) for operation, call in boto3_calls(url).items()}


@asynccontextmanager
async def boto3_in_threads(url: str) -> Any:
    def calling(call: Callable[[], object]) -> Callable[[], Awaitable[object]]:
        return lambda: asyncio.to_thread(call)

    yield {operation: calling(call) for operation, call in boto3_calls(url).items()}


@asynccontextmanager
async def aiobotocore(url: str) -> Any:
    from aiobotocore.session import get_session

    credentials = {
        "aws_access_key_id": CREDENTIALS.access_key,
        "aws_secret_access_key": CREDENTIALS.secret_key,
        "aws_session_token": CREDENTIALS.session_token,
    }
    async with get_session().create_client("dynamodb", REGION, endpoint_url=url, **credentials) as client:
        yield {
            "GetItem": lambda: client.get_item(**REQUESTS["GetItem"]),
            "Query": lambda: client.query(**REQUESTS["Query"]),
            "BatchGetItem": lambda: client.batch_get_item(**REQUESTS["BatchGetItem"]),
        }
