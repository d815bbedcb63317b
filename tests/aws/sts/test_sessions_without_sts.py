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
    session_setup,
    settle,
    until_called,
)
from tests.graph.http.virtual_time import run_virtually


@pytest.mark.parametrize("fault", [OUTAGE, ThroughputExceeded("slow down"), REFUSED, TOO_LARGE, OSError("boom")])
async def test_an_unexpired_session_keeps_serving_and_is_tried_again_less_and_less_often(fault: Exception) -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.sts.fault = fault
    start = setup.clock.now + HOUR * 0.9
    seconds: list[int] = []
    for second in range(300):
        setup.clock.now = start + second
        assert await setup.sessions.open(principal()) is first
        await settle()
        if setup.calls - 1 > len(seconds):
            seconds.append(second)
    gaps = [later - earlier for earlier, later in itertools.pairwise(seconds)]
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]
    assert max(gaps) <= 60
    setup.sts.fault = None
    setup.clock.now += 61
    await setup.sessions.open(principal())
    await settle()
    assert await setup.sessions.open(principal()) is not first


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
    setup = session_setup()
    await setup.sessions.open(principal())
    setup.sts.fault = fault
    setup.clock.now += HOUR
    with pytest.raises(expected):
        await setup.sessions.open(principal())


async def test_a_session_that_is_opened_anew_shows_the_outage_and_takes_nothing_from_callers() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await setup.sessions.open_anew(principal())
    assert await setup.sessions.open(principal()) is first
    setup.sts.fault = None
    setup.clock.now += 2
    second = await setup.sessions.open_anew(principal())
    assert second is not first
    assert await setup.sessions.open(principal()) is second


async def test_after_an_outage_a_session_is_opened_again() -> None:
    setup = session_setup()
    setup.sts.fault = OUTAGE
    with pytest.raises(Unavailable):
        await setup.sessions.open(principal())
    setup.sts.fault = None
    setup.clock.now += 2
    assert (await setup.sessions.open(principal())).tenant == ACME


@pytest.mark.parametrize("fault", [REFUSED, TOO_LARGE, IsolationBreach("another session")])
async def test_a_refusal_is_remembered_for_a_moment_for_this_tenant_and_role_only(fault: GatewayError) -> None:
    setup = session_setup()
    setup.sts.fault = fault
    for _ in range(3):
        with pytest.raises(type(fault), match=fault.message):
            await setup.sessions.open(principal())
    assert setup.calls == 1
    setup.sts.fault = None
    await setup.sessions.open(principal(ACME, "admin"))
    await setup.sessions.open(principal(GLOBEX))
    with pytest.raises(type(fault)):
        await setup.sessions.open(principal())
    setup.clock.now += 5
    await setup.sessions.open(principal())


async def test_failures_that_go_on_are_never_held_for_longer_than_five_seconds() -> None:
    setup = session_setup()
    setup.sts.fault = OUTAGE
    for attempt in range(1, 40):
        with pytest.raises(Unavailable):
            await setup.sessions.open(principal())
        assert setup.calls == attempt
        setup.clock.now += 5


async def test_remembered_failures_are_bounded() -> None:
    setup = session_setup(SessionRules(sessions=10))
    setup.sts.fault = REFUSED
    for number in range(30):
        with pytest.raises(Forbidden):
            await setup.sessions.open(principal(tenant_id(f"tenant-{number}")))
    assert len(setup.sessions._failures) == 10


async def test_a_remembered_error_says_what_the_first_one_said() -> None:
    setup = session_setup()
    setup.sts.fault = REFUSED
    errors = []
    for _ in range(2):
        with pytest.raises(AccessDenied) as refused:
            await setup.sessions.open(principal())
        errors.append((refused.value.message, refused.value.code, refused.value.said))
    assert errors[0] == errors[1]


async def test_a_policy_too_large_is_asked_once_and_with_the_policy() -> None:
    setup = session_setup()
    setup.sts.fault = TOO_LARGE
    with pytest.raises(Internal):
        await setup.sessions.open(principal())
    assert [request.policy for request in setup.sts.requests] == [ROLES.policy("viewer")]


def test_a_slow_sts_is_given_up() -> None:
    async def opened() -> None:
        setup = session_setup()
        setup.sts.gate.clear()
        with pytest.raises(AnswerLate):
            await setup.sessions.open(principal())
        assert setup.sts.running == 0

    run_virtually(opened())


def test_a_caller_that_waits_for_a_turn_behind_a_slow_sts_is_given_up_too() -> None:
    async def opened() -> None:
        setup = session_setup(SessionRules(calls=1))
        setup.sts.gate.clear()
        tenants = [tenant_id(f"tenant-{number}") for number in range(10)]
        answers = await asyncio.gather(
            *(setup.sessions.open(principal(tenant)) for tenant in tenants), return_exceptions=True
        )
        assert {type(answer) for answer in answers} == {AnswerLate, Throttled}
        # they did not each get a turn of their own first
        assert setup.calls < 10
        setup.sts.gate.set()
        setup.clock.now += 5
        await setup.sessions.open(principal(tenants[-1]))

    run_virtually(opened())


async def test_a_slow_refresh_holds_nobody_up() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    setup.sts.gate.clear()
    setup.clock.now += HOUR * 0.9
    for _ in range(10):
        assert await setup.sessions.open(principal()) is first
    await until_called(setup, 2)
    assert setup.calls == 2
    setup.sts.gate.set()
    await settle()
    assert await setup.sessions.open(principal()) is not first


async def test_an_unexpected_error_is_ours_and_says_nothing() -> None:
    setup = session_setup()
    setup.sts.fault = ZeroDivisionError("AKIASECRET")
    with pytest.raises(Internal) as refused:
        await setup.sessions.open(principal())
    assert refused.value.message == "the session could not be opened"


async def test_permissions_that_cannot_be_made_open_no_session() -> None:
    setup = session_setup()

    def broken(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None) -> Permissions:
        raise ValueError("policy file is corrupt")

    setup.sessions._permissions_for = broken
    with pytest.raises(Internal):
        await setup.sessions.open(principal())
    assert setup.calls == 0


async def test_a_failure_is_logged_without_what_aws_said(caplog: pytest.LogCaptureFixture) -> None:
    setup = session_setup()
    setup.sts.fault = REFUSED
    with pytest.raises(Forbidden):
        await setup.sessions.open(principal())
    assert caplog.messages == [f"no session for tenant `acme` as `viewer`: {REFUSED.message}"]
