"""What one DynamoDB call costs this process in CPU time: our client next to boto3, aiobotocore and aiodynamo.

Run `python -m bench.wire`. Read the ratios, not the microseconds. The other side is a stub in a process of its own, so
only the client is measured; each figure is the best of several rounds, because others use the machine, too.
"""

# ruff: noqa: PLC0415 - the clients to compare with are imported where they are installed
import argparse
import asyncio
import importlib.util
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import boto3
import uvloop
from botocore.config import Config

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget

Call = Callable[[], Awaitable[object]]
Client = Callable[[str], AbstractAsyncContextManager[dict[str, Call]]]

REGION = "eu-west-1"
# as long as the session tokens of STS
CREDENTIALS = Credentials("ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "t" * 800)
KEYS = [{"PK": {"S": f"TENANT#acme#ORDER#{number:08}"}, "SK": {"S": "META"}} for number in range(100)]
REQUESTS: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "gateway", "Key": KEYS[1]},
    "Query": {
        "TableName": "gateway",
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "TENANT#acme#USER#000001"}},
        "Limit": 25,
    },
    "BatchGetItem": {"RequestItems": {"gateway": {"Keys": KEYS}}},
}
TITLES = {"GetItem": "GetItem", "Query": "Query of 25", "BatchGetItem": "BatchGetItem of 100"}
ROUNDS = 6


@asynccontextmanager
async def ours(url: str) -> AsyncIterator[dict[str, Call]]:
    target = AwsTarget(url, REGION)
    async with DynamoDBClient() as client:

        def calling(operation: str) -> Call:
            body = REQUESTS[operation]
            return lambda: client.call(operation, body, credentials=CREDENTIALS, target=target)

        yield {operation: calling(operation) for operation in REQUESTS}


def _boto3_calls(url: str) -> dict[str, Callable[[], object]]:
    session = boto3.Session(CREDENTIALS.access_key, CREDENTIALS.secret_key, CREDENTIALS.session_token, REGION)
    client = session.client("dynamodb", endpoint_url=url, config=Config(max_pool_connections=64))
    return {
        "GetItem": lambda: client.get_item(**REQUESTS["GetItem"]),
        "Query": lambda: client.query(**REQUESTS["Query"]),
        "BatchGetItem": lambda: client.batch_get_item(**REQUESTS["BatchGetItem"]),
    }


@asynccontextmanager
async def boto3_in_one_thread(url: str) -> AsyncIterator[dict[str, Call]]:
    def calling(call: Callable[[], object]) -> Call:
        async def run() -> object:
            return call()

        return run

    yield {operation: calling(call) for operation, call in _boto3_calls(url).items()}


@asynccontextmanager
async def boto3_in_threads(url: str) -> AsyncIterator[dict[str, Call]]:
    def calling(call: Callable[[], object]) -> Call:
        return lambda: asyncio.to_thread(call)

    yield {operation: calling(call) for operation, call in _boto3_calls(url).items()}


@asynccontextmanager
async def aiobotocore(url: str) -> AsyncIterator[dict[str, Call]]:
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


@asynccontextmanager
async def aiodynamo(url: str) -> AsyncIterator[dict[str, Call]]:
    """Turns items into Python values, too, which the others leave to their callers."""
    from aiodynamo.client import Client as AiodynamoClient
    from aiodynamo.credentials import Key, StaticCredentials
    from aiodynamo.expressions import HashKey
    from aiodynamo.http.aiohttp import AIOHTTP
    from aiodynamo.models import BatchGetRequest
    from aiohttp import ClientSession
    from yarl import URL

    static = StaticCredentials(Key(CREDENTIALS.access_key, CREDENTIALS.secret_key, CREDENTIALS.session_token))
    keys = [{name: value["S"] for name, value in key.items()} for key in KEYS]
    async with ClientSession() as session:
        client = AiodynamoClient(AIOHTTP(session), static, REGION, URL(url))
        yield {
            "GetItem": lambda: client.get_item("gateway", keys[1]),
            "Query": lambda: client.query_single_page("gateway", HashKey("PK", "TENANT#acme#USER#000001"), limit=25),
            "BatchGetItem": lambda: client.batch_get({"gateway": BatchGetRequest(keys=keys)}),
        }


CLIENTS: dict[str, Client] = {
    "ours": ours,
    "boto3 in one thread": boto3_in_one_thread,
    "boto3 in threads": boto3_in_threads,
    "aiobotocore": aiobotocore,
    "aiodynamo": aiodynamo,
}


@contextmanager
def stub() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.stub"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
        child.communicate()


async def cost(call: Call, seconds: float, width: int) -> float:
    """CPU microseconds for one call while `width` of them are under way."""
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


async def measured(client: Client, url: str, seconds: float, width: int) -> dict[str, float]:
    async with client(url) as calls:
        figures = {}
        for operation, call in calls.items():
            await asyncio.gather(*(call() for _ in range(width)))
            figures[operation] = min([await cost(call, seconds / ROUNDS, width) for _ in range(ROUNDS)])
        return figures


def show(name: str, figures: dict[str, float], own: dict[str, float]) -> None:
    cells = (f"{figures[operation]:8.0f} us {figures[operation] / own[operation]:6.1f} x" for operation in TITLES)
    print(f"{name:22}" + "".join(f"{cell:>22}" for cell in cells))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0.8, help="for each client and operation")
    options.add_argument("--width", type=int, default=16, help="calls that are under way at a time")
    chosen = options.parse_args()
    print(f"CPU time for one call, {chosen.width} under way, and how many of ours it would pay for")
    print(f"{'':22}" + "".join(f"{title:>22}" for title in TITLES.values()))
    own: dict[str, float] = {}
    with stub() as url:
        for name, client in CLIENTS.items():
            if name in {"aiobotocore", "aiodynamo"} and importlib.util.find_spec(name) is None:
                print(f"{name:22}SKIPPED: not installed in this environment")
                continue
            figures = uvloop.run(measured(client, url, chosen.seconds, chosen.width))
            own = own or figures
            show(name, figures, own)


if __name__ == "__main__":
    main()
