"""Sessions: refreshed ahead of their end, never used after it, renewed where AWS no longer accepts them."""

import asyncio

import pytest

from gateway.aws.sts.call_rate import Priority, Ticket
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import SessionKey, SessionRules
from gateway.errors import Throttled, Unavailable
from gateway.model.tenant import tenant_id
from tests.aws.tenant_fixtures import (
    ACME,
    HOUR,
    OUTAGE,
    principal,
    session_policy,
    settle,
    token,
    until_called,
    world,
)


async def test_a_session_is_refreshed_in_the_background_ahead_of_its_end() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.clock.now += HOUR * 0.74
    assert await here.sessions.open(principal()) is first
    await settle()
    assert here.calls == 1
    here.clock.now += HOUR * 0.16
    # whoever asks meanwhile does not wait
    assert await here.sessions.open(principal()) is first
    assert await here.sessions.open(principal()) is first
    await settle()
    second = await here.sessions.open(principal())
    assert second.credentials != first.credentials
    assert here.calls == 2


@pytest.mark.parametrize(("jitter", "share"), [(0.0, 0.75), (1.0, 0.9)])
async def test_the_moment_of_a_refresh_differs_between_sessions(jitter: float, share: float) -> None:
    here = world()
    here.sessions._jitter = lambda: jitter
    await here.sessions.open(principal())
    here.clock.now += (HOUR - 30) * share - 1
    await here.sessions.open(principal())
    await settle()
    assert here.calls == 1
    here.clock.now += 2
    await here.sessions.open(principal())
    await settle()
    assert here.calls == 2


async def test_a_refresh_keeps_the_permissions_and_what_they_remember() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.clock.now += HOUR * 0.9
    await here.sessions.open(principal())
    await settle()
    second = await here.sessions.open(principal())
    assert second is not first
    assert second.permissions is first.permissions


async def test_a_session_about_to_end_is_not_handed_out() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.clock.now += HOUR - 29
    second = await here.sessions.open(principal())
    assert second.credentials.expires_at > first.credentials.expires_at
    assert here.calls == 2


@pytest.mark.parametrize("life", [0.0, 29.0, -HOUR, float("nan")])
async def test_credentials_that_are_already_over_open_nothing(life: float) -> None:
    here = world()
    here.sts.life = life
    with pytest.raises(Unavailable, match="already over"):
        await here.sessions.open(principal())


async def test_a_session_ends_by_our_clock_where_that_is_behind_the_clock_of_aws() -> None:
    here = world()
    here.sts.life = 3 * HOUR
    await here.sessions.open(principal())
    here.clock.now += HOUR
    await here.sessions.open(principal())
    assert here.calls == 2


async def test_a_clock_set_back_prolongs_nothing() -> None:
    here = world()
    await here.sessions.open(principal())
    here.clock.now -= 40
    await here.sessions.open(principal())
    assert here.calls == 2


async def test_a_clock_set_back_does_not_prolong_a_failure() -> None:
    here = world()
    here.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await here.sessions.open(principal())
    here.sts.fault = None
    here.clock.now -= HOUR
    await here.sessions.open(principal())


async def test_a_clock_set_back_does_not_put_a_refresh_off() -> None:
    here = world()
    await here.sessions.open(principal())
    here.clock.now += HOUR * 0.9
    here.sts.fault = OUTAGE
    for calls in (2, 3):
        await here.sessions.open(principal())
        await settle()
        assert here.calls == calls
        here.clock.now -= 1


async def test_a_session_that_aws_no_longer_accepts_is_renewed_once_for_all() -> None:
    here = world()
    old = await here.sessions.open(principal())
    here.clock.now += 60
    renewed = await asyncio.gather(*(here.sessions.renew(old) for _ in range(100)))
    assert here.calls == 2
    assert all(session is renewed[0] for session in renewed)
    assert renewed[0].credentials != old.credentials
    assert (renewed[0].tenant, renewed[0].role) == (ACME, "viewer")
    assert await here.sessions.open(principal()) is renewed[0]


async def test_renewing_gives_the_kept_session_where_that_is_another() -> None:
    here = world()
    old = await here.sessions.open(principal())
    here.clock.now += 60
    new = await here.sessions.renew(old)
    assert await here.sessions.renew(old) is new
    assert here.calls == 2


