"""What one request may use: its tenant's session, its deadline, and the record of the calls it made."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import msgspec

from gateway.aws.sts.sessions import Session
from gateway.errors import Forbidden
from gateway.iam.language.evaluator import Allow, Deny
from gateway.store.key_shapes import KeyShape

T = TypeVar("T")
Source = Literal["table", "cache", "dax"]


class Call(msgspec.Struct, frozen=True, gc=False):
    """One finished DynamoDB call, or what a cache answered in its place; it holds no key and no item.

    It is for the log line, the metrics and `explain`.
    `key_shapes` is the form of its keys, written only where the request is to be explained.
    """

    operation: str
    index: str | None
    items: int
    capacity: float
    seconds: float
    statements: tuple[str, ...] = ()
    key_shapes: tuple[KeyShape, ...] = ()
    started: float = 0.0  # a moment of the clock that loops use too
    source: Source = "table"
    stale: bool = False  # whether the cache is renewing some of it


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the policies did not allow: a call, or one attribute; `reason` names statements and keys, no values."""

    what: str
    reason: str


@dataclass(slots=True)
class Access:
    session: Session
    deadline: float | None = None  # a moment of the loop's clock
    explained: bool = False  # whether the caller is told what was read and why it was allowed
    calls: list[Call] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    # what was answered to a lane that stepped back, with operation and body: the reference does not ask for it again
    replay: list[tuple[str, bytes, bytes | Exception]] = field(default_factory=list, repr=False)
    renewal: asyncio.Lock | None = field(default=None, repr=False)

    def replayed(self, operation: str, content: bytes) -> bytes | Exception | None:
        """What was answered to this request before, once."""
        for number, (asked, body, answer) in enumerate(self.replay):
            if asked == operation and body == content:
                del self.replay[number]
                return answer
        return None

    @property
    def capacity(self) -> float:
        return sum(call.capacity for call in self.calls)


def authorize(access: Access, operation: str, body: Mapping[str, Any]) -> Allow:
    """What allows this request; raises `Forbidden` where the session's policies do not."""
    session = access.session
    verdict = session.permissions.check(operation, body)
    if isinstance(verdict, Deny):
        access.refusals.append(Refusal(operation, verdict.reason))
        raise Forbidden(f"the role `{session.role}` may not do this") from PermissionError(verdict.reason)
    return verdict


async def shared(found: "asyncio.Future[T]") -> T:
    """Several fields may wait for one answer: where one of them is given up, the others still get it."""
    try:
        return await asyncio.shield(found)
    except asyncio.CancelledError:
        # perhaps nobody waits for it any more; then nobody misses how it failed
        found.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def gather_settled(jobs: list[Coroutine[Any, Any, T]]) -> list[T | Exception]:
    """Run in parallel, each to its end; a failure stands in the place of its result."""
    if len(jobs) == 1:
        try:
            return [await jobs[0]]
        except Exception as error:
            return [error]
    found: list[T | Exception] = []
    for each in await asyncio.gather(*jobs, return_exceptions=True):
        if isinstance(each, BaseException) and not isinstance(each, Exception):
            raise each
        found.append(each)
    return found


async def gather_or_cancel(jobs: list[Coroutine[Any, Any, T]]) -> list[T]:
    """Run in parallel; the first failure cancels the others and is raised as it is."""
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
