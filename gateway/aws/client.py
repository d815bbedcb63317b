"""Signed calls to one AWS service: written, sent, tried again, answered or raised."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from gateway.aws.answer import Answer
from gateway.aws.clock import Clock
from gateway.aws.credentials import Credentials
from gateway.aws.errors import AnswerLate, AwsError, ConnectionBroken, Retry
from gateway.aws.limits import WireLimits
from gateway.aws.pool import Lane, Pool
from gateway.aws.request import Draft, written
from gateway.aws.retry import Budget, Retries, RetryRules
from gateway.aws.signer import Signer
from gateway.aws.target import Target, endpoint
from gateway.errors import DeadlineExceeded

T = TypeVar("T")
# event loops fire timers up to this much early
_GRAIN = 0.002


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


async def _at_once() -> None:
    """Nothing has to be waited for."""


class AwsClient:
    """One for each service and process; belongs to the event loop it is first used in."""

    def __init__(
        self,
        service: str,
        draft: Callable[[Target, str], Draft],
        limits: WireLimits,
        retry: RetryRules,
        *,
        tls: ssl.SSLContext | None = None,
        on_retry: Callable[[Retried], None] = lambda retried: None,
        before_retry: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self._draft = draft
        self._limits = limits
        self._retry = retry
        self._on_retry = on_retry
        self._before_retry = before_retry
        self._pool = Pool(limits, tls)
        self._signer = Signer(service)
        # targets come from settings, so there are few
        self._routes: dict[Target, _Route] = {}

    async def call(
        self,
        read: Callable[[Answer], T],
        operation: str,
        content: bytes,
        credentials: Credentials,
        target: Target,
        deadline: float | None,
    ) -> T:
        """What `read` makes of the answer; `deadline` is a moment of the loop's clock."""
        route = self._routes.get(target) or self._add_route(target)
        draft = route.drafts.get(operation) or self._add_draft(route, operation)
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
                answer = read(await self._attempt(route, draft, content, credentials, end))
            except AwsError as error:
                retries = retries or Retries(self._retry, route.budget)
                pause = _pause(route, retries, error, offset, end)
                self._on_retry(Retried(operation, target, error, pause))
                await asyncio.sleep(pause)
                await self._before_retry()
            else:
                route.budget.refund(retries.spent if retries else 0)
                return answer

    async def close(self) -> None:
        await self._pool.close()

    def _add_route(self, target: Target) -> _Route:
        route = _Route(target, self._pool.lane(endpoint(target)), Budget(self._retry.budget))
        self._routes[target] = route
        return route

    def _add_draft(self, route: _Route, operation: str) -> Draft:
        draft = route.drafts[operation] = self._draft(route.target, operation)
        return draft

    async def _attempt(
        self, route: _Route, draft: Draft, content: bytes, credentials: Credentials, end: float
    ) -> Answer:
        lane = route.lane
        connection = lane.take() or await lane.open(end)
        try:
            request = written(draft, content, self._signer, credentials, time.time() + route.clock.offset)
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
