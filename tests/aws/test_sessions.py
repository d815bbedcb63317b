"""Sessions: opened once, kept apart, refreshed in time, gone when they have to be."""

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.aws.errors import AccessDenied, AnswerLate, AwsUnavailable, InvalidRequest, ThroughputExceeded
from gateway.aws.roles import Roles
from gateway.aws.session import Session, SessionRules
from gateway.aws.sessions import Sessions
from gateway.aws.sts import subject_hash
from gateway.aws.target import Target
from gateway.aws.tenants import Tenancy, Tenants, UnknownTenant
from gateway.errors import Forbidden, GatewayError, Internal, IsolationBreach, TenantSuspended, Throttled, Unavailable
from gateway.iam.permissions import Permissions
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_world import (
    ACME,
    GLOBEX,
    POOLED,
    ROLES,
    World,
    permissions_for,
    principal,
    session_policy,
    settle,
    world,
)

HOUR = 3_600
OUTAGE = AwsUnavailable("sts is not available at the moment")
REFUSED = AccessDenied("aws gives this tenant and role no session")
TOO_LARGE = InvalidRequest("sts does not accept the session policy or the tags")


def token(session: Session) -> str | None:
    """What STS put into the token of `MemorySts`: tenant, role and source identity of the request."""
    return session.credentials.session_token


async def until_called(here: World, calls: int) -> None:
    for _ in range(100):
        if here.calls >= calls:
            return
        await asyncio.sleep(0)
    pytest.fail(f"sts was called {here.calls} times, not {calls}")


# --- one session for each tenant and role


async def test_a_session_is_opened_once_and_kept() -> None:
    here = world()
    first = await here.sessions.open(principal())
    assert await here.sessions.open(principal()) is first
    assert await here.sessions.open(principal(subject="bob")) is first
    assert here.calls == 1


async def test_a_session_carries_where_its_tenant_lives_and_what_it_may_do() -> None:
    silo = Tenancy(
        "globex",
        "arn:aws:iam::999999999999:role/globex",
        Target.regional("dynamodb", "us-east-1"),
        "us-east-1",
        "ext-1",
    )
    here = world(tenants=Tenants(POOLED, {GLOBEX: silo}))
    session = await here.sessions.open(principal(GLOBEX, "viewer", "admin"))
    assert (session.tenant, session.role, session.tenancy) == (GLOBEX, "admin", silo)
    assert session.permissions.principal == {"aws:PrincipalTag/TenantId": "globex"}
    asked = here.sts.requests[0]
    assert (asked.role_arn, asked.region, asked.external_id) == (silo.role_arn, "us-east-1", "ext-1")


async def test_sts_is_asked_for_the_roles_policy_and_the_tenants_tag() -> None:
    here = world(SessionRules(seconds=900))
    await here.sessions.open(principal(ACME, "viewer"))
    asked = here.sts.requests[0]
    assert asked.policy == ROLES.policy("viewer")
    assert asked.tags == (("TenantId", "acme"), ("GatewayRole", "viewer"))
    assert (asked.session_name, asked.source_identity, asked.seconds) == ("viewer@acme", "acme", 900)


async def test_tenants_and_roles_do_not_share_sessions() -> None:
    here = world()
    sessions = [
        await here.sessions.open(principal(tenant, role)) for tenant in (ACME, GLOBEX) for role in ("admin", "viewer")
    ]
    assert [token(session) for session in sessions] == [
        "acme admin acme",
        "acme viewer acme",
        "globex admin globex",
        "globex viewer globex",
    ]
    assert here.calls == 4


async def test_hyphens_in_tenants_and_roles_do_not_mix_sessions_up() -> None:
    here = world(roles=Roles({"c": session_policy("GetItem"), "b-c": session_policy("PutItem")}))
    here.sessions._permissions_for = lambda tenancy, tenant, role: permissions_for(tenancy, tenant, "viewer")
    one = await here.sessions.open(principal(tenant_id("aa-b"), "c"))
    other = await here.sessions.open(principal(tenant_id("aa"), "b-c"))
    assert (token(one), token(other)) == ("aa-b c aa-b", "aa b-c aa")
    assert here.sts.requests[0].session_name != here.sts.requests[1].session_name


async def test_a_token_without_a_known_role_opens_nothing() -> None:
    here = world()
    with pytest.raises(Forbidden, match="no role that this gateway knows"):
        await here.sessions.open(principal(ACME, "superuser"))
    assert here.calls == 0


async def test_sessions_per_subject_name_the_subject_and_are_not_shared() -> None:
    here = world(SessionRules(per_subject=True))
    ann, bob = [await here.sessions.open(principal(subject=subject)) for subject in ("ann", "bob")]
    assert token(ann) == f"acme viewer acme.{subject_hash('ann')}"
    assert token(bob) == f"acme viewer acme.{subject_hash('bob')}"
    assert await here.sessions.open(principal(subject="ann")) is ann


