"""Runs the attacks: sessions of every tenant in every role, all probes, a report on disk."""

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from gateway.aws.sts.session import Session
from gateway.aws.sts.sessions import Sessions
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.errors import ConfigurationError
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId
from gateway.ops.isolation.attack import Ground, ProbeResult, prove
from gateway.ops.isolation.report import ProofReport, as_json, as_markdown, report, write_pages

_ISSUER = "isolation-proof"
_LIFE = 3_600


async def proof(
    client: DynamoDB,
    sessions: Sessions,
    ground: Ground,
    watches: Callable[[Mapping[TenantId, Session]], Awaitable[tuple[ProbeResult, ...]]] | None = None,
) -> ProofReport:
    """Opens the tenants' sessions as a request would, and attacks with them.

    `watches` probes subscriptions; it gets a session of each tenant, in its strongest role."""
    if len(ground.markers) < 2:
        raise ConfigurationError(["a proof of isolation needs two tenants"])
    opened = [await _open(sessions, tenant, role) for tenant in ground.markers for role in ground.model.roles]
    acting = [role.name for role in ground.model.all_roles.values() if role.acting]
    # as a mutation would, for any caller
    callers = [session for session in opened if session.role == next(iter(ground.model.roles))]
    opened += [await sessions.act(session, role, SAMPLE_SUBJECT) for session in callers for role in acting]
    results = await prove(client, opened, ground)
    if watches is not None:
        results += await watches({session.tenant: session for session in callers})
    return report(opened, results, datetime.now(UTC))


def write_report(result: ProofReport, directory: Path) -> tuple[Path, Path]:
    return write_pages(directory / "isolation", as_markdown(result), as_json(result))


async def _open(sessions: Sessions, tenant: TenantId, role: str) -> Session:
    principal = Principal(tenant, SAMPLE_SUBJECT, frozenset((role,)), _ISSUER, int(time.time()) + _LIFE)
    return await sessions.open(principal)
