"""What ends a subscription at once, and with which close code."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import GatewayError, Throttled, Unavailable
from gateway.graph.subscription import cohort
from gateway.graph.subscription import subscriptions as room
from gateway.graph.subscription.event_reader import EventReader
from gateway.identity.revocations import revoke
from gateway.model.tenant import TenantId
from gateway.sandbox.dev.support_grants import sign_grant
from gateway.setting_types import IssuerSettings, SupportSettings
from gateway.testing.services import issuer
from gateway.testing.subscriber import SubscriptionFailed
from tests.graph.subscription.shop import ITEM, Shop, bearer, shop

ACME = TenantId("acme")


@pytest.fixture(autouse=True)
def quick_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHECK_SECONDS", 0.02)


def _expire(served: Shop) -> None:
    """An hour passes for everybody who asks what time it is."""
    served.gateway.authenticator._clock = lambda: time.time() + 1e6
    for connection in served.subscriptions._connections:
        connection.lasting._until = 0.0


async def _ending(served: Shop, change: Any, *, idle: bool = True) -> SubscriptionFailed:
    order = await served.order()
    async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
        await events.next()
        change(served)
        if not idle:
            before = dict(served.memory.rows)
            key = (f"TENANT#acme#ORDER#{order['orderId']}", "META")
            served.memory.rows[key] = {**before[key], "status": {"S": "SHIPPED"}}
            assert served.memory.on_change is not None
            await served.memory.on_change(before, served.memory.rows)
        with pytest.raises(SubscriptionFailed) as caught:
            await events.next()
    assert served.subscriptions.active == served.subscriptions.cohorts == served.subscriptions.connections == 0
    return caught.value


@pytest.mark.parametrize("idle", [True, False])
async def test_an_expired_token_ends_it(idle: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether anything changes or not; and where something does, it is not sent any more."""
    if not idle:
        monkeypatch.setattr(room, "CHECK_SECONDS", 1e6)
    async with shop() as served:
        failed = await _ending(served, _expire, idle=idle)
        assert failed.code == 4403
        assert "connect again with a new one" in str(failed)


async def test_a_suspended_tenant_ends_it() -> None:
    async with shop() as served:
        failed = await _ending(served, lambda served: served.gateway.sessions.suspend(ACME))
        assert (failed.code, "suspended" in str(failed)) == (4403, True)


async def test_forgotten_sessions_do_not_end_it() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            served.gateway.sessions.forget(ACME)
            await served.set_status(order["orderId"], "SHIPPED")
            assert (await events.next())["data"]["orderChanged"]["status"] == "SHIPPED"


def _change_policies(served: Shop) -> None:
    """What another model or deployment would bring: the same role, with other documents."""
    sessions = served.gateway.sessions
    weaker = sessions._permissions_for

    def permissions_for(tenancy: Any, tenant: TenantId, role: str, subject: str | None = None) -> Any:
        return weaker(tenancy, tenant, "support", None)

    sessions._permissions_for = permissions_for
    sessions.forget(ACME)


