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
    session_setup,
    settle,
    token,
    until_called,
)


async def test_a_session_is_refreshed_in_the_background_ahead_of_its_end() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.clock.now += HOUR * 0.74
    assert await setup.sessions.open(principal()) is first
    await settle()
    assert setup.calls == 1
    setup.clock.now += HOUR * 0.16
    # whoever asks meanwhile does not wait
    assert await setup.sessions.open(principal()) is first
    assert await setup.sessions.open(principal()) is first
    await settle()
    second = await setup.sessions.open(principal())
    assert second.credentials != first.credentials
    assert setup.calls == 2


@pytest.mark.parametrize(("jitter", "share"), [(0.0, 0.75), (1.0, 0.9)])
async def test_the_time_of_a_refresh_differs_between_sessions(jitter: float, share: float) -> None:
    setup = session_setup()
    setup.sessions._jitter = lambda: jitter
    await setup.sessions.open(principal())
    setup.clock.now += (HOUR - 30) * share - 1
    await setup.sessions.open(principal())
    await settle()
    assert setup.calls == 1
    setup.clock.now += 2
    await setup.sessions.open(principal())
    await settle()
    assert setup.calls == 2


async def test_a_refresh_keeps_the_permissions_and_what_they_remember() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.clock.now += HOUR * 0.9
    await setup.sessions.open(principal())
    await settle()
    second = await setup.sessions.open(principal())
    assert second is not first
    assert second.permissions is first.permissions


async def test_a_session_about_to_end_is_not_handed_out() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.clock.now += HOUR - 29
    second = await setup.sessions.open(principal())
    assert second.credentials.expires_at > first.credentials.expires_at
    assert setup.calls == 2


@pytest.mark.parametrize("life", [0.0, 29.0, -HOUR, float("nan")])
async def test_credentials_that_are_already_over_open_nothing(life: float) -> None:
    setup = session_setup()
    setup.sts.life = life
    with pytest.raises(Unavailable, match="already over"):
        await setup.sessions.open(principal())


async def test_a_session_ends_by_our_clock_where_that_is_behind_the_clock_of_aws() -> None:
    setup = session_setup()
    setup.sts.life = 3 * HOUR
    await setup.sessions.open(principal())
    setup.clock.now += HOUR
    await setup.sessions.open(principal())
    assert setup.calls == 2


async def test_a_clock_set_back_prolongs_nothing() -> None:
    setup = session_setup()
    await setup.sessions.open(principal())
    setup.clock.now -= 40
    await setup.sessions.open(principal())
    assert setup.calls == 2


async def test_a_clock_set_back_does_not_prolong_a_failure() -> None:
    setup = session_setup()
    setup.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await setup.sessions.open(principal())
    setup.sts.fault = None
    setup.clock.now -= HOUR
    await setup.sessions.open(principal())


async def test_a_clock_set_back_does_not_put_a_refresh_off() -> None:
    setup = session_setup()
    await setup.sessions.open(principal())
    setup.clock.now += HOUR * 0.9
    setup.sts.fault = OUTAGE
    for calls in (2, 3):
        await setup.sessions.open(principal())
        await settle()
        assert setup.calls == calls
        setup.clock.now -= 1


async def test_a_session_that_aws_no_longer_accepts_is_renewed_once_for_all() -> None:
    setup = session_setup()
    old = await setup.sessions.open(principal())
    setup.clock.now += 60
    renewed = await asyncio.gather(*(setup.sessions.renew(old) for _ in range(100)))
    assert setup.calls == 2
    assert all(session is renewed[0] for session in renewed)
    assert renewed[0].credentials != old.credentials
    assert (renewed[0].tenant, renewed[0].role) == (ACME, "viewer")
    assert await setup.sessions.open(principal()) is renewed[0]


async def test_renewing_gives_the_kept_session_where_that_is_another() -> None:
    setup = session_setup()
    old = await setup.sessions.open(principal())
    setup.clock.now += 60
    new = await setup.sessions.renew(old)
    assert await setup.sessions.renew(old) is new
    assert setup.calls == 2


async def test_renewing_keeps_the_subject() -> None:
    setup = session_setup(SessionRules(per_subject=True))
    old = await setup.sessions.open(principal(subject="ann"))
    setup.clock.now += 60
    assert token(await setup.sessions.renew(old)) == token(old)


