"""Sessions: what is left of them while STS fails, refuses or is slow."""

import asyncio
import itertools

import pytest

from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.errors import AccessDenied, AnswerLate, ThroughputExceeded
from gateway.errors import Forbidden, GatewayError, Internal, IsolationBreach, Throttled, Unavailable
from gateway.iam.dynamodb.permissions import Permissions
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_fixtures import (
    ACME,
    GLOBEX,
    HOUR,
    OUTAGE,
    REFUSED,
    ROLES,
    TOO_LARGE,
    principal,
    settle,
    until_called,
    world,
)


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


async def test_a_session_that_is_opened_anew_shows_the_outage_and_takes_nothing_from_callers() -> None:
    here = world()
    first = await here.sessions.open(principal())
    here.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await here.sessions.open_anew(principal())
    assert await here.sessions.open(principal()) is first
    here.sts.fault = None
    here.clock.now += 2
    second = await here.sessions.open_anew(principal())
    assert second is not first
    assert await here.sessions.open(principal()) is second


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
    assert {type(answer) for answer in answers} == {AnswerLate, Throttled}
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

    def broken(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None) -> Permissions:
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
    assert caplog.messages == [f"no session for tenant `acme` as `viewer`: {REFUSED.message}"]
