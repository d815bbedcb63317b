"""The access of one request: its tenant's session, its deadline, and the record of its calls."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic, time
from typing import Any, Literal, TypeVar

import msgspec

from gateway.aws.sts.session import Session
from gateway.errors import Forbidden
from gateway.iam.language.verdict import Allow, Deny
from gateway.model.tenant import partition
from gateway.store.cache.written_keys import Written
from gateway.store.key_shapes import KeyShape
from gateway.store.own_writes import NO_WRITES, OwnWrites

T = TypeVar("T")
Source = Literal["table", "cache", "dax"]


class Call(msgspec.Struct, frozen=True, gc=False):
    """One finished DynamoDB call, or cached rows used instead of one; it holds no key and no item.

    It is for the log line, the metrics and `explain`. `key_shapes` is the form of its keys, recorded only if the
    request is to be explained.
    """

    operation: str
    index: str | None
    items: int
    capacity: float
    seconds: float
    statements: tuple[str, ...] = ()
    key_shapes: tuple[KeyShape, ...] = ()
    started: float = 0.0  # in seconds of the event loop's clock
    source: Source = "table"
    stale: bool = False  # whether the cache is renewing a part of it


@dataclass(frozen=True, slots=True)
class CodeCall:
    """One call of a domain's code: its field, such as `Product.deliveryDays`, and the number of rows."""

    field: str
    rows: int
    seconds: float
    started: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the policies did not allow: a call, or one attribute; `reason` names statements and keys, no values."""

    what: str
    reason: str


class Access(msgspec.Struct, eq=False):
    """What one request may use; a struct, because its constructor runs for every request."""

    session: Session
    deadline: float | None = None  # in seconds of the event loop's clock
    explained: bool = False  # whether the response explains what was read and why it was allowed
    calls: list[Call] = []
    refusals: list[Refusal] = []
    # responses to a lane that fell back, with operation and body: the reference executor does not repeat these calls
    replay: list[tuple[str, bytes, bytes | Exception]] = []
    read_at: datetime | None = None  # the time at which all lists of the request end, if they name none
    code_reads: bool = False  # whether the code of a lane's fields reads items: its responses are kept in `replay` too
    renewal: asyncio.Lock | None = None
    subject: str = ""  # the subject of the token
    # results of fields with code, by their arguments: the reference executor does not load them again either
    loaded: dict[tuple[str, ...], Any] | None = None
    # the prefix of the tenant's partition keys, if it is already known; a renewed session has the same tenant
    prefix: str = ""
    # the scope of the request's cursors and global ids, if it is already known
    scope: str = ""
    code_calls: list[CodeCall] | None = None  # recorded only if the request is explained
    acted_as: tuple[str, ...] = ()  # the acting roles of mutations that have run, each once

    own_writes: OwnWrites | None = None  # of this request and of those whose token it has sent
    wrote: bool = False
    lagging: set[str] | None = None  # the listings that may not show all of these yet
    acts_for: "Access | None" = None  # the caller's access, if a mutation acts in another role

    def __repr__(self) -> str:
        """Omits what was read, so that no item gets into a log."""
        return f"Access({self.session!r}, deadline={self.deadline!r})"

    def acting(self, session: Session) -> "Access":
        """Returns the access of a mutation that acts in this session; its calls and writes go to the same record."""
        self.acted_as = tuple(dict.fromkeys((*self.acted_as, session.role)))
        return Access(
            session,
            self.deadline,
            self.explained,
            self.calls,
            self.refusals,
            subject=self.subject,
            prefix=self.prefix,
            own_writes=self.own_writes,
            acts_for=self,
        )

    def has_written(self, writes: Iterable[Written] | None) -> None:
        """Records writes; None means a write that may have changed anything of the tenant."""
        self.wrote = True
        written = None if writes is None else tuple(writes)
        self.own_writes = (self.own_writes or NO_WRITES).plus(written, int(time()))
        if self.acts_for is not None:
            self.acts_for.has_written(written)

    def now(self) -> datetime:
        """Returns the same time for all lists of the request: equal lists are read once, also after a fallback."""
        self.read_at = self.read_at or datetime.now(UTC)
        return self.read_at

    def lags(self, listing: str) -> None:
        """Records that the page of this list may not show all of the caller's own writes."""
        self.lagging = {*(self.lagging or ()), listing}

    @property
    def own(self) -> str:
        return self.prefix or partition(self.session.tenant, "")

    def ran_code(self, field: str, rows: int, started: float) -> None:
        if self.explained:
            self.code_calls = [*(self.code_calls or ()), CodeCall(field, rows, monotonic() - started, started)]

    def replayed(self, operation: str, content: bytes) -> bytes | Exception | None:
        """Returns the earlier response to this request, once; a lane that still runs leaves it for the reference."""
        for number, (sent_operation, body, answer) in enumerate(self.replay):
            if sent_operation == operation and body == content:
                if not self.code_reads:
                    del self.replay[number]
                return answer
        return None

    @property
    def capacity(self) -> float:
        return sum(call.capacity for call in self.calls)


def authorize(access: Access, operation: str, body: Mapping[str, Any]) -> Allow:
    """Returns the statements that allow this request; raises `Forbidden` if the session's policies do not."""
    session = access.session
    verdict = session.permissions.check(operation, body)
    if isinstance(verdict, Deny):
        access.refusals.append(Refusal(operation, verdict.reason))
        raise Forbidden(f"the role `{session.role}` may not do this") from PermissionError(verdict.reason)
    return verdict


async def shared(found: "asyncio.Future[T]") -> T:
    """Waits for a result that several fields share: if one of them is cancelled, the others still get it."""
    try:
        return await asyncio.shield(found)
    except asyncio.CancelledError:
        # if no one waits any more, its failure is not needed
        found.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def gather_settled(jobs: list[Coroutine[Any, Any, T]]) -> list[T | Exception]:
    """Runs them in parallel, each to its end; returns an exception in the place of a failed result."""
    if len(jobs) == 1:
        try:
            return [await jobs[0]]
        except Exception as error:
            return [error]
    results: list[T | Exception] = []
    for result in await asyncio.gather(*jobs, return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, Exception):
            raise result
        results.append(result)
    return results


async def gather_or_cancel(jobs: list[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs them in parallel; the first failure cancels the others and is raised unchanged."""
    if len(jobs) == 1:
        return [await jobs[0]]
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
