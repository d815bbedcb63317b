"""Sessions: tenants that are not served, tenants that are forgotten, and the end of the gateway."""

import asyncio
from collections.abc import Callable

import pytest

from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenants, UnknownTenant
from gateway.errors import Forbidden, TenantSuspended, Unavailable
from tests.aws.tenant_fixtures import (
    ACME,
    GLOBEX,
    HOUR,
    POOLED,
    REFUSED,
    World,
    principal,
    settle,
    until_called,
    world,
)


async def test_an_unknown_tenant_opens_nothing() -> None:
    here = world(tenants=Tenants(POOLED, known=[ACME]))
    with pytest.raises(UnknownTenant):
        await here.sessions.open(principal(GLOBEX))
    assert here.calls == 0


async def test_a_suspended_tenant_is_refused_at_once_though_its_session_is_cached() -> None:
    here = world()
    session = await here.sessions.open(principal())
    here.sessions.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await here.sessions.open(principal())
    with pytest.raises(TenantSuspended):
        await here.sessions.renew(session)
    await here.sessions.open(principal(GLOBEX))


async def test_a_tenant_that_the_directory_suspends_is_refused_at_once_too() -> None:
    here = world()
    await here.sessions.open(principal())
    here.tenants.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await here.sessions.open(principal())


async def test_a_resumed_tenant_gets_a_new_session() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.sessions.suspend(ACME)
    here.sessions.resume(ACME)
    assert await here.sessions.open(principal()) is not first
    assert here.calls == 2


@pytest.mark.parametrize("suspend", [lambda here: here.sessions.suspend(ACME), lambda here: here.tenants.suspend(ACME)])
async def test_a_tenant_suspended_while_it_waits_gets_nothing(suspend: Callable[[World], None]) -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    suspend(here)
    here.sts.gate.set()
    with pytest.raises(TenantSuspended):
        await opening


async def test_a_tenant_suspended_while_it_waits_is_told_without_waiting_for_sts() -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    here.sessions.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await opening
    assert len(here.sessions) == 0


async def test_forgetting_a_tenant_drops_all_its_sessions_and_nobody_elses() -> None:
    here = world()
    for tenant in (ACME, GLOBEX):
        for role in ("admin", "viewer"):
            await here.sessions.open(principal(tenant, role))
    here.sessions.forget(ACME)
    for role in ("admin", "viewer"):
        await here.sessions.open(principal(GLOBEX, role))
    assert here.calls == 4
    for role in ("admin", "viewer"):
        await here.sessions.open(principal(ACME, role))
    assert here.calls == 6


async def test_forgetting_a_tenant_forgets_its_failures() -> None:
    here = world()
    here.sts.fault = REFUSED
    with pytest.raises(Forbidden):
        await here.sessions.open(principal())
    here.sts.fault = None
    here.sessions.forget(ACME)
    await here.sessions.open(principal())


async def test_who_waits_while_its_tenant_is_forgotten_gets_a_session_opened_later() -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    here.sessions.forget(ACME)
    await until_called(here, 2)
    here.sts.gate.set()
    assert (await opening).credentials.access_key == "ASIA2"
    assert await here.sessions.open(principal()) is await opening


async def test_closing_ends_what_runs_in_the_background_and_refuses_whoever_waits() -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    await here.sessions.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await opening
    assert here.sts.running == 0
    assert [task for task in asyncio.all_tasks() if "fly" in repr(task)] == []


async def test_closing_ends_flights_that_were_called_off() -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    here.sessions.suspend(ACME)
    await here.sessions.close()
    assert here.sts.running == 0
    with pytest.raises(TenantSuspended):
        await opening


async def test_after_closing_a_kept_session_still_serves_and_is_not_refreshed() -> None:
    here = world()
    first = await here.sessions.open(principal())
    await here.sessions.close()
    here.clock.now += HOUR * 0.9
    assert await here.sessions.open(principal()) is first
    await settle()
    assert here.calls == 1
    here.clock.now += HOUR
    with pytest.raises(Unavailable, match="shutting down"):
        await here.sessions.open(principal())


async def test_closing_twice_does_no_harm() -> None:
    sessions: Sessions = world().sessions
    await sessions.close()
    await sessions.close()