async def test_a_tenant_that_moves_gets_another_session() -> None:
    here = world()
    old = await here.sessions.open(principal())
    elsewhere = replace(POOLED, table="elsewhere")
    here.tenants._silos[ACME] = elsewhere
    new = await here.sessions.open(principal())
    assert (old.tenancy, new.tenancy) == (POOLED, elsewhere)


async def test_a_tenant_that_moves_while_its_session_is_opened_gets_one_for_the_new_place() -> None:
    here = world()
    here.sts.gate.clear()
    opening = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    elsewhere = replace(POOLED, table="elsewhere")
    here.tenants._silos[ACME] = elsewhere
    here.sts.gate.set()
    assert (await opening).tenancy == elsewhere


async def test_secrets_do_not_show_in_a_session() -> None:
    session = await world().sessions.open(principal())
    assert "secret" not in repr(session)
    assert "acme viewer acme" not in repr(session)


# --- many at once


async def test_a_hundred_at_once_ask_sts_once() -> None:
    here = world()
    sessions = await asyncio.gather(*(here.sessions.open(principal()) for _ in range(100)))
    assert here.calls == 1
    assert all(session is sessions[0] for session in sessions)


async def test_a_hundred_at_once_are_refused_by_one_answer_each_with_an_error_of_its_own() -> None:
    here = world()
    here.sts.fault = REFUSED
    answers = await asyncio.gather(*(here.sessions.open(principal()) for _ in range(100)), return_exceptions=True)
    assert here.calls == 1
    assert all(isinstance(answer, AccessDenied) for answer in answers)
    assert len({id(answer) for answer in answers}) == 100


async def test_who_is_cancelled_leaves_the_session_to_the_others() -> None:
    here = world()
    here.sts.gate.clear()
    first, second = (asyncio.create_task(here.sessions.open(principal())) for _ in range(2))
    await until_called(here, 1)
    first.cancel()
    await settle()
    assert first.cancelled()
    here.sts.gate.set()
    assert (await second).tenant == ACME
    assert here.calls == 1


async def test_a_session_is_kept_though_nobody_waits_for_it_any_more() -> None:
    here = world()
    here.sts.gate.clear()
    only = asyncio.create_task(here.sessions.open(principal()))
    await until_called(here, 1)
    only.cancel()
    here.sts.gate.set()
    await settle()
    await here.sessions.open(principal())
    assert here.calls == 1


async def test_fifty_tenants_interleaved_never_meet_a_foreign_session() -> None:
    # more tenants than are kept, and sessions that end now and then: every way through is walked
    here = world(SessionRules(sessions=80))
    chance = random.Random(7)
    tenants = [tenant_id(f"t{'-' * (number % 3)}{number}") for number in range(50)]

    async def walk() -> int:
        for _ in range(200):
            tenant, role = chance.choice(tenants), chance.choice(("admin", "viewer"))
            here.clock.now += chance.choice((0, 0, 1, 40))
            session = await here.sessions.open(principal(tenant, role))
            assert (session.tenant, session.role) == (tenant, role)
            assert token(session) == f"{tenant} {role} {tenant}"
            assert session.permissions.principal["aws:PrincipalTag/TenantId"] == tenant
        return 200

    assert sum(await asyncio.gather(*(walk() for _ in range(50)))) == 10_000
    await here.sessions.close()


async def test_no_more_calls_than_allowed_are_made_at_one_time() -> None:
    here = world(SessionRules(calls=3))
    await asyncio.gather(*(here.sessions.open(principal(tenant_id(f"tenant-{number}"))) for number in range(20)))
    assert (here.calls, here.sts.most_running) == (20, 3)


async def test_the_session_unused_for_longest_makes_room() -> None:
    here = world(SessionRules(sessions=2))
    for tenant in (ACME, GLOBEX, ACME, tenant_id("initech")):
        await here.sessions.open(principal(tenant))
    assert here.calls == 3
    await here.sessions.open(principal(ACME))
    assert here.calls == 3
    await here.sessions.open(principal(GLOBEX))
    assert here.calls == 4
    assert len(here.sessions._kept) == 2


# --- time


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


# --- when STS fails


@pytest.mark.parametrize("fault", [OUTAGE, ThroughputExceeded("slow down"), REFUSED, TOO_LARGE, OSError("boom")])
async def test_an_unexpired_session_keeps_serving_and_is_tried_again_less_and_less_often(fault: Exception) -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.sts.fault = fault
    start = here.clock.now + HOUR * 0.9
    moments: list[int] = []
    for second in range(300):
        here.clock.now = start + second
        assert await here.sessions.open(principal()) is first
        await settle()
        if here.calls - 1 > len(moments):
            moments.append(second)
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]
    assert max(gaps) <= 60
    here.sts.fault = None
    here.clock.now += 61
    await here.sessions.open(principal())
    await settle()
    assert await here.sessions.open(principal()) is not first


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (OUTAGE, Unavailable),
        (ThroughputExceeded("slow down"), Throttled),
        (REFUSED, Forbidden),
        (TOO_LARGE, Internal),
        (IsolationBreach("sts answered with the credentials of another session"), IsolationBreach),
    ],
)
async def test_an_expired_session_fails_closed(fault: Exception, expected: type[GatewayError]) -> None:
    here = world()
    await here.sessions.open(principal())
    here.sts.fault = fault
    here.clock.now += HOUR
    with pytest.raises(expected):
        await here.sessions.open(principal())


