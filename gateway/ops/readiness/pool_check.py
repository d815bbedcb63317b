"""Checks whether a pool of tenants can be served: one session, and one read of the table and of each index.

The gateway's own role may read nothing, so a tenant's session reads a key that no item has, in a role of the model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerLate,
    AwsError,
    ConnectionBroken,
    InvalidRequest,
    KeyInaccessible,
    TableMissing,
)
from gateway.errors import DeadlineExceeded, GatewayError, Throttled
from gateway.iam.dynamodb import sample_requests
from gateway.iam.language.verdict import Deny
from gateway.iam.policies.roles import GatewayRole, roles_of
from gateway.identity.principal import Principal
from gateway.model.model import Model
from gateway.model.role_reach import SUBJECT
from gateway.model.tenant import TenantId, partition

OpenSession = Callable[[Principal], Awaitable[Session]]
Cause = Literal["role", "region", "endpoint", "table", "index", "key", "policy", "other"]

_READINESS_SUBJECT: Final = "readiness"
_ABSENT: Final = "READINESS"  # a partition, and a sort key, that no item has
_READ_SECONDS = 5.0
# STS and DynamoDB sign for one region, and say so if a request was signed for another
_OTHER_REGION = "scoped to a valid region"
_REGION_OFF = frozenset(("RegionDisabled", "RegionDisabledException", "OptInRequired"))


@dataclass(frozen=True, slots=True)
class TenantPool:
    """The tenants that share a tenancy: all pooled ones, or one silo; `tenant` is the one whose session reads."""

    name: str
    tenant: TenantId
    tenancy: Tenancy
    required: bool  # a silo that cannot be served must not prevent the others from being served


@dataclass(frozen=True, slots=True)
class PoolFault:
    """`where` and `cause` may be shown to anyone; `message` names settings and their values, for the log."""

    where: str
    cause: Cause
    message: str


@dataclass(frozen=True, slots=True)
class SampleRead:
    """A partition, after the tenant's prefix, that the role may read; `index` is None for the table itself."""

    role: str
    index: str | None
    path: str


@dataclass(frozen=True, slots=True)
class PoolCheck:
    """`open_session` may return a cached session; `open_anew` asks STS, so that its outage is seen."""

    open_session: OpenSession
    open_anew: OpenSession
    client: DynamoDB = field(repr=False)
    model: Model

    async def faults(self, pool: TenantPool) -> tuple[PoolFault, ...]:
        reads = sample_reads(self.model)
        # silos may be hundreds, and every check would call STS for each of them
        open_session = self.open_anew if pool.required else self.open_session
        sessions: dict[str, Session] = {}
        for role in dict.fromkeys(read.role for read in reads):
            principal = Principal(pool.tenant, _READINESS_SUBJECT, frozenset((role,)), _READINESS_SUBJECT, 0)
            try:
                sessions[role] = await open_session(principal)
            except GatewayError as error:
                return (PoolFault("session", *_session_fault(pool.tenancy, error)),)
        for read in reads:
            if read.index is None and (fault := await self._table(sessions[read.role], read)) is not None:
                return (fault,)
        indexes = [self._index(sessions[read.role], read, read.index) for read in reads if read.index is not None]
        return tuple(fault for fault in await asyncio.gather(*indexes) if fault is not None)

    async def _table(self, session: Session, read: SampleRead) -> PoolFault | None:
        spec = self.model.table
        key = sample_requests.key(spec, partition(session.tenant, read.path), _ABSENT)
        body = sample_requests.get(session.tenancy.table, key, (spec.pk, spec.sk))
        error, tenancy = await self._read(session, "GetItem", body), session.tenancy
        if error is None:
            return None
        return PoolFault("table", *(_common_fault(tenancy, error) or _table_fault(tenancy, error)))

    async def _index(self, session: Session, read: SampleRead, name: str) -> PoolFault | None:
        spec, pk = self.model.table, partition(session.tenant, read.path)
        body = sample_requests.query(session.tenancy.table, spec, pk, (spec.pk, spec.sk), name)
        error, tenancy = await self._read(session, "Query", {**body, "Limit": 1}), session.tenancy
        if error is None:
            return None
        return PoolFault(f"index {name}", *(_common_fault(tenancy, error) or _index_fault(tenancy, name, error)))

    async def _read(self, session: Session, operation: str, body: dict[str, Any]) -> GatewayError | None:
        verdict = session.permissions.check(operation, body)
        # INVARIANT: nothing is sent that the session's policies do not allow.
        if isinstance(verdict, Deny):
            return InvalidRequest(f"the session's own policies refuse it: {verdict.reason}")
        deadline = asyncio.get_running_loop().time() + _READ_SECONDS
        try:
            await self.client.call(
                operation, body, credentials=session.credentials, target=session.tenancy.target, deadline=deadline
            )
        except Throttled:
            # a throttled request has reached the table, and may read it
            return None
        except GatewayError as error:
            return error
        return None


