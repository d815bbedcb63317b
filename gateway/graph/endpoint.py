"""The walk of a request: HTTP in, identity, session, document, execution, HTTP out; each step once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

import orjson
from graphql import ExecutionResult, GraphQLSchema, execute
from starlette.requests import Request
from starlette.responses import Response

from gateway.aws.sessions import Session
from gateway.errors import BadUserInput, DeadlineExceeded, Unauthenticated
from gateway.graph.answers import Answer, executed, failed, refused, request_error, unreadable
from gateway.graph.compile import Programs
from gateway.graph.context import Context
from gateway.graph.cost import COST, Costs
from gateway.graph.documents import MAX_ERRORS, Document, Documents
from gateway.graph.errors import failure
from gateway.graph.explain import EXPLAIN, explanation, wanted
from gateway.graph.http_error import HttpError
from gateway.graph.http_request import JSON, GraphQLRequest, answer_type, read
from gateway.graph.journal import MAX_NAME, Entry, begin
from gateway.graph.leaving import ended_when_left
from gateway.graph.limits import check_text, check_variables
from gateway.graph.packing import GZIP, accepts_gzip, packed
from gateway.graph.persisted import Persisted
from gateway.graph.reader import Reader, ReadLimits
from gateway.graph.run import run_program
from gateway.graph.selection import Selections
from gateway.graph.turns import Turns
from gateway.identity.principal import Principal
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.table import Table
from gateway.store.writer import Writer

Authenticate = Callable[[str | None], Awaitable[Principal]]
OpenSession = Callable[[Principal], Awaitable[Session]]
Observe = Callable[[Entry, list[str]], None]  # an operation that was answered, and the codes of its errors


_ANSWERING = 0.1  # share of the time that a mutation leaves for its answer


def ignored(entry: Entry, codes: list[str]) -> None:
    """For where nothing is counted."""


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    body_bytes: int = 1_000_000
    seconds: float = 10
    packed_from: int = 1_400  # bytes of an answer: what fits into one packet gains nothing
    reads: ReadLimits = field(default_factory=ReadLimits)


@dataclass(frozen=True, slots=True)
class Endpoint:
    model: Model
    schema: GraphQLSchema
    documents: Documents
    programs: Programs
    costs: Costs
    persisted: Persisted
    authenticate: Authenticate
    open_session: OpenSession
    table: Table
    cursors: Cursors
    limits: EndpointLimits
    turns: Turns = field(default_factory=Turns)
    preparing: Turns = field(default_factory=partial(Turns, 1))
    explain: bool = False  # whether a request may ask what was done for it
    observe: Observe = ignored

    async def __call__(self, request: Request) -> Response:
        entry = begin(request.headers)
        answer = await self._guarded(request, entry)
        if extensions := _extensions(entry):
            answer.content["extensions"] = extensions
        codes = answer.codes
        entry.write(answer.status, codes)
        self.observe(entry, codes)
        return self._response(answer, entry, request.headers.get("accept-encoding"))

    async def _guarded(self, request: Request, entry: Entry) -> Answer:
        """Every failure is an answer in GraphQL's form, with the status that fits it."""
        media_type = JSON
        try:
            media_type = answer_type(",".join(request.headers.getlist("accept")))
            async with asyncio.timeout(self.limits.seconds):
                return await self._answer(request, entry, media_type)
        except HttpError as error:
            return unreadable(error, entry, media_type)
        except BadUserInput as error:
            return request_error([failure(error, entry.request_id)], media_type)
        except TimeoutError:
            late = DeadlineExceeded(f"the operation took longer than {self.limits.seconds:g} seconds")
            return failed(late, entry, media_type)
        except Exception as error:
            entry.reason = getattr(error, "reason", None)
            return failed(error, entry, media_type)

    async def _answer(self, request: Request, entry: Entry, media_type: str) -> Answer:
        # INVARIANT: the token is verified before a byte of the body is read, and nothing after this sees it.
        principal = entry.principal = await self.authenticate(_authorization(request))
        asked = await read(request, self.limits.body_bytes)
        session = await self.open_session(principal)
        entry.role = session.role
        document = await self._document(session.tenant, self.persisted.text(session.tenant, asked))
        entry.document = document.hash
        operation = document.operation(asked.operation_name)
        # a name may be as long as a request, and a line of the log may not
        entry.operation = (
            operation.name.value[:MAX_NAME] if operation is not None and operation.name is not None else None
        )
        entry.operation_type = operation.operation.value if operation is not None else None
        if document.ast is None:
            return refused(document, entry, media_type)
        if request.method == "GET" and not document.is_query(asked.operation_name):
            raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "only queries are asked by GET", {"Allow": "POST"})
        self.persisted.keep(session.tenant, asked)
        check_variables(asked.variables, self.documents.limits)
        entry.priced = asked.extensions.get(COST) is True
        entry.estimate = self.costs.estimate(document, operation, asked.variables)
        self.costs.limits.check(entry.estimate, session.role)
        with ended_when_left(request.scope) if document.is_query(asked.operation_name) else nullcontext():
            await self.turns.enter(session.tenant)
            try:
                result = await self._run(document, asked, session, entry)
            finally:
                self.turns.leave()
        if _late_with_nothing(result):
            raise TimeoutError
        return executed(result, entry, media_type)

    async def _document(self, tenant: TenantId, text: str) -> Document:
        check_text(text, self.documents.limits)
        document = self.documents.known(text)
        if document is not None:
            return document
        # INVARIANT: new documents are parsed one at a time, tenants in turn, and beside the loop that serves everybody.
        await self.preparing.enter(tenant)
        try:
            document = self.documents.known(text)
            if document is None:
                document = await asyncio.to_thread(self.documents.prepare, text)
                self.documents.remember(text, document)
            return document
        finally:
            self.preparing.leave()

    async def _run(self, document: Document, asked: GraphQLRequest, session: Session, entry: Entry) -> ExecutionResult:
        deadline = asyncio.get_running_loop().time() + self.limits.seconds - (time.perf_counter() - entry.started)
        if not document.is_query(asked.operation_name):
            # the rest is for answering with what was done
            deadline -= self.limits.seconds * _ANSWERING
        access = entry.access = Access(session, deadline, explained=self.explain and wanted(asked))
        reader = Reader(self.model, self.table, access, self.cursors, self.limits.reads)
        assert document.ast is not None  # noqa: S101  the caller has checked; this tells the type checker
        try:
            program = self.programs.get(document, asked.operation_name)
            if program is not None:
                # what goes wrong in it is worded by graphql-core, which runs the operation again on what was read
                with suppress(Exception):
                    return ExecutionResult(await run_program(program, self.schema, reader, asked.variables))
            result = execute(
                self.schema,
                document.ast,
                context_value=Context(reader, Writer(self.model, self.table, access), Selections(self.model)),
                variable_values=asked.variables,
                operation_name=asked.operation_name,
                max_coercion_errors=MAX_ERRORS,
                hide_suggestions=self.documents.discreet,
            )
            return await result if isinstance(result, Awaitable) else result
        finally:
            reader.close()

    def _response(self, answer: Answer, entry: Entry, accepted: str | None) -> Response:
        content = orjson.dumps(answer.content)
        headers = {
            "content-type": f"{answer.media_type}; charset=utf-8",
            "cache-control": "no-store",
            "vary": "accept, accept-encoding",
            "x-request-id": entry.request_id,
            **dict(answer.headers),
        }
        if len(content) >= self.limits.packed_from and accepts_gzip(accepted):
            content, headers["content-encoding"] = packed(content), GZIP
        return Response(content, answer.status, headers=headers)


def _late_with_nothing(result: ExecutionResult) -> bool:
    """Whether the time ran out before any root field had an answer."""
    late = [isinstance(error.original_error, DeadlineExceeded) for error in result.errors or ()]
    return bool(late) and all(late) and not any(value is not None for value in (result.data or {}).values())


def _authorization(request: Request) -> str | None:
    given = request.headers.getlist("authorization")
    if len(given) > 1:
        raise Unauthenticated("more than one authorization header")
    return given[0] if given else None


def _extensions(entry: Entry) -> dict[str, Any]:
    """What the request asked to be told about itself."""
    found: dict[str, Any] = {}
    access = entry.access
    explained = access is not None and access.explained
    if access is not None and explained:
        found[EXPLAIN] = explanation(access, entry.started)
    if entry.estimate is not None and (entry.priced or explained):
        found[COST] = {"estimate": entry.estimate, "actual": access.capacity if access is not None else 0.0}
    return found
