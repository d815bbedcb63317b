"""The GraphQL endpoint: takes a request through its steps, from the caller and the document to the response."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

from graphql import ExecutionResult, GraphQLError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from gateway.aws.sts.callers import Caller
from gateway.errors import Unauthenticated
from gateway.graph.background import in_background
from gateway.graph.http.compression import accepts_gzip, compressed
from gateway.graph.http.consistency import SENT_TOKEN, add_consistency, sent_token
from gateway.graph.http.explain import EXPLAIN, explanation
from gateway.graph.http.fair_queue import OPERATION_COST, FairQueue
from gateway.graph.http.http_error import HttpError
from gateway.graph.http.log_lines import MAX_NAME, RequestIds, RequestLog, WriteOperation, log_operation
from gateway.graph.http.persisted import Persisted
from gateway.graph.http.request import (
    ANSWER_TYPES,
    JSON,
    TWICE,
    EventStreamWanted,
    GraphQLRequest,
    LargeBody,
    Message,
    Receive,
    Scope,
    answer_type_of,
    merged_headers,
    read_request,
)
from gateway.graph.http.responses import HEADS, HttpResponse, executed, failed, refused, unread
from gateway.graph.http.running import DISCONNECT, TICK, RunningRequest, RunningRequests
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.limits import check_text
from gateway.graph.query.operation import Admitted, DocumentKey, Documents, Operation, ParsedDocument
from gateway.graph.query.price import COST, CostLimits
from gateway.graph.query.reference.executor import ReferenceExecutor
from gateway.identity.principal import Principal
from gateway.identity.support import SupportAccess
from gateway.model.tenant import TenantId
from gateway.store.access import Access
from gateway.store.consistency_token import ConsistencyTokens
from gateway.store.item_sizes import NOTHING_LEARNED, ItemSizes

Send = Callable[[Message], Awaitable[None]]
Observe = Callable[[RequestLog, list[str]], None]  # called with each answered request and its error codes


class CallerSource(Protocol):
    """Implemented by `gateway.aws.sts.callers.Callers`; tests replace it."""

    def known(self, authorization: bytes | None) -> Caller | None: ...

    async def open(self, authorization: bytes | None, identified: Callable[[Principal], None]) -> Caller: ...


SUPPORT = "supportAccess"
SUBSCRIPTION = "subscription"
READ = "gateway.request"  # the scope key under which an event stream finds a request that was already read
_OK = int(HTTPStatus.OK)
_PACED_REFUSALS = 16
_ANSWERING = 0.1  # the share of its time that a mutation reserves for the response


def ignored(log: RequestLog, codes: list[str]) -> None:
    """An observer that does nothing."""


async def no_event_stream(scope: Scope, receive: Receive, send: Send) -> None:
    """Used if no event stream is configured."""
    response = JSONResponse({"errors": [{"message": "the answer is JSON; accept it"}]}, HTTPStatus.NOT_ACCEPTABLE)
    await response(scope, receive, send)


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    body_bytes: int = 1_000_000
    seconds: float = 10
    packed_from: int = 1_400  # bytes of a response; a response that fits into one packet gains nothing


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The ASGI app for the GraphQL path."""

    documents: Documents
    cost_limits: CostLimits
    persisted: Persisted
    callers: CallerSource
    reference: ReferenceExecutor
    lanes: Lanes
    tokens: ConsistencyTokens
    limits: EndpointLimits
    # for each role with its own schema: the documents valid under it, and their executor
    views: Mapping[str, tuple[Documents, ReferenceExecutor]] = field(default_factory=dict)
    queue: FairQueue = field(default_factory=FairQueue)
    preparing: FairQueue = field(default_factory=partial(FairQueue, 1))
    parsing: dict[tuple[TenantId, str, int], "asyncio.Task[ParsedDocument]"] = field(default_factory=dict)
    explain: bool = False  # whether a request may ask for `extensions.explain`
    observe: Observe = ignored
    write: WriteOperation = log_operation
    ids: RequestIds = field(default_factory=RequestIds)
    event_stream: ASGIApp = no_event_stream  # handles requests that accept `text/event-stream`
    running: RunningRequests = field(default_factory=RunningRequests)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent: list[tuple[bytes, bytes]] = scope["headers"]
        headers = dict(sent)
        if len(headers) != len(sent):
            headers = merged_headers(sent)
        log = self.ids.begin(headers)
        try:
            answer = await self._guarded(scope, headers, receive, log)
        except EventStreamWanted as wanted:
            scope[READ] = wanted.request
            await self.event_stream(scope, receive, send)
            return
        if log.access is None:
            await self._pace_refusal(log)
        if log.estimate is not None and (log.priced or log.explained):
            answer.content["extensions"] = _extensions(log, log.estimate, self.reference.table.sizes)
        access = log.access
        if access is not None and (access.wrote or access.lagging):
            add_consistency(answer, access, self.tokens)
        if log.principal is not None and log.principal.support is not None:
            answer.content.setdefault("extensions", {})[SUPPORT] = support_notice(log.principal, log.principal.support)
        codes: list[str] = []
        if answer.data is not None and not answer.content:
            content = b'{"data":%b}' % answer.data
        else:
            codes, content = answer.codes, answer.text()
        log.write(answer.status, codes, self.write)
        self.observe(log, codes)
        pack = False
        if len(content) >= self.limits.packed_from and b"accept-encoding" in headers:
            pack = accepts_gzip(headers[b"accept-encoding"].decode("latin-1"))
            content = compressed(content) if pack else content
        length, number = b"%d" % len(content), log.request_id.encode()
        head = [*HEADS[answer.media_type], (b"content-length", length), (b"x-request-id", number)]
        if pack or answer.headers:
            head += answer.more_headers(packed=pack)
        await send({"type": "http.response.start", "status": answer.status, "headers": head})
        await send({"type": "http.response.body", "body": content})

    async def _guarded(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, log: RequestLog
    ) -> HttpResponse:
        media_type = JSON
        running = self.running.begin(self.limits.seconds)
        scope[DISCONNECT] = running.disconnected
        try:
            media_type = ANSWER_TYPES.get(headers.get(b"accept")) or answer_type_of(headers)
            # INVARIANT: the token is verified before a byte of the body is read, and nothing after this sees it.
            authorization = headers.get(b"authorization")
            caller = self.callers.known(authorization) or await self._open(authorization, log)
            log.caller, log.principal = caller, caller.principal
            tenant = caller.session.tenant
            request = await read_request(scope, headers, receive, self.limits.body_bytes)
            if isinstance(request, LargeBody):
                request = await self.read_large(request, tenant, running)
            text = request.query
            if (
                text is None
                or request.extensions
                or request.document_id is not None
                or self.persisted.trusted_documents_only
            ):
                text = self.persisted.text(tenant, request)
            view = self.views.get(caller.role)
            documents, reference = view if view is not None else (self.documents, self.reference)
            document = documents.recent.get(text) or await self._document(documents, tenant, text, running)
            log.document = document.hash
            operation = document.by_name.get(request.operation_name)
            if operation is None:
                return await self._refused(reference, document, request, log, media_type)
            admitted = self._admit(operation, request, log, scope["method"])
            if isinstance(admitted, list):
                return executed(ExecutionResult(None, admitted), log, media_type)
            token = sent_token(headers, request) if request.extensions or SENT_TOKEN in headers else None
            return await self.run(reference, admitted, request, log, running, media_type, token)
        except asyncio.CancelledError:
            reason = running.take_cancellation()
            if reason is None:
                raise
            return failed(reason, log, media_type)
        except EventStreamWanted:
            raise
        except Exception as error:
            return failed(error, log, media_type)
        finally:
            self.running.finish(running)
            del scope[DISCONNECT]

    async def _pace_refusal(self, log: RequestLog) -> None:
        """Spreads the refusals of a tenant, or of callers without a valid token; if many wait, it does not wait too."""
        tenant = log.principal.tenant if log.principal is not None else ""
        pacer = self.reference.table.pacer
        if not pacer.step_at_once(tenant) and pacer.waiting(tenant) < _PACED_REFUSALS:
            await pacer.step(tenant)

    async def prepared(
        self, request: GraphQLRequest, log: RequestLog, running: RunningRequest, method: str
    ) -> tuple[ReferenceExecutor, Admitted] | HttpResponse:
        """Returns what to run for a request on an open connection, or an error response; its caller is known."""
        assert log.caller is not None  # noqa: S101  the caller of a connection is known
        tenant = log.caller.session.tenant
        text = self.persisted.text(tenant, request)
        documents, reference = self.views.get(log.caller.role, (self.documents, self.reference))
        document = await self._document(documents, tenant, text, running)
        log.document = document.hash
        operation = document.by_name.get(request.operation_name)
        if operation is None:
            return await self._refused(reference, document, request, log, JSON)
        admitted = self._admit(operation, request, log, method)
        if isinstance(admitted, list):
            return executed(ExecutionResult(None, admitted), log, JSON)
        return reference, admitted

    async def _open(self, authorization: bytes | None, log: RequestLog) -> Caller:
        if authorization is TWICE:
            raise Unauthenticated("more than one authorization header")
        return await self.callers.open(authorization, log.identified)

    async def read_large(self, body: LargeBody, tenant: TenantId, running: RunningRequest) -> GraphQLRequest:
        # INVARIANT: large bodies are read like new documents: one at a time, tenants in turn, and off the event loop.
        limit = self.limits.body_bytes
        await self.preparing.acquire(tenant, body.size or limit, running.deadline)
        try:
            return await in_background(self.reference.table.pacer, body.read, limit, self.documents.limits.values)
        finally:
            self.preparing.release()

    async def _refused(
        self,
        reference: ReferenceExecutor,
        document: ParsedDocument,
        request: GraphQLRequest,
        log: RequestLog,
        media_type: str,
    ) -> HttpResponse:
        if document.ast is None:
            return refused(document, log, media_type)
        # the operation is ambiguous, and graphql-core reports why
        return executed(await reference.execute(document, request.operation_name, request.variables), log, media_type)

    async def _document(
        self, documents: Documents, tenant: TenantId, text: str, running: RunningRequest
    ) -> ParsedDocument:
        # trusted documents are the operator's, so all tenants share them
        document_key = text if text in self.persisted.trusted_texts else documents.key(tenant, text)
        document = documents.known(document_key)
        if document is not None:
            return document
        check_text(text, documents.limits)
        pacer = self.reference.table.pacer
        if not pacer.step_at_once(tenant):
            await pacer.step(tenant)
        # concurrent requests of a tenant for the same new document share one parse
        key = tenant, text, id(documents)
        parsing = self.parsing.get(key)
        if parsing is None:
            parsing = asyncio.ensure_future(self._parse(documents, tenant, document_key, text, running.deadline))
            self.parsing[key] = parsing
            parsing.add_done_callback(lambda done: self._parsed(key, done))
        return await asyncio.shield(parsing)

    async def _parse(
        self, documents: Documents, tenant: TenantId, document_key: DocumentKey, text: str, deadline: float
    ) -> ParsedDocument:
        # INVARIANT: new documents are parsed one at a time, tenants in turn, and off the event loop.
        await self.preparing.acquire(tenant, len(text), deadline)
        try:
            document = documents.known(document_key)
            if document is None:
                document = await in_background(self.reference.table.pacer, documents.prepare, text)
                documents.remember(document_key, document)
            return document
        finally:
            self.preparing.release()

    def _parsed(self, key: tuple[TenantId, str, int], done: "asyncio.Task[ParsedDocument]") -> None:
        del self.parsing[key]
        if not done.cancelled():
            done.exception()  # marks the exception as retrieved, in case no request waits any more

    def _admit(
        self, operation: Operation, request: GraphQLRequest, log: RequestLog, method: str
    ) -> Admitted | list[GraphQLError]:
        """Returns what to run, or the errors in its variables."""
        caller = log.caller
        assert caller is not None  # noqa: S101  an admitted caller is known
        # a name may be as long as a request, but a log line may not
        name = operation.name
        log.operation = name[:MAX_NAME] if name is not None else None
        log.operation_type = operation.kind
        if method == "GET" and operation.kind == "mutation":
            raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "only queries can be sent by GET", {"Allow": "POST"})
        if request.extensions:
            self.persisted.keep(caller.session.tenant, request)
            log.priced = request.extensions.get(COST) is True
            log.explained = self.explain and request.extensions.get(EXPLAIN) is True
        learned = self.reference.table.sizes.known
        sizes = learned.get(caller.session.tenant) if learned else None
        admitted = operation.admit(request.variables, sizes or NOTHING_LEARNED)
        if isinstance(admitted, Admitted):
            log.estimate = admitted.estimate
            if admitted.estimate > caller.cost_limit:
                self.cost_limits.check(admitted.estimate, caller.role)
        return admitted

    async def run(
        self,
        reference: ReferenceExecutor,
        admitted: Admitted,
        request: GraphQLRequest,
        log: RequestLog,
        running: RunningRequest,
        media_type: str,
        token: str | None,
    ) -> HttpResponse:
        assert log.caller is not None  # noqa: S101  an admitted caller is known
        session, subject = log.caller.session, log.caller.principal.subject
        own_writes = None if token is None else self.tokens.open(session.tenant, subject, token)
        variant, variables, is_query = admitted.variant, admitted.variables, admitted.operation.is_query
        running.cancel_on_disconnect()
        if not self.queue.acquire_at_once():
            await self.queue.acquire(session.tenant, OPERATION_COST + admitted.estimate, running.deadline)
        try:
            pacer, tenant = reference.table.pacer, session.tenant
            if not (pacer.alone and pacer.tenant == tenant) and not pacer.step_at_once(tenant):
                await pacer.step(tenant)
            if not is_query:
                if admitted.operation.kind == SUBSCRIPTION:
                    raise EventStreamWanted(request)
                # INVARIANT: a mutation is not started for a caller that has disconnected; once started, it is
                # completed.
                running.carry_on(self.limits.seconds)
            # the store calls of a query time out after the request does, so that a late request is always reported as
            # late; a mutation reserves time to report what was done
            margin = 2 * TICK if is_query else -self.limits.seconds * _ANSWERING
            access = log.access = Access(
                session,
                running.deadline + margin,
                log.explained,
                prefix=log.caller.own,
                scope=log.caller.scope,
                subject=subject,
                own_writes=own_writes,
            )
            answer = await self.lanes.run(variant, access, variables) if is_query else None
            if answer is not None:
                data, left_out = answer
                return HttpResponse(_OK, unread(left_out, log) if left_out else {}, media_type, data=data)
            result = await reference.run(variant, admitted.operation, request.variables, variables, access)
        finally:
            self.queue.release()
        return executed(result, log, media_type)


def support_notice(principal: Principal, support: SupportAccess) -> dict[str, str]:
    """INVARIANT: every response to a request with support access says so, whatever else it contains."""
    until = datetime.fromtimestamp(principal.expires_at, UTC).isoformat().replace("+00:00", "Z")
    return {"actor": support.actor, "tenant": principal.tenant, "reason": support.reason, "expiresAt": until}


def _extensions(log: RequestLog, estimate: float, sizes: ItemSizes) -> dict[str, Any]:
    """Returns the extensions that the request asked for."""
    extensions: dict[str, Any] = {}
    access = log.access
    if access is not None and log.explained:
        extensions[EXPLAIN] = {**explanation(access, log.started), "sizes": sizes.explained(access.session.tenant)}
    extensions[COST] = {"estimate": estimate, "actual": access.capacity if access is not None else 0.0}
    return extensions