def sample_reads(model: Model) -> tuple[SampleRead, ...]:
    """The table comes first. An index that no role reads is left out."""
    # weakest first, those that read everything before others, so that one session is enough where it can be
    callers = [role for role in reversed(roles_of(model)) if not role.acting]
    callers.sort(key=lambda role: not _reads_everything(role))
    places = (None, *(index.name for index in model.table.indexes))
    return tuple(read for place in places if (read := next(_reads(callers, place), None)) is not None)


def _reads(roles: list[GatewayRole], index: str | None) -> Iterator[SampleRead]:
    for role in roles:
        if _reads_everything(role):
            yield SampleRead(role.name, index, _ABSENT)
        elif (path := role.sample_path("GetItem" if index is None else "Query", index)) is not None:
            yield SampleRead(role.name, index, path.replace(SUBJECT, _READINESS_SUBJECT))


def _reads_everything(role: GatewayRole) -> bool:
    return any("GetItem" in grant.actions and grant.paths is None for grant in role.grants)


def _session_fault(tenancy: Tenancy, error: GatewayError) -> tuple[Cause, str]:
    region = tenancy.sts_region
    if _other_region(error):
        return "region", f"region: STS does not serve `{region}`: the region is wrong or not enabled for the account"
    match error:
        case AccessDenied():
            reasons = "it does not exist, does not trust the role that the gateway runs in, or requires an external_id"
            return "role", f"tenant_role_arn: `{tenancy.role_arn}` cannot be assumed: {reasons}"
        case ConnectionBroken() | AnswerLate():
            return "endpoint", f"sts_endpoint: STS in `{region}` does not respond: {_detail(error)}"
        case InvalidRequest():
            return "policy", f"policies_dir: STS refuses the session policy: {_detail(error)}"
    return "other", _detail(error)


def _table_fault(tenancy: Tenancy, error: GatewayError) -> tuple[Cause, str]:
    table, region = tenancy.table, tenancy.target.region
    match error:
        case TableMissing():
            return "table", f"table_name: there is no table `{table}` in `{region}`"
        case AccessDenied():
            reasons = "table_name, region or tenant_role_arn belongs to another deployment"
            return "table", f"table_name: the role may not read `{table}` in `{region}`: {reasons}"
        case InvalidRequest():
            return "table", f"table_name: `{table}` does not have the model's keys: {_detail(error)}"
    return "other", _detail(error)


def _index_fault(tenancy: Tenancy, name: str, error: GatewayError) -> tuple[Cause, str]:
    if isinstance(error, TableMissing | AccessDenied | InvalidRequest):
        # the table was read, so the role and the region are right
        reasons = "it does not exist, is still being built, has other keys, or the role's policy does not name it"
        return "index", f"index `{name}` of `{tenancy.table}` cannot be read: {reasons}: {_detail(error)}"
    return "other", _detail(error)


def _common_fault(tenancy: Tenancy, error: GatewayError) -> tuple[Cause, str] | None:
    """What may be wrong with any read; it is looked for first."""
    target = tenancy.target
    if _other_region(error):
        return "region", f"region: `{target.url}` does not serve `{target.region}`"
    match error:
        case ConnectionBroken() | AnswerLate() | DeadlineExceeded():
            return "endpoint", f"dynamodb_endpoint: `{target.url}` does not respond: {_detail(error)}"
        case KeyInaccessible():
            return "key", f"the encryption key of `{tenancy.table}` cannot be used: {_detail(error)}"
    return None


def _other_region(error: GatewayError) -> bool:
    return isinstance(error, AwsError) and (_OTHER_REGION in error.detail or error.aws_code in _REGION_OFF)


def _detail(error: GatewayError) -> str:
    return ": ".join(_texts(error))


def _texts(error: GatewayError) -> Iterator[str]:
    yield error.message
    if isinstance(error, AwsError) and (error.aws_code or error.detail):
        yield f"{error.aws_code} {error.detail}".strip()
