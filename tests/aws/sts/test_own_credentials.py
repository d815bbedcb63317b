"""The gateway's own credentials: read from boto3's chain in a thread, once a minute or where AWS refuses them."""

import asyncio
import threading
from typing import Any

import pytest
from botocore.credentials import Credentials as BotocoreCredentials

from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.wire.errors import AwsUnavailable
from tests.aws.sts.test_sts_client import REQUEST
from tests.aws.sts_wire import answer, refusal, sts
from tests.aws.tenant_fixtures import Clock


class Chain:
    """Where boto3 would look for credentials; each reading finds newer ones."""

    def __init__(self) -> None:
        self.readings = 0
        self.fault: Exception | None = None
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()

    def get_credentials(self) -> BotocoreCredentials:
        self.gate.wait(10)
        self.readings += 1
        self.threads.add(threading.get_ident())
        if self.fault is not None:
            raise self.fault
        return BotocoreCredentials(f"AKIA{self.readings}", "secret", "token")


def own(chain: Any, clock: Clock) -> OwnCredentials:
    return OwnCredentials(chain, clock)


async def test_they_are_read_in_a_thread_and_again_after_a_minute() -> None:
    chain, clock = Chain(), Clock()
    credentials = own(chain, clock)
    assert [(await credentials.get()).access_key for _ in range(3)] == ["AKIA1"] * 3
    assert threading.get_ident() not in chain.threads
    clock.now += 61
    assert (await credentials.get()).access_key == "AKIA2"


async def test_many_who_wait_read_once_and_who_leaves_does_not_end_it() -> None:
    chain = Chain()
    chain.gate.clear()
    credentials = own(chain, Clock())
    waiting = [asyncio.create_task(credentials.get()) for _ in range(10)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    chain.gate.set()
    assert {(await task).access_key for task in waiting[1:]} == {"AKIA1"}
    assert chain.readings == 1


async def test_a_failure_is_an_outage_and_is_not_kept() -> None:
    chain = Chain()
    chain.fault = RuntimeError("metadata service is down")
    credentials = own(chain, Clock())
    with pytest.raises(AwsUnavailable, match="own credentials"):
        await credentials.get()
    chain.fault = None
    assert (await credentials.get()).access_key == "AKIA2"


async def test_those_that_aws_refuses_are_read_again() -> None:
    chain: Any = Chain()
    async with sts(refusal("ExpiredToken", 403), answer(), answer()) as (client, fake):
        client._own = own(chain, Clock())
        with pytest.raises(AwsUnavailable, match="own credentials"):
            await client.assume_role(REQUEST)
        await client.assume_role(REQUEST)
        await client.assume_role(REQUEST)
    used = [each.headers["authorization"].partition("Credential=")[2][:5] for each in fake.received]
    assert used == ["AKIA1", "AKIA2", "AKIA2"]
