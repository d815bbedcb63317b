"""The probes of subscriptions hold where subscriptions are isolated, and find every check that is missing."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from gateway.aws.sts.callers import Caller, LastingCaller
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.demo import MODEL
from gateway.graph.subscription import cohort, interest, subscriptions
from gateway.identity.principal import Principal
from gateway.model.demo import demo_tenants
from gateway.model.tenant import TenantId, tenant_id, tenant_of
from gateway.ops.isolation.attack import ProbeResult
from gateway.ops.isolation.watch_probes import WatchGround, prove_watches
from tests.graph.subscription.shop import Shop, bearer, shop

TENANTS = [tenant for tenant in demo_tenants(MODEL) if tenant.name in ("acme", "globex")]


async def _ground(served: Shop, client: DynamoDB | None = None) -> WatchGround:
    names = [tenant_id(tenant.name) for tenant in TENANTS]
    rows = {name: [row for (pk, _), row in served.memory.rows.items() if tenant_of(pk) == name] for name in names}
    sessions = served.gateway.sessions
    principals = [Principal(name, "probe", frozenset({"admin"}), "test", int(time.time()) + 3_600) for name in names]
    writers = {each.tenant: await sessions.open(each) for each in principals}

    async def caller(tenant: TenantId, role: str, subject: str) -> LastingCaller:
        token = bearer(tenant, role, subject).encode()
        return await served.gateway.streaming.socket.callers.lasting(b"Bearer " + token, lambda principal: None)

    subjects = {tenant_id(tenant.name): tenant.subjects for tenant in TENANTS}
    operations = served.gateway.streaming.socket.operations
    return WatchGround(MODEL, operations, served.bus, client or served.log, writers, rows, subjects, caller)


async def _proved() -> tuple[ProbeResult, ...]:
    async with shop() as served:
        return await prove_watches(await _ground(served))


async def test_every_watch_is_proved_for_every_tenant_role_and_subject() -> None:
    found = await _proved()
    assert {result.verdict for result in found} == {"held"}
    roles = {name for name, role in MODEL.all_roles.items() if not role.acting}
    assert {(result.tenant, result.role) for result in found} == {(t.name, role) for t in TENANTS for role in roles}
    for watch in MODEL.watches:
        assert [result for result in found if result.probe.name.startswith(f"{watch}(")]
    own = {result.probe.name for result in found if result.role == "customer"}
    assert {"ordersOfUserChanged(userId: u-1002) of u-1001", "ordersOfUserChanged(userId: u-1001) of u-1001"} <= own
    assert {result.probe.expected for result in found} == {"allowed", "denied", "harmless"}


def _without(*left_out: int) -> Callable[..., tuple[Any, ...]]:
    whole = subscriptions._cohort_key

    def key(operation: Any, caller: Any) -> tuple[Any, ...]:
        return tuple(part for place, part in enumerate(whole(operation, caller)) if place not in left_out)

    return key


def _unchecked(self: cohort.Cohort, caller: Caller) -> bool:
    """Without the comparison of the sessions, which is the second check."""
    return True


@pytest.mark.parametrize("left_out", [(0, 2, 3, 4), (2, 3, 4, 5)], ids=["tenant", "subject"])
async def test_a_missing_check_is_found(left_out: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is put into a cohort of others is refused by the second check, and its control fails."""
    monkeypatch.setattr(subscriptions, "_cohort_key", _without(*left_out))
    assert "control failed" in {result.verdict for result in await _proved()}


@pytest.mark.slow
async def test_a_read_that_is_shared_between_tenants_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_cohort_key", _without(0, 2, 3, 4))
    monkeypatch.setattr(cohort.Cohort, "admits", _unchecked)
    leaks = [result for result in await _proved() if result.verdict == "leak"]
    # whoever came first made the cohort
    assert {(result.tenant, result.marks) for result in leaks if result.marks} == {("globex", ("acme",))}


@pytest.mark.slow
async def test_a_read_that_is_shared_between_subjects_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_cohort_key", _without(2, 3, 4, 5))
    monkeypatch.setattr(cohort.Cohort, "admits", _unchecked)
    leaks = [result for result in await _proved() if result.verdict == "leak"]
    assert leaks
    assert {result.role for result in leaks} == {"customer"}


@pytest.mark.slow
async def test_a_change_of_another_subject_that_is_reported_without_its_values_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An event that says only that something has changed is a leak too."""
    whole = interest.Interest.add

    def add(self: interest.Interest, note: Any, pending: interest.Pending) -> bool:
        if note.entity == self.entity.name and not whole(self, note, pending):
            pending.merge(interest.Pending(everything=True))
        return True

    monkeypatch.setattr(interest.Interest, "add", add)
    monkeypatch.setattr(
        subscriptions._TenantWatches, "deliver", lambda self, note: [each.notify(note) for each in self.cohorts]
    )
    found = await _proved()
    assert {result.role for result in found if result.verdict == "leak" and not result.marks} >= {"customer"}


@pytest.mark.slow
async def test_a_subscription_that_sends_nothing_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interest.Interest, "add", lambda self, note, pending: False)
    assert "control failed" in {result.verdict for result in await _proved()}


@pytest.mark.slow
async def test_a_role_that_can_watch_what_it_may_not_read_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.ops.isolation.watch_probes.watched_patterns", lambda model, watch: {"no such pattern"})
    assert "not denied" in {result.verdict for result in await _proved()}
