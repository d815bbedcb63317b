"""Sessions: one for each tenant and role, shared by nobody else, given up in the end."""

import asyncio
import random
from dataclasses import replace

import pytest

from gateway.aws.sts.assume_role import subject_hash
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AccessDenied
from gateway.errors import Forbidden, Internal
from gateway.model.tenant import tenant_id
from tests.aws.tenant_fixtures import (
    ACME,
    GLOBEX,
    POOLED,
    REFUSED,
    ROLES,
    permissions_for,
    principal,
    session_policy,
    session_setup,
    settle,
    token,
    until_called,
)


async def test_a_session_is_opened_once_and_kept() -> None:
    setup = session_setup()
    first = await setup.sessions.open(principal())
    assert await setup.sessions.open(principal()) is first
    assert await setup.sessions.open(principal(subject="bob")) is first
    assert setup.calls == 1


async def test_a_session_carries_where_its_tenant_lives_and_what_it_may_do() -> None:
    silo = Tenancy(
        "globex",
        "arn:aws:iam::999999999999:role/globex",
        AwsTarget.regional("dynamodb", "us-east-1"),
        "us-east-1",
        "ext-1",
    )
    setup = session_setup(tenants=Tenants(POOLED, {GLOBEX: silo}))
    session = await setup.sessions.open(principal(GLOBEX, "viewer", "admin"))
    assert (session.tenant, session.role, session.tenancy) == (GLOBEX, "admin", silo)
    assert session.permissions.principal == {"aws:PrincipalTag/TenantId": "globex"}
    request = setup.sts.requests[0]
    assert (request.role_arn, request.region, request.external_id) == (silo.role_arn, "us-east-1", "ext-1")


async def test_sts_is_asked_for_the_roles_policy_and_the_tenants_tag() -> None:
    setup = session_setup(SessionRules(seconds=900))
    await setup.sessions.open(principal(ACME, "viewer"))
    request = setup.sts.requests[0]
    assert request.policy == ROLES.policy("viewer")
    assert request.tags == (("TenantId", "acme"), ("GatewayRole", "viewer"))
    assert (request.session_name, request.source_identity, request.seconds) == ("viewer@acme", "acme", 900)


async def test_tenants_and_roles_do_not_share_sessions() -> None:
    setup = session_setup()
    sessions = [
        await setup.sessions.open(principal(tenant, role)) for tenant in (ACME, GLOBEX) for role in ("admin", "viewer")
    ]
    assert [token(session) for session in sessions] == [
        "acme admin acme",
        "acme viewer acme",
        "globex admin globex",
        "globex viewer globex",
    ]
    assert setup.calls == 4


ACTING = Roles({name: session_policy("GetItem") for name in ("staff", "own", "acting")}, ["own", "acting"], ["acting"])


async def test_a_session_acts_for_its_own_tenant_and_subject() -> None:
    setup = session_setup(roles=ACTING)
    caller = await setup.sessions.open(principal(ACME, "own", subject="ann"))
    acting = await setup.sessions.act(caller, "acting", "bob")
    assert (acting.tenant, acting.role, acting.subject) == (ACME, "acting", "ann")
    assert acting.source_identity == caller.source_identity
    assert dict(setup.sts.requests[-1].tags) == {"TenantId": "acme", "GatewayRole": "acting", "Subject": "ann"}
    assert await setup.sessions.act(caller, "acting", "ann") is acting
    shared = await setup.sessions.open(principal(ACME, "staff", subject="bob"))
    assert (await setup.sessions.act(shared, "acting", "bob")).subject == "bob"


async def test_a_session_acts_in_an_acting_role_only_and_not_for_a_suspended_tenant() -> None:
    setup = session_setup(roles=ACTING)
    caller = await setup.sessions.open(principal(ACME, "own", subject="ann"))
    with pytest.raises(Internal, match="not an acting role"):
        await setup.sessions.act(caller, "staff", "ann")
    await setup.sessions.act(caller, "acting", "ann")
    setup.sessions.suspend(ACME)
    with pytest.raises(Forbidden):
        await setup.sessions.act(caller, "acting", "ann")


async def test_hyphens_in_tenants_and_roles_do_not_mix_sessions_up() -> None:
    setup = session_setup(roles=Roles({"c": session_policy("GetItem"), "b-c": session_policy("PutItem")}))
    setup.sessions._permissions_for = lambda tenancy, tenant, role, subject: permissions_for(tenancy, tenant, "viewer")
    one = await setup.sessions.open(principal(tenant_id("aa-b"), "c"))
    other = await setup.sessions.open(principal(tenant_id("aa"), "b-c"))
    assert (token(one), token(other)) == ("aa-b c aa-b", "aa b-c aa")
    assert setup.sts.requests[0].session_name != setup.sts.requests[1].session_name


