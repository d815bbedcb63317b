"""The empirical proof of isolation: sends every probe of every session and searches the responses for other tenants'
data."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.aws.sts.session import Session
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.errors import (
    AccessDenied,
    AwsError,
    ConditionFailed,
    InvalidRequest,
    TableMissing,
    TransactionCancelled,
)
from gateway.errors import Conflict, GatewayError, NotFound
from gateway.iam.policies.roles import roles_of
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.ops.isolation.probe_operations import probes
from gateway.ops.isolation.probes import Probe, ProbeScene
from gateway.ops.policies.files import deployment_of

Outcome = Literal["denied", "answered", "refused", "failed"]
Verdict = Literal["held", "leak", "not denied", "control failed", "unproven"]

_AT_ONCE = 16
# AWS may refuse a malformed request before it authorizes it; any other refusal comes after authorization.
_MALFORMED = frozenset(("ValidationException", "SerializationException", "UnknownOperationException"))
_AUTHORISED = (Conflict, NotFound, TableMissing, InvalidRequest)


@dataclass(frozen=True, slots=True)
class Ground:
    """What the proof runs against: the model, each tenant's marker, and existing rows, if known.

    A marker is a string that is in every row of its tenant and nowhere else; None if rows have no marker.
    """

    model: Model
    markers: Mapping[TenantId, str | None]
    rows: Mapping[TenantId, tuple[ItemKey, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    tenant: TenantId
    role: str
    victim: TenantId
    probe: Probe
    outcome: Outcome
    verdict: Verdict
    # AWS's name for the error
    code: str
    # whether the gateway's own evaluator agrees with AWS
    agreed: bool
    marks: tuple[TenantId, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict == "held"


# the outcome, AWS's name of the error and its message, and the rows in the response
_Response = tuple[Outcome, str, str, str]


async def prove(client: DynamoDB, sessions: Sequence[Session], ground: Ground) -> tuple[ProbeResult, ...]:
    """Sends everything: each session against each other tenant of the ground."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def run(session: Session, scene: ProbeScene, probe: Probe) -> ProbeResult:
        async with turns:
            return await _probe_result(client, session, scene, probe, ground.markers)

    attacks = list(_attacks(sessions, ground))
    results = list(await asyncio.gather(*(run(*attack) for attack in attacks)))
    # a busy endpoint leaves some requests unanswered: they are sent again, one by one, unless it does not respond at
    # all
    for number in [number for number, result in enumerate(results) if result.outcome == "failed"]:
        results[number] = await run(*attacks[number])
        if results[number].outcome == "failed":
            break
    return tuple(results)


def _attacks(sessions: Iterable[Session], ground: Ground) -> Iterator[tuple[Session, ProbeScene, Probe]]:
    """Every probe of every scene. A session sends a request only once, even if several scenes contain it."""
    sent: set[tuple[int, str, str, str]] = set()
    for session, scene in _scenes(sessions, ground):
        for probe in probes(scene):
            request = id(session), probe.expected, probe.operation, json.dumps(probe.body, sort_keys=True)
            if request not in sent:
                sent.add(request)
                yield session, scene, probe


def _scenes(sessions: Iterable[Session], ground: Ground) -> Iterable[tuple[Session, ProbeScene]]:
    roles = {role.name: role for role in roles_of(ground.model)}
    for session in sessions:
        deployment = deployment_of(session.tenancy)
        for victim in ground.markers:
            if victim != session.tenant:
                rows = ground.rows.get(victim, ())
                yield session, ProbeScene(ground.model, deployment, session.tenant, roles[session.role], victim, rows)


async def _probe_result(
    client: DynamoDB, session: Session, scene: ProbeScene, probe: Probe, markers: Mapping[TenantId, str | None]
) -> ProbeResult:
    outcome, code, words, rows = await _send(client, session, probe)
    marks = foreign_marks(session.tenant, markers, rows, words)
    expected = session.permissions.check(probe.operation, probe.body).allowed
    # If AWS refuses a malformed request, its authorization decision is unknown.
    agreed = outcome in ("refused", "failed") or expected == (outcome == "answered")
    return ProbeResult(
        tenant=session.tenant,
        role=session.role,
        victim=scene.victim,
        probe=probe,
        outcome=outcome,
        verdict=_verdict(probe, outcome, marks),
        code=code,
        agreed=agreed,
        marks=marks,
    )


async def _send(client: DynamoDB, session: Session, probe: Probe) -> _Response:
    target = session.tenancy.target
    try:
        answer = await client.call(probe.operation, probe.body, credentials=session.credentials, target=target)
    except AwsError as error:
        return _outcome(error), error.aws_code or type(error).__name__, error.detail, json.dumps(_items(error))
    except GatewayError as error:
        return "failed", type(error).__name__, error.message, ""
    return "answered", "", "", json.dumps(answer)


def _outcome(error: AwsError) -> Outcome:
    if isinstance(error, AccessDenied):
        return "denied"
    if error.aws_code in _MALFORMED:
        return "refused"
    return "answered" if isinstance(error, _AUTHORISED) else "failed"


def _items(error: AwsError) -> list[Any]:
    """Items in an error response."""
    if isinstance(error, ConditionFailed):
        return [error.item]
    return [reason.item for reason in error.reasons] if isinstance(error, TransactionCancelled) else []


def foreign_marks(
    tenant: TenantId, markers: Mapping[TenantId, str | None], rows: str, words: str = ""
) -> tuple[TenantId, ...]:
    """Other tenants that are visible: by their marker anywhere, or by a partition key among the rows.

    An error message may repeat a key that the request itself named; that reveals nothing new.
    """

    def shows(other: TenantId) -> bool:
        marker = markers[other]
        return partition(other, "") in rows or (marker is not None and marker in rows + words)

    return tuple(other for other in markers if other != tenant and shows(other))


def _verdict(probe: Probe, outcome: Outcome, marks: tuple[TenantId, ...]) -> Verdict:
    if marks:
        return "leak"
    if outcome == "failed":
        return "unproven"
    if probe.expected == "allowed":
        return "held" if outcome == "answered" else "control failed"
    return "not denied" if probe.expected == "denied" and outcome == "answered" else "held"