async def test_a_session_that_was_just_given_is_not_asked_for_again() -> None:
    setup = session_setup()
    session = await setup.sessions.open(principal())
    with pytest.raises(Unavailable, match="just given"):
        await setup.sessions.renew(session)
    assert setup.calls == 1


async def test_renewing_fails_closed_while_sts_is_down() -> None:
    setup = session_setup()
    old = await setup.sessions.open(principal())
    setup.clock.now += 60
    setup.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await setup.sessions.renew(old)
    with pytest.raises(Unavailable):
        await setup.sessions.open(principal())


async def test_a_session_that_is_no_longer_kept_is_renewed() -> None:
    setup = session_setup()
    old = await setup.sessions.open(principal())
    setup.sessions.forget(ACME)
    assert (await setup.sessions.renew(old)).credentials != old.credentials


async def test_a_warm_up_opens_what_is_not_there_yet_and_skips_who_is_not_served() -> None:
    setup = session_setup()
    await setup.sessions.open(principal(ACME))
    setup.tenants.suspend(tenant_id("gone"))
    tenants = [ACME, tenant_id("gone"), *(tenant_id(f"tenant-{number}") for number in range(40))]
    await setup.sessions.warm_up(tenants, ["viewer", "admin"])
    assert setup.calls == 1 + 1 + 40 * 2
    await setup.sessions.open(principal(tenant_id("tenant-7"), "admin"))
    assert setup.calls == 82
    assert setup.sts.most_running <= SessionRules().calls


async def test_a_warm_up_ends_where_sts_fails() -> None:
    setup = session_setup()
    setup.sts.fault = OUTAGE
    await setup.sessions.warm_up([tenant_id(f"tenant-{number}") for number in range(1_000)], ["viewer"])
    assert setup.calls == SessionRules().calls


async def test_a_caller_overtakes_the_warm_up() -> None:
    setup = session_setup(SessionRules(calls=1))
    setup.sts.gate.clear()
    tenants = [tenant_id(f"tenant-{number}") for number in range(5)]
    for tenant in tenants:
        setup.sessions._join(
            SessionKey(tenant, "viewer", tenant, setup.tenants.lookup(tenant)), Ticket(Priority.WARM_UP)
        )
    await until_called(setup, 1)
    waiting = asyncio.create_task(setup.sessions.open(principal(tenants[-1])))
    await settle()
    setup.sts.gate.set()
    await waiting
    await settle()
    order = [dict(request.tags)["TenantId"] for request in setup.sts.requests]
    assert order[:2] == [tenants[0], tenants[-1]]


async def test_a_caller_that_the_rate_cannot_serve_in_time_is_throttled_at_once() -> None:
    setup = session_setup(SessionRules(calls_per_second=2, call_seconds=0.5))
    outcomes = await asyncio.gather(
        *(setup.sessions.open(principal(tenant_id(f"tenant-{number}"))) for number in range(4)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes[2:]] == [Throttled, Throttled]
    assert setup.calls == 2


async def test_an_idle_subject_is_neither_refreshed_nor_kept() -> None:
    """INVARIANT of many subjects: a session costs calls and memory only while its subject is active."""
    setup = session_setup()
    setup.sessions._roles = Roles({"viewer": session_policy("GetItem")}, ("viewer",))
    subjects = [principal(subject=f"u-{number}") for number in range(100)]
    for each in subjects:
        await setup.sessions.open(each)
    assert setup.calls == len(setup.sessions) == 100
    for _ in range(4):  # one of them stays for the hour
        setup.clock.now += HOUR / 4 - 10
        await setup.sessions.open(subjects[0])
        await settle()
    assert setup.calls == 101
    setup.clock.now += HOUR / 4
    await setup.sessions.open(principal(subject="u-new"))
    assert len(setup.sessions) == 2
    assert setup.calls == 102
    # who comes back gets a session of its own again
    assert (await setup.sessions.open(subjects[7])).subject == "u-7"
    assert setup.calls == 103


async def test_sessions_of_subjects_are_bounded_and_the_last_used_stay() -> None:
    setup = session_setup(SessionRules(sessions=10))
    setup.sessions._roles = Roles({"viewer": session_policy("GetItem")}, ("viewer",))
    for number in range(30):
        await setup.sessions.open(principal(subject=f"u-{number}"))
        await setup.sessions.open(principal(subject="u-0"))
    assert len(setup.sessions) == 10
    assert setup.calls == 30