async def test_renewing_keeps_the_subject() -> None:
    here = world(SessionRules(per_subject=True))
    old = await here.sessions.open(principal(subject="ann"))
    here.clock.now += 60
    assert token(await here.sessions.renew(old)) == token(old)


async def test_a_session_that_was_just_given_is_not_asked_for_again() -> None:
    here = world()
    session = await here.sessions.open(principal())
    with pytest.raises(Unavailable, match="just given"):
        await here.sessions.renew(session)
    assert here.calls == 1


async def test_renewing_fails_closed_while_sts_is_down() -> None:
    here = world()
    old = await here.sessions.open(principal())
    here.clock.now += 60
    here.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await here.sessions.renew(old)
    with pytest.raises(Unavailable):
        await here.sessions.open(principal())


async def test_a_session_that_is_no_longer_kept_is_renewed() -> None:
    here = world()
    old = await here.sessions.open(principal())
    here.sessions.forget(ACME)
    assert (await here.sessions.renew(old)).credentials != old.credentials


async def test_a_warm_up_opens_what_is_not_there_yet_and_skips_who_is_not_served() -> None:
    here = world()
    await here.sessions.open(principal(ACME))
    here.tenants.suspend(tenant_id("gone"))
    tenants = [ACME, tenant_id("gone"), *(tenant_id(f"tenant-{number}") for number in range(40))]
    await here.sessions.warm_up(tenants, ["viewer", "admin"])
    assert here.calls == 1 + 1 + 40 * 2
    await here.sessions.open(principal(tenant_id("tenant-7"), "admin"))
    assert here.calls == 82
    assert here.sts.most_running <= SessionRules().calls


async def test_a_warm_up_ends_where_sts_fails() -> None:
    here = world()
    here.sts.fault = OUTAGE
    await here.sessions.warm_up([tenant_id(f"tenant-{number}") for number in range(1_000)], ["viewer"])
    assert here.calls == SessionRules().calls


async def test_a_caller_overtakes_the_warm_up() -> None:
    here = world(SessionRules(calls=1))
    here.sts.gate.clear()
    tenants = [tenant_id(f"tenant-{number}") for number in range(5)]
    for tenant in tenants:
        here.sessions._join(SessionKey(tenant, "viewer", tenant, here.tenants.lookup(tenant)), Ticket(Priority.WARM_UP))
    await until_called(here, 1)
    waiting = asyncio.create_task(here.sessions.open(principal(tenants[-1])))
    await settle()
    here.sts.gate.set()
    await waiting
    await settle()
    order = [dict(request.tags)["TenantId"] for request in here.sts.requests]
    assert order[:2] == [tenants[0], tenants[-1]]


async def test_a_caller_that_the_rate_cannot_serve_in_time_is_throttled_at_once() -> None:
    here = world(SessionRules(calls_per_second=2, call_seconds=0.5))
    outcomes = await asyncio.gather(
        *(here.sessions.open(principal(tenant_id(f"tenant-{number}"))) for number in range(4)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes[2:]] == [Throttled, Throttled]
    assert here.calls == 2


async def test_an_idle_subject_is_neither_refreshed_nor_kept() -> None:
    """INVARIANT of many subjects: a session costs calls and memory only while its subject is active."""
    here = world()
    here.sessions._roles = Roles({"viewer": session_policy("GetItem")}, ("viewer",))
    subjects = [principal(subject=f"u-{number}") for number in range(100)]
    for each in subjects:
        await here.sessions.open(each)
    assert here.calls == len(here.sessions) == 100
    for _ in range(4):  # one of them stays for the hour
        here.clock.now += HOUR / 4 - 10
        await here.sessions.open(subjects[0])
        await settle()
    assert here.calls == 101
    here.clock.now += HOUR / 4
    await here.sessions.open(principal(subject="u-new"))
    assert len(here.sessions) == 2
    assert here.calls == 102
    # who comes back gets a session of its own again
    assert (await here.sessions.open(subjects[7])).subject == "u-7"
    assert here.calls == 103


async def test_sessions_of_subjects_are_bounded_and_the_last_used_stay() -> None:
    here = world(SessionRules(sessions=10))
    here.sessions._roles = Roles({"viewer": session_policy("GetItem")}, ("viewer",))
    for number in range(30):
        await here.sessions.open(principal(subject=f"u-{number}"))
        await here.sessions.open(principal(subject="u-0"))
    assert len(here.sessions) == 10
    assert here.calls == 30
