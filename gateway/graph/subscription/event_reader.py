"""Reads the payload of an event with the session of a subscriber, as a query of the same tenant would be read."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.aws.sts.callers import Caller
from gateway.errors import DeadlineExceeded, Throttled, Unavailable
from gateway.graph.errors import failure
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.http.fair_queue import OPERATION_COST
from gateway.graph.http.log_lines import MAX_NAME, RequestLog
from gateway.graph.http.request import JSON, GraphQLRequest
from gateway.graph.http.responses import HttpResponse, executed, unread
from gateway.graph.http.running import TICK
from gateway.graph.query.operation import Admitted
from gateway.graph.query.reference.executor import ReferenceExecutor
from gateway.graph.query.reference.resolvers import ListEvent
from gateway.graph.query.tree import LookupField, WatchListField
from gateway.store.access import Access

_RETRIED = frozenset({Throttled.code, Unavailable.code, DeadlineExceeded.code})


@dataclass(frozen=True, slots=True)
class WatchOperation:
    """A validated subscription: its only root field, and the executor that runs it."""

    root: LookupField | WatchListField
    admitted: Admitted
    request: GraphQLRequest
    reference: ReferenceExecutor
    request_id: str
    trace_id: str

    @property
    def watch(self) -> str:
        return self.root.watch.name if self.root.watch is not None else ""


@dataclass(frozen=True, slots=True)
class EventPayload:
    """`content` is a GraphQL response without its closing brace, so that each subscriber's extensions can be
    appended."""

    content: bytes

    def text(self, extensions: Mapping[str, Any]) -> bytes:
        return b'%b,"extensions":%b}' % (self.content, orjson.dumps(extensions))


class WatchFailed(Exception):
    """Nothing could be read. `errors` are for the subscriber; `passing` says whether another attempt may succeed."""

    def __init__(self, errors: list[dict[str, Any]], *, passing: bool) -> None:
        super().__init__(errors[0]["message"] if errors else "")
        self.errors = errors
        self.passing = passing


@dataclass(frozen=True, slots=True)
class EventReader:
    """INVARIANT: what a subscriber receives is read with a session of its own tenant, role and subject, through the
    same plans and policies as a query; nothing of it comes from the stream of changes."""

    endpoint: Endpoint

    async def read(self, operation: WatchOperation, caller: Caller, event: ListEvent) -> EventPayload | None:
        """None if nothing is left to report: a filter excludes the item, or it was removed again. Raises
        `WatchFailed`."""
        admitted = operation.admitted
        log = RequestLog(operation.request_id, operation.trace_id)
        log.caller, log.principal = caller, caller.principal
        name = admitted.operation.name
        log.operation = name[:MAX_NAME] if name is not None else None
        log.operation_type, log.document = admitted.operation.kind, admitted.operation.document.hash
        log.estimate = admitted.estimate
        try:
            answer = await self._answer(operation, log, event)
        except Exception as error:
            error_content = failure(error, log.request_id)
            self._count(log, [error_content["extensions"]["code"]])
            raise WatchFailed([error_content], passing=error_content["extensions"]["code"] in _RETRIED) from error
        codes = answer.codes
        self._count(log, codes)
        errors: list[dict[str, Any]] = answer.content.get("errors", [])
        if broken := [error for error in errors if _breaks(operation.root, error)]:
            passing = all(error["extensions"]["code"] in _RETRIED for error in broken)
            raise WatchFailed(broken, passing=passing)
        if not event.page and not errors and _is_empty(operation.root, answer.content):
            return None
        return EventPayload(answer.text()[:-1])

    def _count(self, log: RequestLog, codes: list[str]) -> None:
        log.write(200, codes, self.endpoint.write)
        self.endpoint.observe(log, codes)

    async def _answer(self, operation: WatchOperation, log: RequestLog, event: ListEvent) -> HttpResponse:
        endpoint, admitted, caller = self.endpoint, operation.admitted, log.caller
        assert caller is not None  # noqa: S101  set by the only caller of this method
        session, seconds = caller.session, endpoint.limits.seconds
        deadline = asyncio.get_running_loop().time() + seconds
        await endpoint.queue.acquire(session.tenant, OPERATION_COST + admitted.estimate, deadline)
        limit = asyncio.timeout_at(deadline + TICK)  # what keeps the deadline by itself fails first, at its own place
        try:
            async with limit:
                return await self._run(operation, log, event, deadline)
        except TimeoutError as error:
            if limit.expired():
                raise DeadlineExceeded(f"the event took longer than {seconds:g} seconds") from error
            raise
        finally:
            endpoint.queue.release()

    async def _run(self, operation: WatchOperation, log: RequestLog, event: ListEvent, deadline: float) -> HttpResponse:
        endpoint, admitted, caller = self.endpoint, operation.admitted, log.caller
        assert caller is not None  # noqa: S101  set by the only caller of `_answer`
        subject = caller.principal.subject
        access = log.access = Access(caller.session, deadline, prefix=caller.own, scope=caller.scope, subject=subject)
        if isinstance(operation.root, LookupField) or not event.changes:
            answer = await endpoint.lanes.run(admitted.variant, access, admitted.variables)
            if answer is not None:
                data, left_out = answer
                return HttpResponse(200, unread(left_out, log) if left_out else {}, JSON, data=data)
        result = await operation.reference.run(
            admitted.variant,
            admitted.operation,
            operation.request.variables,
            admitted.variables,
            access,
            event,
        )
        return executed(result, log, JSON)


def _is_empty(root: LookupField | WatchListField, content: dict[str, Any]) -> bool:
    if isinstance(root, LookupField):
        return False
    value = content["data"][root.key]
    return not any(value[changes.key] for changes in root.changes)


def _breaks(root: LookupField | WatchListField, error: dict[str, Any]) -> bool:
    """Whether the error concerns the watched item or list itself, and not one of its fields."""
    return len(error.get("path") or ()) <= (1 if isinstance(root, LookupField) else 2)
