"""What the check of a pool reads, as whom, and what it makes of each refusal."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerLate,
    AwsFailure,
    AwsUnavailable,
    InvalidRequest,
    KeyInaccessible,
    TableMissing,
    ThroughputExceeded,
)
from gateway.demo import MODEL
from gateway.errors import DeadlineExceeded, GatewayError
from gateway.identity.principal import Principal
from gateway.model.tenant import tenant_id
from gateway.ops.readiness.pool_check import PoolCheck, TenantPool
from gateway.testing.memory import Memory
from tests.graph.fixtures import PERMISSIONS
from tests.store.fixtures import TABLE, tenancy

POOL = TenantPool("pooled", tenant_id("probe"), tenancy(), required=True)
INDEXES = [index.name for index in MODEL.table.indexes]


async def open_session(principal: Principal) -> Session:
    role, place = min(principal.roles), tenancy()
    credentials = Credentials(f"AKID{principal.tenant}", "secret")
    return Session(principal.tenant, role, credentials, place, PERMISSIONS(place, principal.tenant, role, None))


def check(memory: Memory) -> PoolCheck:
    return PoolCheck(open_session, open_session, memory, MODEL)


class Refusing(Memory):
    """Answers reads of a place as configured, and others with nothing."""

    refusals: dict[str | None, GatewayError]

    async def call(self, operation: str, body: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        self.sent.append((operation, dict(body)))
        error = self.refusals.get(body.get("IndexName"))
        if error is not None:
            raise error
        return {}


def refusing(**refusals: GatewayError) -> Refusing:
    made = Refusing(MODEL.table, TABLE)
    made.refusals = {None if name == "table" else name: error for name, error in refusals.items()}
    return made


async def test_table_and_indexes_are_read_once_each_for_a_key_of_the_tenant_that_no_item_has() -> None:
    memory = refusing()
    assert await check(memory).faults(POOL) == ()
    assert [(operation, body.get("IndexName")) for operation, body in memory.sent] == [
        ("GetItem", None),
        *(("Query", name) for name in INDEXES),
    ]
    for _, body in memory.sent:
        text = str(body.get("Key") or body["ExpressionAttributeValues"])
        assert "TENANT#probe#READINESS" in text
        assert body["ProjectionExpression"], "keys alone, which every role may read"


async def test_nothing_is_sent_that_the_sessions_policies_do_not_allow() -> None:
    """INVARIANT: nothing is sent that the session's policies do not allow."""

    async def mixed_up(principal: Principal) -> Session:
        session = await open_session(principal)
        return replace(session, permissions=PERMISSIONS(session.tenancy, tenant_id("globex"), session.role, None))

    memory = refusing()
    [fault] = await PoolCheck(mixed_up, mixed_up, memory, MODEL).faults(POOL)
    assert memory.sent == []
    assert "the session's own policies refuse it" in fault.message


async def test_an_outage_of_sts_is_seen_although_sessions_are_cached_and_silos_do_not_call_it_each_time() -> None:
    async def outage(principal: Principal) -> Session:
        raise AnswerLate("sts did not answer in time")

    checked = PoolCheck(open_session, outage, refusing(), MODEL)
    [fault] = await checked.faults(POOL)
    assert (fault.where, fault.cause) == ("session", "endpoint")
    assert await checked.faults(replace(POOL, required=False)) == ()


_LATE = AnswerLate("the database could not be reached in time")


@pytest.mark.parametrize(
    ("error", "cause", "expected"),
    [
        (TableMissing("gone"), "table", f"there is no table `{TABLE}`"),
        (AccessDenied("no"), "table", "belongs to another deployment"),
        (InvalidRequest("other keys"), "table", "does not have the model's keys"),
        (KeyInaccessible("the key is off"), "key", "encryption key"),
        (_LATE, "endpoint", "does not respond"),
        (DeadlineExceeded("no time left"), "endpoint", "does not respond"),
        (
            AwsUnavailable("no", said=AwsFailure("X", "Credential should be scoped to a valid region.")),
            "region",
            "does not serve",
        ),
        (
            AwsUnavailable("aws is down", said=AwsFailure("InternalServerError")),
            "other",
            "aws is down: InternalServerError",
        ),
    ],
)
async def test_what_keeps_the_table_from_being_read_is_named(error: GatewayError, cause: str, expected: str) -> None:
    [fault] = await check(refusing(table=error)).faults(POOL)
    assert (fault.where, fault.cause) == ("table", cause)
    assert expected in fault.message


@pytest.mark.parametrize("error", [TableMissing("gone"), AccessDenied("no"), InvalidRequest("being built")])
async def test_an_index_that_cannot_be_read_while_the_table_can_is_to_blame(error: GatewayError) -> None:
    [fault] = await check(refusing(**{INDEXES[1]: error})).faults(POOL)
    assert (fault.where, fault.cause) == (f"index {INDEXES[1]}", "index")


async def test_an_index_whose_endpoint_fails_is_not_missing() -> None:
    [fault] = await check(refusing(**{INDEXES[0]: _LATE})).faults(POOL)
    assert fault.cause == "endpoint"


async def test_a_throttled_call_has_reached_the_table() -> None:
    assert await check(refusing(table=ThroughputExceeded("slow down"))).faults(POOL) == ()


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (AccessDenied("no"), "role"),
        (InvalidRequest("policy"), "policy"),
        (_LATE, "endpoint"),
        (AwsUnavailable("off", said=AwsFailure("RegionDisabledException")), "region"),
        (AwsUnavailable("aws does not accept the gateway's own credentials"), "other"),
    ],
)
async def test_a_session_that_is_not_given_is_named(error: GatewayError, cause: str) -> None:
    async def refused(principal: Principal) -> Session:
        raise error

    [fault] = await PoolCheck(refused, refused, refusing(), MODEL).faults(POOL)
    assert (fault.where, fault.cause) == ("session", cause)
