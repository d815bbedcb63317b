"""A proof passes where nothing leaks, and fails for every kind of hole."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.errors import (
    AwsFailure,
    AwsUnavailable,
    CancellationReason,
    ConditionFailed,
    InvalidRequest,
    ResourceMissing,
    TransactionCancelled,
)
from gateway.demo import MODEL
from gateway.errors import DeadlineExceeded
from gateway.model.tenant import TenantId
from gateway.ops.isolation.attack import Ground, ProbeResult, foreign_marks, prove
from tests.ops.endpoint import ACME, GLOBEX, GROUND, MARKERS, Answer, AuthorizingClient, row, session


async def results(client: DynamoDB, role: str = "viewer") -> tuple[ProbeResult, ...]:
    return await prove(client, [session(role=role)], GROUND)


async def verdicts(client: DynamoDB, role: str = "viewer") -> set[str]:
    return {result.verdict for result in await results(client, role)}


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
async def test_an_endpoint_without_holes_holds(role: str) -> None:
    found = await results(AuthorizingClient(), role)
    assert {result.verdict for result in found} == {"held"}
    assert {result.victim for result in found} == {GLOBEX}
    assert all(result.agreed for result in found)
    # the form of a request is refused only where the role might have sent it
    expected = {"answered", "denied"} | (set() if MODEL.all_roles[role].own else {"refused"})
    assert expected <= {result.outcome for result in found}


async def test_every_session_is_tried_with_its_own_credentials_against_every_other_tenant() -> None:
    client = AuthorizingClient()
    found = await prove(client, [session(ACME), session(GLOBEX)], GROUND)
    assert {(result.tenant, result.victim) for result in found} == {(ACME, GLOBEX), (GLOBEX, ACME)}
    assert {key for key, _ in client.sent} == {"AKIDacmeviewer", "AKIDglobexviewer"}
    assert len(client.sent) == len(found)


def scan_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    return {"Items": [row(ACME), row(GLOBEX)]} if operation == "Scan" else None


def row_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    return {"Item": row(GLOBEX)} if operation == "GetItem" and "TENANT#globex#USER#u-1" in str(body) else None


def own_query_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    return {"Items": [row(GLOBEX)]} if operation == "Query" and "TENANT#acme" in str(body) else None


def key_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    """Only a key, without the marker."""
    return {"LastEvaluatedKey": {"PK": {"S": "TENANT#globex#X"}}} if operation == "Scan" else None


def failure_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    if operation == "PutItem" and "ReturnValuesOnConditionCheckFailure" in body:
        error = ConditionFailed("condition", said=AwsFailure("ConditionalCheckFailedException"))
        error.item = row(GLOBEX)
        raise error
    return None


def transaction_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    if operation == "TransactWriteItems":
        error = TransactionCancelled("cancelled", said=AwsFailure("TransactionCanceledException"))
        error.reasons = (CancellationReason("ConditionalCheckFailed", "", row(GLOBEX)),)
        raise error
    return None


def message_leaks(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
    if operation == "Scan":
        raise InvalidRequest("not understood", said=AwsFailure("ValidationException", f"near {MARKERS[GLOBEX]}"))
    return None


@pytest.mark.parametrize(
    "hole", [scan_leaks, row_leaks, own_query_leaks, key_leaks, failure_leaks, transaction_leaks, message_leaks]
)
async def test_a_foreign_mark_in_any_answer_is_a_leak(hole: Any) -> None:
    found = await results(AuthorizingClient(hole))
    leaks = [result for result in found if result.verdict == "leak"]
    assert leaks
    assert all(result.marks == (GLOBEX,) for result in leaks)


async def test_an_empty_answer_to_what_should_be_denied_is_a_hole() -> None:
    def answers(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        return {} if operation == "Scan" else None

    found = await results(AuthorizingClient(answers))
    assert {result.probe.operation for result in found if result.verdict == "not denied"} == {"Scan"}
    assert not any(result.agreed for result in found if result.verdict == "not denied")


@pytest.mark.parametrize(
    "error",
    [
        ResourceMissing("absent", said=AwsFailure("BackupNotFoundException")),
        InvalidRequest("absent", said=AwsFailure("SourceTableNotFoundException")),
        ConditionFailed("condition", said=AwsFailure("ConditionalCheckFailedException")),
    ],
)
async def test_a_call_that_reports_an_absent_resource_was_not_denied(error: Exception) -> None:
    def tells(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        if operation == "CreateBackup":
            raise error
        return None

    found = await results(AuthorizingClient(tells))
    assert [result.verdict for result in found if result.probe.operation == "CreateBackup"] == ["not denied"]


async def test_a_session_that_can_do_nothing_does_not_pass_for_isolation() -> None:
    def nothing(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        raise InvalidRequest("not understood", said=AwsFailure("ValidationException"))

    assert await verdicts(AuthorizingClient(nothing)) == {"held", "control failed"}


@pytest.mark.parametrize("error", [AwsUnavailable("down"), DeadlineExceeded("late")])
async def test_an_endpoint_that_does_not_answer_proves_nothing(error: Exception) -> None:
    def down(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        raise error

    assert await verdicts(AuthorizingClient(down)) == {"unproven"}


async def test_what_got_no_answer_is_sent_again_alone() -> None:
    silent = ["Scan", "GetItem", "GetItem"]

    def busy(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        if operation in silent:
            silent.remove(operation)
            raise DeadlineExceeded("late")
        return None

    assert await verdicts(AuthorizingClient(busy)) == {"held"}
    assert not silent


async def test_an_endpoint_that_is_down_is_not_asked_everything_twice() -> None:
    def down(tenant: TenantId, operation: str, body: Mapping[str, Any]) -> Answer | None:
        raise AwsUnavailable("down")

    client = AuthorizingClient(down)
    found = await results(client)
    assert len(client.sent) == len(found) + 1


async def test_a_session_sends_a_request_once_however_many_tenants_it_attacks() -> None:
    third = TenantId("initech")
    alone = await prove(AuthorizingClient(), [session()], GROUND)
    both = await prove(
        AuthorizingClient(), [session()], Ground(MODEL, {**MARKERS, third: "canary-of-initech"}, GROUND.rows)
    )
    controls = [result for result in both if result.probe.group == "controls"]
    assert controls == [result for result in alone if result.probe.group == "controls"]
    mutations = [result.probe.name for result in both if result.probe.group == "mutations"]
    assert sorted(mutations) == sorted(2 * [result.probe.name for result in alone if result.probe.group == "mutations"])


def test_marks_are_markers_anywhere_and_keys_among_rows() -> None:
    assert foreign_marks(ACME, MARKERS, MARKERS[ACME], "TENANT#acme#X") == ()
    assert foreign_marks(ACME, MARKERS, MARKERS[GLOBEX]) == (GLOBEX,)
    assert foreign_marks(ACME, MARKERS, "", MARKERS[GLOBEX]) == (GLOBEX,)
    assert foreign_marks(ACME, MARKERS, "TENANT#globex#X") == (GLOBEX,)
    assert foreign_marks(ACME, MARKERS, "", "no such key TENANT#globex#X") == ()
    assert foreign_marks(ACME, MARKERS, "TENANT#globex2#X") == ()
