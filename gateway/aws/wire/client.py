"""Signed calls to one AWS service: signs, sends and retries them, and returns the response or raises."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget, endpoint
from gateway.aws.wire.errors import AnswerLate, AwsError, ConnectionBroken, Retry
from gateway.aws.wire.pool import ConnectionPool, EndpointPool
from gateway.aws.wire.response import AwsResponse
from gateway.aws.wire.retry import Budget, Retries, RetryRules
from gateway.aws.wire.signer import Form, Signer
from gateway.errors import DeadlineExceeded
from gateway.pacer import Pacer

T = TypeVar("T")
# event loops fire timers up to this much early
_GRAIN = 0.002


@dataclass(frozen=True, slots=True)
class Retried:
    """A failed attempt that is retried after `pause` seconds."""

    operation: str
    target: AwsTarget
    error: AwsError
    pause: float


@dataclass(frozen=True, slots=True)
class Service:
    """What differs between AWS services."""

    name: str
    # the request form of an operation at a target
    form: Callable[[AwsTarget, str], Form]
    # returns the body of a successful response; raises for any other
    body_of: Callable[[AwsResponse], bytes]


class _Route:
    """State that all calls to one target share."""

    __slots__ = ("budget", "clock", "forms", "lane", "signer", "target")

    def __init__(self, target: AwsTarget, lane: EndpointPool, budget: Budget, signer: Signer) -> None:
        self.target = target
        self.lane = lane
        self.budget = budget
        self.signer = signer
        # finding the running loop takes a system call, and a client belongs to one loop
        self.clock = asyncio.get_running_loop().time
        self.forms: dict[str, Form] = {}


async def _at_once() -> None:
    """Does not wait."""


class AwsClient:
    """One per service and process; bound to the event loop in which it is first used."""

    def __init__(
        self,
        service: Service,
        limits: WireLimits,
        retry: RetryRules,
        *,
        tls: ssl.SSLContext | None = None,
        on_retry: Callable[[Retried], None] = lambda retried: None,
        before_retry: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self._service = service
        self._limits = limits
        self._retry = retry
        self._on_retry = on_retry
        self._before_retry = before_retry
        self._pool = ConnectionPool(limits, tls)
        self._pacer = Pacer()  # of responses
        # targets come from settings, so there are few
        self._routes: dict[AwsTarget, _Route] = {}
        self._last: _Route | None = None

    def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Coroutine[Any, Any, bytes]:
        """Returns the body of a successful response."""
        return self.ask(bytes, operation, content, credentials, target, deadline)

    async def ask(
        self,
        read: Callable[[bytes], T],
        operation: str,
        content: bytes,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None,
    ) -> T:
        """Returns the result of `read` on the body of a successful response.

        `deadline` is a time on the clock of the event loop.
        """
        route = self._last
        if route is None or route.target is not target:  # nearly always the route of the previous call
            route = self._last = self._routes.get(target) or self._add_route(target)
        form = route.forms.get(operation) or self._add_form(route, operation)
        lane, signer, budget, retries = route.lane, route.signer, route.budget, None
        now = route.clock()
        end = now + self._limits.total_seconds if deadline is None else min(deadline, now + self._limits.total_seconds)
        pacer, tenant = self._pacer, credentials.owner
        if end <= now:
            raise DeadlineExceeded("there was no time left to ask the database")
        while True:
            offset = signer.offset
            try:
                connection = lane.take() or await lane.open(end, tenant)
                try:
                    request = signer.request(form, credentials, content, time.time() + offset)
                    answer = await connection.exchange(request, end)
                finally:
                    # INVARIANT: a connection whose response was not received completely is not used again.
                    lane.release(connection)
                if not (pacer.alone and pacer.tenant == tenant) and not pacer.step_at_once(tenant):
                    await pacer.step(tenant)
                result = read(answer if isinstance(answer, bytes) else self._service.body_of(answer))
            except AwsError as error:
                retries = retries or Retries(self._retry, budget)
                pause = _pause(route, retries, error, offset, end)
                self._on_retry(Retried(operation, target, error, pause))
                await asyncio.sleep(pause)
                await self._before_retry()
            else:
                if budget.tokens < budget.capacity:
                    budget.refund(retries.spent if retries else 0)
                return result

    async def close(self) -> None:
        await self._pool.close()

    def _add_route(self, target: AwsTarget) -> _Route:
        lane, signer = self._pool.lane(endpoint(target)), Signer(self._service.name, target.region)
        route = self._routes[target] = _Route(target, lane, Budget(self._retry.budget), signer)
        return route

    def _add_form(self, route: _Route, operation: str) -> Form:
        form = route.forms[operation] = self._service.form(route.target, operation)
        return form


def _pause(route: _Route, retries: Retries, error: AwsError, signed_with: float, end: float) -> float:
    """Returns the seconds until the next attempt; raises if there is none."""
    remaining = end - route.clock()
    if isinstance(error, AnswerLate) and remaining <= _GRAIN:
        raise DeadlineExceeded("the database did not answer before the deadline") from error
    pause = retries.pause(error, remaining)
    if pause is None:
        raise error
    if error.retry is Retry.SKEWED and not route.signer.correct(error.said.date, signed_with):
        raise error
    if isinstance(error, ConnectionBroken) and error.stale:
        route.lane.drop_idle()
    return pause