@pytest.mark.parametrize("idle", [True, False])
async def test_other_policies_end_it(idle: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not idle:
        monkeypatch.setattr(room, "CHECK_SECONDS", 1e6)
    async with shop() as served:
        failed = await _ending(served, _change_policies, idle=idle)
        assert (failed.code, "policies" in str(failed)) == (4403, True)


@pytest.mark.parametrize("error", [Throttled("sts is busy"), Unavailable("sts cannot be reached")])
async def test_trouble_with_a_session_ends_nothing(error: GatewayError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the caller still holds is not known: it receives nothing meanwhile, and everything afterwards."""
    monkeypatch.setattr(cohort, "_FIRST_PAUSE", 0.01)
    async with shop() as served:
        order = await served.order()
        async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            sessions = served.gateway.sessions
            opened, opening = sessions.open, asyncio.Event()

            async def fail(principal: Any) -> Any:
                opening.set()
                raise error

            await served.set_status(order["orderId"], "SHIPPED")
            monkeypatch.setattr(sessions, "open", fail)
            sessions.epoch += 1
            await opening.wait()
            waiting = asyncio.ensure_future(events.next())
            assert (await asyncio.wait((waiting,), timeout=0.2))[0] == set()
            monkeypatch.setattr(sessions, "open", opened)
            assert (await waiting)["data"]["orderChanged"]["status"] == "SHIPPED"


async def test_a_defect_is_reported_and_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop() as served:
        order = await served.order()
        async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            monkeypatch.setattr(EventReader, "_count", lambda self, log, codes: 1 / 0)
            await served.set_status(order["orderId"], "SHIPPED")
            with pytest.raises(SubscriptionFailed) as caught:
                await events.next()
    assert "INTERNAL" in str(caught.value.errors)


async def test_a_drain_ends_it_with_the_code_of_a_restart() -> None:
    async with shop() as served:
        failed = await _ending(served, lambda served: served.draining.append(True))
        assert failed.code == 1012
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.connect(bearer(), ITEM, {"id": "o-1"}):
                pass
        assert caught.value.code == 1012


async def test_a_revoked_grant_ends_it(tmp_path: Path) -> None:
    revoked = tmp_path / "revoked"
    revoked.touch()
    support = IssuerSettings(
        issuer=issuer().issuer,
        audience=["gateway"],
        jwks_url=f"{issuer().issuer}/keys",
        algorithms=["RS256"],
        support=SupportSettings(only=False),
    )
    async with shop(issuers=[support], support_revocations=revoked) as served:
        grant = sign_grant(issuer(), "acme", "jane@example.org", "ticket 4711", 5)
        async with served.connect(grant.token, ITEM, {"id": "o-none"}) as events:
            first = await events.next()
            assert first["extensions"]["supportAccess"]["actor"] == "jane@example.org"
            revoke(revoked, grant.grant_id)
            with pytest.raises(SubscriptionFailed) as caught:
                await events.next()
        assert (caught.value.code, "revoked" in str(caught.value)) == (4403, True)


async def test_a_failed_read_is_tried_again_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from gateway.aws.wire.errors import InvalidRequest  # noqa: F401  the module is loaded before it is used

    monkeypatch.setattr(cohort, "_FIRST_PAUSE", 0.01)
    async with shop() as served:
        order = await served.order()
        async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            served.memory.script["GetItem"].extend([lambda answer: answer, Unavailable("dynamodb cannot be reached")])
            await served.set_status(order["orderId"], "SHIPPED")
            assert (await events.next())["data"]["orderChanged"]["status"] == "SHIPPED"


async def test_a_read_that_does_not_end_is_given_up_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of a domain may wait for anything; the turn of its tenant is free again when its time is over."""
    monkeypatch.setattr(cohort, "_FIRST_PAUSE", 0.01)
    run, stuck = EventReader._run, list[bool]()

    async def run_once_too_long(self: EventReader, *given: Any) -> Any:
        if stuck:
            stuck.pop()
            await asyncio.Event().wait()
        return await run(self, *given)

    monkeypatch.setattr(EventReader, "_run", run_once_too_long)
    async with shop(request_timeout_seconds=1) as served:
        order = await served.order()
        async with served.connect(bearer(), ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            stuck.append(True)
            await served.set_status(order["orderId"], "SHIPPED")
            assert (await events.next())["data"]["orderChanged"]["status"] == "SHIPPED"
        assert "TIMEOUT" in str(served.lines)


class Expired:
    """An issuer whose token has expired."""

    epoch = 0

    async def still_holds(self, token: object) -> bool:
        return False


async def test_a_subscriber_that_shares_a_read_receives_nothing_once_its_own_token_has_expired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "CHECK_SECONDS", 1e6)
    async with shop() as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with (
            served.connect(bearer(), ITEM, variables) as valid,
            served.connect(bearer(), ITEM, variables) as late,
        ):
            await valid.next()
            await late.next()
            _, connection = served.subscriptions._connections
            connection.lasting._until, connection.lasting._authenticator = 0.0, Expired()
            await served.set_status(order["orderId"], "SHIPPED")
            assert (await valid.next())["data"]["orderChanged"]["status"] == "SHIPPED"
            with pytest.raises(SubscriptionFailed) as caught:
                await late.next()
            assert caught.value.code == 4403


class Silent:
    """An issuer whose keys never come."""

    epoch = 0

    async def still_holds(self, token: object) -> bool:
        await asyncio.Event().wait()
        return True


async def test_a_tenant_whose_issuer_is_silent_holds_up_no_other_tenants_check() -> None:
    async with shop() as served:
        async with (
            served.connect(bearer("globex"), ITEM, {"id": "o-none"}) as silent,
            served.connect(bearer(), ITEM, {"id": "o-none"}) as late,
        ):
            await silent.next()
            await late.next()
            first, second = served.subscriptions._connections
            first.lasting._until, first.lasting._authenticator = 0.0, Silent()
            while first.checking is None:  # noqa: ASYNC110  until its check waits for the issuer
                await asyncio.sleep(0.01)
            second.lasting._until, second.lasting._authenticator = 0.0, Expired()
            with pytest.raises(SubscriptionFailed) as caught:
                await late.next()
            assert caught.value.code == 4403
        assert served.subscriptions.connections == 0
