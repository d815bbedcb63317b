"""Kept sessions: parked and used again they are the same, and a parked one costs little more than its token."""

import gc
import tracemalloc

import pytest

from gateway.aws.sts.kept_sessions import KeptSessions
from gateway.aws.sts.session import Session, SessionKey
from gateway.aws.wire.credentials import Credentials
from gateway.model.tenant import tenant_id
from tests.aws.tenant_fixtures import ACME, GLOBEX, POOLED, permissions_for

# of the length that STS gives for a session with a policy and tags
TOKEN = "IQoJb3JpZ2lu" + "X2VjE" * 157 + "A=="
MOST = 1_024


def key(subject: str, tenant: str = ACME) -> SessionKey:
    return SessionKey(tenant_id(tenant), "customer", None, POOLED, subject)


def session(of: SessionKey, token: str | None = TOKEN, opened_at: float = 100.0) -> Session:
    return Session(
        tenant=of.tenant,
        role=of.role,
        credentials=Credentials(f"ASIA{of.subject:0>16}", f"{of.subject:0>40}", token, opened_at + 3_600.5),
        tenancy=of.tenancy,
        permissions=permissions_for(of.tenancy, of.tenant, of.role, of.subject),
        source_identity=of.source_identity,
        identity=of.identity,
        opened_at=opened_at,
        refresh_at=opened_at + 2_800.25,
    )


def kept(most: int = 100, in_use: int = 1) -> KeptSessions:
    return KeptSessions(most, permissions_for, in_use)


@pytest.mark.parametrize("token", [TOKEN, "not base64!", "QUJD=", "QR==", None])
def test_a_parked_session_is_the_same_when_it_is_used_again(token: str | None) -> None:
    sessions, ann = kept(), key("ann")
    first = session(ann, token)
    sessions.put(ann, first)
    sessions.put(key("bob"), session(key("bob")))
    again = sessions.use(ann)
    assert again is not None
    assert again is not first, "it was not parked"
    assert again.credentials == first.credentials
    assert (again.opened_at, again.refresh_at, again.source_identity) == (100.0, 2_900.25, first.source_identity)
    assert (again.tenant, again.role, again.subject, again.tenancy) == (ACME, "customer", "ann", POOLED)
    assert sessions.use(ann) is again


def test_the_one_unused_for_longest_makes_room_whether_parked_or_not() -> None:
    sessions = kept(most=3, in_use=2)
    for name in ("ann", "bob", "eve"):
        sessions.put(key(name), session(key(name)))
    sessions.use(key("ann"))
    sessions.put(key("joe"), session(key("joe")))
    assert len(sessions) == 3
    assert key("bob") not in sessions
    assert all(key(name) in sessions for name in ("ann", "eve", "joe"))


def test_a_tenant_is_forgotten_parked_or_not() -> None:
    sessions = kept()
    for one in (key("ann"), key("ann", GLOBEX), key("bob")):
        sessions.put(one, session(one))
    sessions.forget(ACME)
    assert sessions.use(key("ann")) is None
    assert sessions.use(key("bob")) is None
    assert sessions.use(key("ann", GLOBEX)) is not None


def test_those_that_ended_unused_are_dropped_parked_or_not() -> None:
    sessions = kept()
    for number, name in enumerate(("ann", "bob", "eve")):
        sessions.put(key(name), session(key(name), opened_at=number * 1_000.0))
    sessions.drop_ended(3_650.0, 30)
    assert len(sessions) == 2
    sessions.drop_ended(5_650.0, 30)
    assert len(sessions) == 0


@pytest.mark.no_cover
@pytest.mark.usefixtures("frozen_heap")
def test_a_subject_keeps_no_more_than_one_kibibyte_with_the_token_of_aws() -> None:
    count, sessions = 2_000, kept(3_000)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(count):
            one = key(f"{number:08d}-0c5e-4a8e-9c2c-6f3f8d1a2b3c")
            sessions.put(one, session(one, f"{number:04d}{TOKEN[4:]}"))
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] / count <= MOST
    finally:
        tracemalloc.stop()