async def test_a_token_without_a_known_role_opens_nothing() -> None:
    setup = session_setup()
    with pytest.raises(Forbidden, match="no role that this gateway knows"):
        await setup.sessions.open(principal(ACME, "superuser"))
    assert setup.calls == 0


async def test_sessions_per_subject_name_the_subject_and_are_not_shared() -> None:
    setup = session_setup(SessionRules(per_subject=True))
    ann, bob = [await setup.sessions.open(principal(subject=subject)) for subject in ("ann", "bob")]
    assert token(ann) == f"acme viewer acme.{subject_hash('ann')}"
    assert token(bob) == f"acme viewer acme.{subject_hash('bob')}"
    assert await setup.sessions.open(principal(subject="ann")) is ann


async def test_a_tenant_that_moves_gets_another_session() -> None:
    setup = session_setup()
    old = await setup.sessions.open(principal())
    elsewhere = replace(POOLED, table="elsewhere")
    setup.tenants._silos[ACME] = elsewhere
    new = await setup.sessions.open(principal())
    assert (old.tenancy, new.tenancy) == (POOLED, elsewhere)


async def test_a_tenant_that_moves_while_its_session_is_opened_gets_one_for_the_new_place() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    opening = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    elsewhere = replace(POOLED, table="elsewhere")
    setup.tenants._silos[ACME] = elsewhere
    setup.sts.gate.set()
    assert (await opening).tenancy == elsewhere


async def test_secrets_do_not_show_in_a_session() -> None:
    session = await session_setup().sessions.open(principal())
    assert "secret" not in repr(session)
    assert "acme viewer acme" not in repr(session)


async def test_a_hundred_at_once_ask_sts_once() -> None:
    setup = session_setup()
    sessions = await asyncio.gather(*(setup.sessions.open(principal()) for _ in range(100)))
    assert setup.calls == 1
    assert all(session is sessions[0] for session in sessions)


async def test_a_hundred_at_once_are_refused_by_one_answer_each_with_an_error_of_its_own() -> None:
    setup = session_setup()
    setup.sts.fault = REFUSED
    answers = await asyncio.gather(*(setup.sessions.open(principal()) for _ in range(100)), return_exceptions=True)
    assert setup.calls == 1
    assert all(isinstance(answer, AccessDenied) for answer in answers)
    assert len({id(answer) for answer in answers}) == 100


async def test_a_caller_that_is_cancelled_leaves_the_session_to_the_others() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    first, second = (asyncio.create_task(setup.sessions.open(principal())) for _ in range(2))
    await until_called(setup, 1)
    first.cancel()
    await settle()
    assert first.cancelled()
    setup.sts.gate.set()
    assert (await second).tenant == ACME
    assert setup.calls == 1


async def test_a_session_is_kept_though_nobody_waits_for_it_any_more() -> None:
    setup = session_setup()
    setup.sts.gate.clear()
    only = asyncio.create_task(setup.sessions.open(principal()))
    await until_called(setup, 1)
    only.cancel()
    setup.sts.gate.set()
    await settle()
    await setup.sessions.open(principal())
    assert setup.calls == 1


@pytest.mark.no_cover
async def test_fifty_tenants_interleaved_never_meet_a_foreign_session() -> None:
    # more tenants than are kept, and sessions that end now and then: every way through is walked
    setup = session_setup(SessionRules(sessions=80, calls_per_second=100_000))
    chance = random.Random(7)
    tenants = [tenant_id(f"t{'-' * (number % 3)}{number}") for number in range(50)]

    async def walk() -> int:
        for _ in range(200):
            tenant, role = chance.choice(tenants), chance.choice(("admin", "viewer"))
            setup.clock.now += chance.choice((0, 0, 1, 40))
            session = await setup.sessions.open(principal(tenant, role))
            assert (session.tenant, session.role) == (tenant, role)
            assert token(session) == f"{tenant} {role} {tenant}"
            assert session.permissions.principal["aws:PrincipalTag/TenantId"] == tenant
        return 200

    assert sum(await asyncio.gather(*(walk() for _ in range(50)))) == 10_000
    await setup.sessions.close()


async def test_no_more_calls_than_allowed_are_made_at_one_time() -> None:
    setup = session_setup(SessionRules(calls=3))
    await asyncio.gather(*(setup.sessions.open(principal(tenant_id(f"tenant-{number}"))) for number in range(20)))
    assert (setup.calls, setup.sts.most_running) == (20, 3)


async def test_the_session_unused_for_longest_makes_room() -> None:
    setup = session_setup(SessionRules(sessions=2))
    for tenant in (ACME, GLOBEX, ACME, tenant_id("initech")):
        await setup.sessions.open(principal(tenant))
    assert setup.calls == 3
    await setup.sessions.open(principal(ACME))
    assert setup.calls == 3
    await setup.sessions.open(principal(GLOBEX))
    assert setup.calls == 4
    assert len(setup.sessions._kept) == 2
