"""Remembered callers: nothing is asked twice, and whatever they rest on is refused at once when it is gone."""

import asyncio
import gc
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from gateway.aws.sts.assume_role import subject_hash
from gateway.aws.sts.callers import Caller, Callers
from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenants
from gateway.errors import Forbidden, GatewayError, TenantSuspended, Unauthenticated, Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.errors import RolesMissing, TokenRefused
from gateway.identity.issuer import Freshness
from gateway.identity.revocations import Revocations, revoke
from gateway.identity.support import SupportRules
from tests.aws.tenant_fixtures import (
    ACME,
    GLOBEX,
    OUTAGE,
    POOLED,
    REFUSED,
    ROLES,
    MemorySts,
    permissions_for,
    settle,
)
from tests.aws.tenant_fixtures import Clock as StsClock
from tests.identity.fixtures import NOW, Publisher, claims, good_token, header, issuer, public_jwk, rsa_key, sign
from tests.identity.test_support import grant

FRESH = Freshness(ttl=300, cooldown=5, stale=600)


@dataclass
class CallerSetup:
    freshness: Freshness = FRESH
    seconds: float = 60
    most: int = 10_000
    clock: StsClock = field(default_factory=lambda: StsClock(NOW))
    publisher: Publisher = field(default_factory=Publisher)

    def __post_init__(self) -> None:
        self.sts = MemorySts(self.clock)
        self.sts.gate.set()
        self.sessions = Sessions(
            self.sts, Tenants(POOLED), ROLES, permissions_for, SessionRules(), clock=self.clock, jitter=lambda: 0.5
        )
        self.authenticator = Authenticator(
            [issuer(freshness=self.freshness, algorithms=("RS256", "RS512", "ES256"))],
            fetch=self.publisher,
            clock=self.clock,
        )
        self.callers = Callers(
            self.authenticator,
            self.sessions,
            {"viewer": 50.0, "admin": 500.0}.__getitem__,
            clock=self.clock,
            seconds=self.seconds,
            most=self.most,
        )

    def known(self, token: str) -> Caller | None:
        return self.callers.known(f"Bearer {token}".encode())

    async def open(self, token: str) -> Caller:
        return await self.callers.open(f"Bearer {token}".encode())

    async def get(self, token: str) -> Caller:
        """As the endpoint asks for them."""
        return self.known(token) or await self.open(token)

    async def refused(self, token: str) -> GatewayError:
        try:
            caller = await self.get(token)
        except GatewayError as error:
            return error
        raise AssertionError(f"accepted as {caller.principal}")


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each signature that was looked at."""
    from gateway.identity import authenticator, keys

    real, seen = keys.signed_payload, list[str]()

    def counted(text: str, *given: object) -> bytes:
        seen.append(text)
        return real(text, *given)  # type: ignore[arg-type]  # as they were given

    monkeypatch.setattr(authenticator, "signed_payload", counted)
    return seen


async def remembered(setup: CallerSetup, token: str) -> Caller:
    """A caller for whom nothing is asked any more."""
    caller = await setup.open(token)
    assert setup.known(token) is caller
    return caller


async def test_a_caller_is_who_the_token_names_with_the_session_of_its_tenant_and_role() -> None:
    caller = await CallerSetup().open(good_token())
    assert (caller.principal.tenant, caller.principal.subject, caller.role) == (ACME, "user-1", "viewer")
    assert (caller.session.tenant, caller.session.role) == (ACME, "viewer")
    assert (caller.subject, caller.cost_limit) == (subject_hash("user-1"), 50.0)


async def test_nothing_is_asked_twice(verified: list[str]) -> None:
    setup, token = CallerSetup(), good_token()
    caller = await remembered(setup, token)
    assert [await setup.get(token) for _ in range(3)] == [caller] * 3
    assert (len(verified), setup.publisher.fetches, len(setup.sts.requests)) == (1, 1, 1)


async def test_two_tokens_are_two_callers_and_one_session() -> None:
    setup = CallerSetup()
    ann, bob = await setup.open(good_token(sub="ann")), await setup.open(good_token(sub="bob"))
    assert (ann.principal.subject, bob.principal.subject) == ("ann", "bob")
    assert ann.session is bob.session


async def test_a_changed_letter_is_another_header() -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    for changed in (token[:-2] + ("AA" if token[-2:] != "AA" else "BA"), token + "A", token[:-1], ""):
        assert isinstance(await setup.refused(changed), Unauthenticated)
    assert setup.callers.known(None) is None


async def test_no_token_is_kept() -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    held, pending = set[int](), list[Any]([setup.callers._remembered])
    while pending:
        each = pending.pop()
        if id(each) not in held and not isinstance(each, type | FunctionType | ModuleType):
            held.add(id(each))
            assert not isinstance(each, str | bytes) or token.rpartition(".")[2] not in str(each)
            pending += gc.get_referents(each)


async def test_a_suspended_tenant_is_refused_at_once() -> None:
    setup, token, other = CallerSetup(), good_token(), good_token(tenant="globex")
    await remembered(setup, token)
    await remembered(setup, other)
    setup.sessions.suspend(ACME)
    assert setup.known(token) is None
    assert isinstance(await setup.refused(token), TenantSuspended)
    assert (await setup.get(other)).session.tenant == GLOBEX
    setup.sessions.resume(ACME)
    assert (await setup.get(token)).session.tenant == ACME


async def test_a_tenant_that_is_suspended_while_its_session_is_opened_is_not_remembered() -> None:
    setup, token = CallerSetup(), good_token()
    setup.sts.gate.clear()
    opening = asyncio.ensure_future(setup.open(token))
    await settle()
    setup.sessions.suspend(ACME)
    setup.sts.gate.set()
    with pytest.raises(TenantSuspended):
        await opening
    assert isinstance(await setup.refused(token), TenantSuspended)


async def test_a_session_that_is_forgotten_is_not_used_again() -> None:
    setup, token = CallerSetup(), good_token()
    before = await remembered(setup, token)
    setup.sessions.forget(ACME)
    after = await setup.get(token)
    assert after.session.credentials != before.session.credentials


async def test_a_session_that_is_forgotten_just_as_it_is_handed_out_is_not_remembered() -> None:
    setup, token = CallerSetup(), good_token()
    setup.sts.gate.clear()
    opening = asyncio.ensure_future(setup.open(token))
    await settle()
    [flight] = setup.sessions._single_flight._tasks
    flight.add_done_callback(lambda _: setup.sessions.forget(ACME))
    setup.sts.gate.set()
    before = await opening
    assert setup.known(token) is None
    assert (await setup.get(token)).session.credentials != before.session.credentials


async def test_a_session_that_aws_revoked_is_not_used_again() -> None:
    setup, token = CallerSetup(), good_token()
    before = await remembered(setup, token)
    setup.clock.now += 10
    renewed = await setup.sessions.renew(before.session)
    assert (await setup.get(token)).session is renewed
    assert renewed is not before.session


async def test_a_caller_that_gets_no_new_session_for_a_revoked_one_is_refused() -> None:
    setup, token = CallerSetup(), good_token()
    before = await remembered(setup, token)
    setup.clock.now += 10
    setup.sts.fault = REFUSED
    with pytest.raises(Forbidden):
        await setup.sessions.renew(before.session)
    assert isinstance(await setup.refused(token), Forbidden)


async def test_a_withdrawn_key_is_refused_as_soon_as_the_gateway_learns_of_it() -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    setup.publisher.keys = [public_jwk(rsa_key("next"), "key-9")]
    setup.clock.now += 6  # the cool-down of the fetch is over, nothing else is
    newer = sign(header(kid="key-9"), claims(), rsa_key("next"), "RS256")
    assert (await setup.get(newer)).principal.subject == "user-1"
    assert (await setup.refused(token)).message == "unknown signing key"


@pytest.mark.parametrize(
    "replacement", [public_jwk(rsa_key("other"), "key-1"), public_jwk(rsa_key(), "key-1", alg="RS512")]
)
async def test_a_caller_does_not_outlive_a_change_of_its_key(replacement: dict[str, str]) -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    setup.publisher.keys = [replacement, public_jwk(rsa_key("next"), "key-9")]
    setup.clock.now += 6
    await setup.get(sign(header(kid="key-9"), claims(), rsa_key("next"), "RS256"))
    assert isinstance(await setup.refused(token), TokenRefused)


async def test_keys_that_are_fetched_again_and_are_the_same_cost_no_signature(verified: list[str]) -> None:
    setup, token = CallerSetup(Freshness(ttl=20, cooldown=5)), good_token()
    await remembered(setup, token)
    epoch = setup.authenticator.epoch
    setup.clock.now += 16
    assert setup.known(token) is None, "the keys are due"
    await setup.get(token)
    await settle()
    assert (setup.publisher.fetches, setup.authenticator.epoch, len(verified)) == (2, epoch, 1)


async def test_a_caller_does_not_outlive_its_key() -> None:
    setup, token = CallerSetup(Freshness(ttl=20, cooldown=5)), good_token()
    await remembered(setup, token)
    del setup.publisher.keys[0]
    setup.clock.now += 20
    assert (await setup.refused(token)).message == "unknown signing key"


async def test_a_caller_does_not_outlive_an_issuer_that_stays_silent() -> None:
    setup, token = CallerSetup(Freshness(ttl=20, cooldown=5, stale=5)), good_token()
    await remembered(setup, token)
    setup.publisher.failure = OSError("gone")
    setup.clock.now += 25
    refusal = await setup.refused(token)
    assert isinstance(refusal, Unavailable)
    assert "signing keys of the issuer are unavailable" in refusal.message


async def test_while_the_issuer_is_silent_known_tokens_cost_no_signature(verified: list[str]) -> None:
    setup, token = CallerSetup(Freshness(ttl=20, cooldown=5, stale=600)), good_token()
    await remembered(setup, token)
    setup.publisher.failure = OSError("gone")
    setup.clock.now += 21
    for _ in range(3):
        await setup.get(token)
    assert len(verified) == 1


async def test_a_token_is_verified_again_in_time(verified: list[str]) -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    setup.clock.now += 59
    await setup.get(token)
    assert len(verified) == 1
    setup.clock.now += 1
    assert setup.known(token) is None
    await setup.get(token)
    assert len(verified) == 2


async def test_a_caller_does_not_outlive_its_token() -> None:
    setup, token = CallerSetup(), good_token(exp=NOW + 5)
    await remembered(setup, token)
    setup.clock.now += 34
    assert setup.known(token) is not None
    setup.clock.now += 1
    assert (await setup.refused(token)).message == "token expired"


async def test_a_clock_that_is_set_back_prolongs_nothing(verified: list[str]) -> None:
    setup, token = CallerSetup(), good_token()
    await remembered(setup, token)
    setup.clock.now -= 1
    assert setup.known(token) is None
    await setup.get(token)
    assert len(verified) == 2


async def test_a_session_is_asked_for_again_when_it_is_due_to_be_refreshed(verified: list[str]) -> None:
    setup = CallerSetup(Freshness(ttl=1e6, cooldown=5), seconds=1e9)
    token = good_token(exp=NOW + 80_000)
    before = await remembered(setup, token)
    setup.clock.now += setup.sessions.fresh_until(before.session) - NOW - 1
    assert setup.known(token) is before
    setup.clock.now += 1
    assert setup.known(token) is None
    assert (await setup.get(token)).session is before.session, "it serves while it is refreshed"
    await settle()
    assert (await setup.get(token)).session is not before.session
    assert len(verified) == 1


async def test_without_sts_the_session_there_is_serves_and_no_signature_is_looked_at(verified: list[str]) -> None:
    setup = CallerSetup(Freshness(ttl=1e6, cooldown=5), seconds=1e9)
    token = good_token(exp=NOW + 80_000)
    before = await remembered(setup, token)
    setup.sts.fault = OUTAGE
    setup.clock.now = setup.sessions.fresh_until(before.session) + 1
    assert [await setup.get(token) for _ in range(3)] == [before] * 3
    assert len(verified) == 1


async def test_a_caller_that_gets_no_session_is_not_verified_again_for_each_request(verified: list[str]) -> None:
    setup, token = CallerSetup(), good_token()
    setup.sessions.suspend(ACME)
    for _ in range(3):
        assert isinstance(await setup.refused(token), TenantSuspended)
    assert len(verified) == 1


async def test_a_refusal_is_not_remembered() -> None:
    setup, token = CallerSetup(), good_token(nbf=NOW + 40)
    assert (await setup.refused(token)).message == "token not valid yet"
    setup.clock.now += 20
    assert (await setup.get(token)).principal.tenant == ACME
    assert len(setup.callers) == 1


async def test_no_more_callers_are_remembered_than_set() -> None:
    setup = CallerSetup(most=2)
    tokens = [good_token(sub=f"user-{number}") for number in range(3)]
    for token in tokens[:2]:
        await remembered(setup, token)
    assert setup.known(tokens[0]) is not None  # used last, so the other one goes
    await remembered(setup, tokens[2])
    assert [setup.known(token) is not None for token in tokens] == [True, False, True]
    assert len(setup.callers) == 2


async def test_nothing_is_remembered_when_set_so(verified: list[str]) -> None:
    setup, token = CallerSetup(seconds=0), good_token()
    for _ in range(2):
        assert (await setup.get(token)).principal.subject == "user-1"
    assert (len(verified), len(setup.callers)) == (2, 0)


def supporting(path: Path) -> CallerSetup:
    """Callers of an issuer that may grant support access, with its file of revoked grants."""
    path.write_text("")
    setup = CallerSetup()
    setup.authenticator = Authenticator(
        [issuer(support=SupportRules("viewer", only=False))],
        fetch=setup.publisher,
        clock=setup.clock,
        revocations=Revocations(path),
    )
    setup.callers = Callers(setup.authenticator, setup.sessions, lambda role: 50.0, clock=setup.clock)
    return setup


async def test_a_grant_that_is_revoked_midway_is_refused_at_once_although_its_caller_was_known(tmp_path: Path) -> None:
    path = tmp_path / "revoked"
    setup, token = supporting(path), grant(roles=...)
    first, second = await setup.get(token), await setup.get(token)
    assert (first.principal.support, first.session) == (second.principal.support, second.session)
    revoke(path, "grant-0001")
    assert (await setup.refused(token)).message == "support access was revoked"
    # and users go on
    assert (await setup.get(good_token())).role == "viewer"


async def test_a_grant_ends_on_time_although_its_caller_was_known(tmp_path: Path) -> None:
    setup, token = supporting(tmp_path / "revoked"), grant(roles=...)
    await setup.get(token)
    setup.clock.now = NOW + 900
    assert (await setup.refused(token)).message == "token expired"


async def test_support_access_is_checked_for_each_request_without_verifying_its_signature_again(
    tmp_path: Path, verified: list[str]
) -> None:
    setup, token = supporting(tmp_path / "revoked"), grant(roles=...)
    for _ in range(3):
        assert setup.known(token) is None
        await setup.get(token)
    assert (len(verified), len(setup.sts.requests)) == (1, 1)


async def test_cloudtrail_names_the_person_of_support_access_and_its_session_is_no_users(tmp_path: Path) -> None:
    setup = supporting(tmp_path / "revoked")
    jane, user = await setup.get(grant(roles=...)), await setup.get(good_token())
    assert [request.source_identity for request in setup.sts.requests] == ["acme+jane@example.org", "acme"]
    assert jane.session is not user.session


async def test_a_token_without_a_role_is_forbidden_and_the_log_says_what_to_do() -> None:
    error = await CallerSetup().refused(good_token(roles=[]))
    assert isinstance(error, RolesMissing)
    assert error.message == "the token carries no role that this gateway knows"
    assert error.reason.startswith("claim `roles` names no role of the gateway: let the issuer add")
