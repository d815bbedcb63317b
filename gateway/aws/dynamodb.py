"""The one way to DynamoDB: a call with somebody's credentials, answered or raised."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import orjson

from gateway.aws.answer import Answer, body_of, content_of
from gateway.aws.clock import Clock
from gateway.aws.credentials import Credentials
from gateway.aws.errors import AnswerLate, AwsError, ConnectionBroken, Retry
from gateway.aws.limits import WireLimits
from gateway.aws.pool import Lane, Pool
from gateway.aws.request import Draft, draft, payload, written
from gateway.aws.retry import Budget, Retries, RetryRules
from gateway.aws.signer import Signer
from gateway.aws.target import Target, endpoint
from gateway.errors import DeadlineExceeded

T = TypeVar("T")
_LIMITS = WireLimits()
_RETRY = RetryRules()
# event loops fire timers up to this much early
_GRAIN = 0.002


class DynamoDB(Protocol):
    """The seam that tests and other engines replace."""

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        """Body and answer are DynamoDB JSON; `deadline` is a moment of the loop's clock."""
        ...

    async def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> bytes:
        """The same with texts: for whoever has the request written already and decodes the answer alone."""
        body = orjson.loads(content)
        answer = await self.call(operation, body, credentials=credentials, target=target, deadline=deadline)
        return orjson.dumps(answer)


@dataclass(frozen=True, slots=True)
class Retried:
    """An attempt that failed and will be followed by another after `pause` seconds."""

    operation: str
    target: Target
    error: AwsError
    pause: float


class _Route:
    """What all calls to one target share."""

    __slots__ = ("budget", "clock", "drafts", "lane", "target")

    def __init__(self, target: Target, lane: Lane, budget: Budget) -> None:
        self.target = target
        self.lane = lane
        self.budget = budget
        self.clock = Clock()
        self.drafts: dict[str, Draft] = {}

    def draft(self, operation: str) -> Draft:
        made = self.drafts.get(operation)
        if made is None:
            made = self.drafts[operation] = draft(self.target, operation)
        return made


class DynamoDBClient(DynamoDB):
    """One for all tenants of a process; belongs to the event loop it is first used in."""

    def __init__(
        self,
        limits: WireLimits = _LIMITS,
        retry: RetryRules = _RETRY,
        *,
        tls: ssl.SSLContext | None = None,
        on_retry: Callable[[Retried], None] = lambda retried: None,
    ) -> None:
        self._limits = limits
        self._retry = retry
        self._on_retry = on_retry
        self._pool = Pool(limits, tls)
        self._signer = Signer("dynamodb")
        # targets come from settings, so there are few
        self._routes: dict[Target, _Route] = {}

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        content = payload(operation, body)
        return await self._answered(content_of, operation, content, credentials, target, deadline)

    async def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> bytes:
        return await self._answered(body_of, operation, content, credentials, target, deadline)

    async def _answered(
        self,
        read: Callable[[Answer], T],
        operation: str,
        content: bytes,
        credentials: Credentials,
        target: Target,
        deadline: float | None,
    ) -> T:
        route = self._routes.get(target) or self._add_route(target)
        now = asyncio.get_running_loop().time()
        end = now + self._limits.total_seconds
        if deadline is not None and deadline < end:
            end = deadline
        if end <= now:
            raise DeadlineExceeded("there was no time left to ask the database")
        retries: Retries | None = None
        while True:
            offset = route.clock.offset
            try:
                answer = read(await self._attempt(route, operation, content, credentials, end))
            except AwsError as error:
                retries = retries or Retries(self._retry, route.budget)
                pause = _pause(route, retries, error, offset, end)
                self._on_retry(Retried(operation, target, error, pause))
                await asyncio.sleep(pause)
            else:
                route.budget.refund(retries.spent if retries else 0)
                return answer

    async def close(self) -> None:
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _add_route(self, target: Target) -> _Route:
        route = _Route(target, self._pool.lane(endpoint(target)), Budget(self._retry.budget))
        self._routes[target] = route
        return route

    async def _attempt(
        self, route: _Route, operation: str, content: bytes, credentials: Credentials, end: float
    ) -> Answer:
        lane = route.lane
        connection = lane.take() or await lane.open(end)
        try:
            request = written(route.draft(operation), content, self._signer, credentials, route.clock.now())
            return await connection.exchange(request, end)
        finally:
            lane.release(connection)


def _pause(route: _Route, retries: Retries, error: AwsError, signed_with: float, end: float) -> float:
    """Seconds until the next attempt; raises where there is none."""
    remaining = end - asyncio.get_running_loop().time()
    if isinstance(error, AnswerLate) and remaining <= _GRAIN:
        raise DeadlineExceeded("the database did not answer before the deadline") from error
    pause = retries.pause(error, remaining)
    if pause is None:
        raise error
    if error.retry is Retry.SKEWED and not route.clock.correct(error.said.date, signed_with):
        raise error
    if isinstance(error, ConnectionBroken) and error.stale:
        route.lane.drop_idle()
    return pause
