"""The client is optional, made late, and never waited for without an end."""

import asyncio
import importlib
import threading
from decimal import Decimal
from typing import Any

import boto3
import pytest

from gateway.aws.wire.credentials import Credentials
from gateway.errors import ConfigurationError
from gateway.store.cache.dax.cluster import DaxBusy, DaxCluster, DaxFailed, DaxRules, connector
from tests.store.fixtures import tenancy

RULES = DaxRules(threads=2, seconds=60)
HASTY = DaxRules(threads=2, seconds=0.5)


class Client:
    """At the client's own interface."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.closed = False
        self.answer: Any = {}

    def get_item(self, **given: Any) -> Any:
        given["ExpressionAttributeNames"]["#note"] = "written by the client"
        return self.answer

    def query(self, **given: Any) -> Any:
        self.released.wait(1)
        return {}

    def close(self) -> None:
        self.closed = True


async def call(cluster: DaxCluster, operation: str = "GetItem", **body: Any) -> dict[str, Any]:
    return await cluster.call(operation, body, credentials=Credentials("a", "b"), target=tenancy().target)


async def test_the_client_is_made_when_it_is_first_needed_and_once() -> None:
    client, made = Client(), 0

    def connect() -> Client:
        nonlocal made
        made += 1
        return client

    cluster = DaxCluster("c", connect, RULES)
    assert made == 0
    await asyncio.gather(*(call(cluster, ExpressionAttributeNames={}) for _ in range(2)))
    assert made == 1
    await cluster.close()
    assert client.closed


async def test_a_cluster_that_was_never_asked_is_closed_too() -> None:
    await DaxCluster("c", Client, RULES).close()


async def test_answers_have_the_form_of_dynamodb() -> None:
    client = Client()
    client.answer = {
        "Item": {"b": {"B": b"\x00"}, "bs": {"BS": [b"x", bytearray(b"y")]}, "n": {"N": "1.5"}, "t": {"BOOL": True}},
        "ConsumedCapacity": {"CapacityUnits": Decimal("0.5")},
    }
    cluster = DaxCluster("c", lambda: client, RULES)
    assert await call(cluster, ExpressionAttributeNames={}) == {
        "Item": {"b": {"B": "AA=="}, "bs": {"BS": ["eA==", "eQ=="]}, "n": {"N": "1.5"}, "t": {"BOOL": True}},
        "ConsumedCapacity": {"CapacityUnits": 0.5},
    }
    await cluster.close()


async def test_what_the_client_writes_into_a_request_stays_there() -> None:
    cluster, names = DaxCluster("c", Client, RULES), {"#0": "PK"}
    await call(cluster, ExpressionAttributeNames=names)
    assert names == {"#0": "PK"}
    await cluster.close()


async def test_a_call_that_takes_too_long_is_given_up_and_its_thread_is_counted_until_it_ends() -> None:
    client = Client()
    cluster = DaxCluster("c", lambda: client, HASTY)
    slow = await asyncio.gather(*(call(cluster, "Query") for _ in range(2)), return_exceptions=True)
    assert all(isinstance(each, DaxFailed) and not isinstance(each, DaxBusy) for each in slow)
    with pytest.raises(DaxBusy):
        await call(cluster, "Query")
    client.released.set()
    while cluster._busy:  # noqa: ASYNC110  threads tell nobody
        await asyncio.sleep(0.005)
    assert await call(cluster, "Query") == {}
    await cluster.close()


async def test_whatever_the_client_raises_is_a_failure_of_the_cluster() -> None:
    def connect() -> Client:
        raise ValueError("No endpoints provided")

    cluster = DaxCluster("c", connect, RULES)
    with pytest.raises(DaxFailed) as caught:
        await call(cluster)
    assert "ValueError" in caught.value.message
    await cluster.close()


@pytest.mark.parametrize("operation", ["TransactGetItems", "TransactWriteItems", "PutItem", "Scan"])
async def test_nothing_but_reads_can_be_asked(operation: str) -> None:
    cluster = DaxCluster("c", Client, RULES)
    with pytest.raises(KeyError):
        await call(cluster, operation)
    await cluster.close()


def test_without_the_package_the_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigurationError) as caught:
        connector("dax://x", "eu-west-1", boto3.Session(region_name="eu-west-1"), RULES)
    assert "amazon-dax-client" in caught.value.message
