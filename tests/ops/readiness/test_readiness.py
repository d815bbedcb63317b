"""When a process takes requests: once everything behind it was reached, and then whatever AWS does."""

import asyncio
import json
import logging

import pytest

from gateway.model.tenant import tenant_id
from gateway.ops.readiness.pool_check import PoolFault, TenantPool
from gateway.ops.readiness.readiness import Readiness
from tests.store.fixtures import tenancy

POOLED = TenantPool("pooled", tenant_id("probe"), tenancy(), required=True)
SILO = TenantPool("silo acme", tenant_id("acme"), tenancy(), required=False)
WRONG = PoolFault("table", "table", "table_name: there is no table `secret-name` in `eu-west-1`")


class Behind:
    """What lies behind the gateway; `broken` names the pools that fail."""

    def __init__(self, *broken: str) -> None:
        self.broken = set(broken)
        self.checks = 0
        self.now = 0.0
        self.paused: list[float] = []

    async def faults(self, pool: TenantPool) -> tuple[PoolFault, ...]:
        self.checks += 1
        await asyncio.sleep(0)
        return (WRONG,) if pool.name in self.broken else ()

    async def sleep(self, seconds: float) -> None:
        self.paused.append(seconds)
        self.now += seconds
        if len(self.paused) == 6:
            self.broken.clear()

    def readiness(self, *pools: TenantPool) -> Readiness:
        return Readiness(pools, self.faults, clock=lambda: self.now, sleep=self.sleep)


async def test_it_is_ready_once_all_is_reached_and_not_before() -> None:
    behind = Behind("pooled")
    readiness = behind.readiness(POOLED)
    assert not (await readiness.check()).serves
    before = readiness.ready
    await readiness.until_ready()
    assert (before, readiness.ready) == (False, True)
    assert behind.paused == [1, 2, 4, 8, 15, 15]


async def test_it_stays_ready_when_aws_fails_and_the_deep_check_says_so() -> None:
    behind = Behind()
    readiness = behind.readiness(POOLED)
    await readiness.until_ready()
    behind.broken, behind.now = {"pooled"}, 100.0
    assert not (await readiness.check()).serves
    assert readiness.ready


async def test_a_silo_keeps_nobody_from_being_served() -> None:
    """Its account is its owner's: whoever breaks it there must not stop the gateway for all."""
    readiness = Behind("silo acme").readiness(POOLED, SILO)
    await readiness.until_ready()
    assert readiness.ready
    content = (await readiness.check()).content()
    assert content == {"status": "ready", "pooled": "ok", "silos": {"checked": 1, "failed": 1}}


async def test_a_silo_that_does_not_answer_holds_nobody_up() -> None:
    async def faults(pool: TenantPool) -> tuple[PoolFault, ...]:
        if not pool.required:
            await asyncio.Event().wait()
        return ()

    readiness = Readiness((SILO, POOLED), faults)
    starting = asyncio.create_task(readiness.until_ready())
    for _ in range(20):
        await asyncio.sleep(0)
    assert readiness.ready
    starting.cancel()
    await asyncio.wait((starting,))


async def test_asking_often_costs_nothing() -> None:
    behind = Behind()
    readiness = behind.readiness(POOLED)
    await asyncio.gather(*(readiness.check() for _ in range(50)))
    assert behind.checks == 1
    behind.now = 10.0
    await readiness.check()
    assert behind.checks == 2


async def test_strangers_learn_no_name_and_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gateway.readiness"):
        content = (await Behind("pooled", "silo acme").readiness(POOLED, SILO).check()).content()
    assert content["pooled"] == [{"where": "table", "cause": "table"}]
    assert "secret-name" not in json.dumps(content)
    assert "acme" not in json.dumps(content)
    assert "there is no table `secret-name`" in caplog.text


async def test_without_a_tenant_to_ask_as_it_says_what_is_not_checked(caplog: pytest.LogCaptureFixture) -> None:
    readiness = Behind().readiness()
    assert readiness.ready
    with caplog.at_level(logging.WARNING, "gateway.readiness"):
        await readiness.until_ready()
    assert "readiness_tenant is not set" in caplog.text
    assert (await readiness.check()).content()["pooled"] == "not checked: readiness_tenant is not set"


async def test_a_check_that_breaks_is_no_readiness(caplog: pytest.LogCaptureFixture) -> None:
    async def faults(pool: TenantPool) -> tuple[PoolFault, ...]:
        raise ValueError("a bug")

    readiness = Readiness((POOLED,), faults)
    assert not (await readiness.check()).serves
    assert not readiness.ready
    assert "a bug" in caplog.text