async def test_after_an_outage_a_session_is_opened_again() -> None:
    here = world()
    here.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await here.sessions.open(principal())
    here.sts.fault = None
    here.clock.now += 2
    assert (await here.sessions.open(principal())).tenant == ACME


@pytest.mark.parametrize("fault", [REFUSED, TOO_LARGE, IsolationBreach("another session")])
async def test_a_refusal_is_remembered_for_a_moment_for_this_tenant_and_role_only(fault: GatewayError) -> None:
    here = world()
    here.sts.fault = fault
    for _ in range(3):
        with pytest.raises(type(fault), match=fault.message):
            await here.sessions.open(principal())
    assert here.calls == 1
    here.sts.fault = None
    await here.sessions.open(principal(ACME, "admin"))
    await here.sessions.open(principal(GLOBEX))
    with pytest.raises(type(fault)):
        await here.sessions.open(principal())
    here.clock.now += 5
    await here.sessions.open(principal())


async def test_failures_that_go_on_are_never_held_for_longer_than_five_seconds() -> None:
    here = world()
    here.sts.fault = OUTAGE
    for attempt in range(1, 40):
        with pytest.raises(Unavailable):
            await here.sessions.open(principal())
        assert here.calls == attempt
        here.clock.now += 5


async def test_remembered_failures_are_bounded() -> None:
    here = world(SessionRules(sessions=10))
    here.sts.fault = REFUSED
    for number in range(30):
        with pytest.raises(Forbidden):
            await here.sessions.open(principal(tenant_id(f"tenant-{number}")))
    assert len(here.sessions._failures) == 10


async def test_a_remembered_error_tells_what_the_first_one_told() -> None:
    here = world()
    here.sts.fault = REFUSED
    told = []
    for _ in range(2):
        with pytest.raises(AccessDenied) as refused:
            await here.sessions.open(principal())
        told.append((refused.value.message, refused.value.code, refused.value.said))
    assert told[0] == told[1]


async def test_a_policy_too_large_is_asked_once_and_with_the_policy() -> None:
    here = world()
    here.sts.fault = TOO_LARGE
    with pytest.raises(Internal):
        await here.sessions.open(principal())
    assert [asked.policy for asked in here.sts.requests] == [ROLES.policy("viewer")]


async def test_a_slow_sts_is_given_up() -> None:
    here = world(SessionRules(call_seconds=0.01))
    here.sts.gate.clear()
    with pytest.raises(AnswerLate):
        await here.sessions.open(principal())
    assert here.sts.running == 0


async def test_who_waits_for_a_turn_behind_a_slow_sts_is_given_up_too() -> None:
    here = world(SessionRules(calls=1, call_seconds=0.01))
    here.sts.gate.clear()
    tenants = [tenant_id(f"tenant-{number}") for number in range(10)]
    answers = await asyncio.gather(
        *(here.sessions.open(principal(tenant)) for tenant in tenants), return_exceptions=True
    )
    assert {type(answer) for answer in answers} == {AnswerLate}
    # they did not each get a turn of their own first
    assert here.calls < 10
    here.sts.gate.set()
    here.clock.now += 5
    await here.sessions.open(principal(tenants[-1]))


async def test_a_slow_refresh_holds_nobody_up() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.sts.gate.clear()
    here.clock.now += HOUR * 0.9
    for _ in range(10):
        assert await here.sessions.open(principal()) is first
    await until_called(here, 2)
    assert here.calls == 2
    here.sts.gate.set()
    await settle()
    assert await here.sessions.open(principal()) is not first


async def test_an_unexpected_error_is_ours_and_says_nothing() -> None:
    here = world()
    here.sts.fault = ZeroDivisionError("AKIASECRET")
    with pytest.raises(Internal) as refused:
        await here.sessions.open(principal())
    assert refused.value.message == "the session could not be opened"


async def test_permissions_that_cannot_be_made_open_no_session() -> None:
    here = world()

    def broken(tenancy: Tenancy, tenant: TenantId, role: str) -> Permissions:
        raise ValueError("policy file is corrupt")

    here.sessions._permissions_for = broken
    with pytest.raises(Internal):
        await here.sessions.open(principal())
    assert here.calls == 0


async def test_a_failure_is_logged_without_what_aws_said(caplog: pytest.LogCaptureFixture) -> None:
    here = world()
    here.sts.fault = REFUSED
    with pytest.raises(Forbidden):
        await here.sessions.open(principal())
    assert caplog.messages == [f"no session for tenant `acme` as `viewer`: {REFUSED.message} ()"]


# --- tenants that are not served


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
    assert here.sessions._kept == {}


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


# --- a session that AWS no longer accepts


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


# --- the end


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
