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
    SessionSetup,
    principal,
    session_setup,
    settle,
    until_called,
)


async def test_an_unknown_tenant_opens_nothing() -> None:
    setup = session_setup(tenants=Tenants(POOLED, known=[ACME]))
    with pytest.raises(UnknownTenant):
        await setup.sessions.open(principal(GLOBEX))
    assert setup.calls == 0


async def test_a_suspended_tenant_is_refused_at_once_though_its_session_is_cached() -> None:
    setup = session_setup()
    session = await setup.sessions.open(principal())
    setup.sessions.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await setup.sessions.open(principal())
    with pytest.raises(TenantSuspended):
        await setup.sessions.renew(session)
    await setup.sessions.open(principal(GLOBEX))


async def test_a_tenant_that_the_directory_suspends_is_refused_at_once_too() -> None:
    setup = session_setup()
    await setup.sessions.open(principal())
    setup.tenants.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await setup.sessions.open(principal())


async def test_a_resumed_tenant_gets_a_new_session() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.sessions.suspend(ACME)
    setup.sessions.resume(ACME)
    assert await setup.sessions.open(principal()) is not first
    assert setup.calls == 2


@pytest.mark.parametrize(
    "suspend", [lambda setup: setup.sessions.suspend(ACME), lambda setup: setup.tenants.suspend(ACME)]
)
async def test_a_tenant_suspended_while_it_waits_gets_nothing(suspend: Callable[[SessionSetup], None]) -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    suspend(setup)
    setup.sts.gate.set()
    with pytest.raises(TenantSuspended):
        await opening


async def test_a_tenant_suspended_while_it_waits_is_refused_without_waiting_for_sts() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    setup.sessions.suspend(ACME)
    with pytest.raises(TenantSuspended):
        await opening
    assert len(setup.sessions) == 0


async def test_forgetting_a_tenant_drops_all_its_sessions_and_nobody_elses() -> None:
    setup = session_setup()
    for tenant in (ACME, GLOBEX):
        for role in ("admin", "viewer"):
            await setup.sessions.open(principal(tenant, role))
    setup.sessions.forget(ACME)
    for role in ("admin", "viewer"):
        await setup.sessions.open(principal(GLOBEX, role))
    assert setup.calls == 4
    for role in ("admin", "viewer"):
        await setup.sessions.open(principal(ACME, role))
    assert setup.calls == 6


async def test_forgetting_a_tenant_forgets_its_failures() -> None:
    setup = session_setup()
    setup.sts.fault = REFUSED
    with pytest.raises(Forbidden):
        await setup.sessions.open(principal())
    setup.sts.fault = None
    setup.sessions.forget(ACME)
    await setup.sessions.open(principal())


async def test_a_caller_that_waits_while_its_tenant_is_forgotten_gets_a_session_opened_later() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    setup.sessions.forget(ACME)
    await until_called(setup, 2)
    setup.sts.gate.set()
    assert (await opening).credentials.access_key == "ASIA2"
    assert await setup.sessions.open(principal()) is await opening


async def test_closing_ends_what_runs_in_the_background_and_refuses_whoever_waits() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    await setup.sessions.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await opening
    assert setup.sts.running == 0
    assert [task for task in asyncio.all_tasks() if "fly" in repr(task)] == []


async def test_closing_ends_flights_that_were_called_off() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    setup.sessions.suspend(ACME)
    await setup.sessions.close()
    assert setup.sts.running == 0
    with pytest.raises(TenantSuspended):
        await opening


async def test_after_closing_a_kept_session_still_serves_and_is_not_refreshed() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    await setup.sessions.close()
    setup.clock.now += HOUR * 0.9
    assert await setup.sessions.open(principal()) is first
    await settle()
    assert setup.calls == 1
    setup.clock.now += HOUR
    with pytest.raises(Unavailable, match="shutting down"):
        await setup.sessions.open(principal())


async def test_closing_twice_does_no_harm() -> None:
    sessions: Sessions = session_setup().sessions
    await sessions.close()
    await sessions.close()
