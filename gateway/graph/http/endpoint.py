"""The walk of a request: HTTP in, identity, session, document, execution, HTTP out; each step once."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from graphql import ExecutionResult
from starlette.requests import Request
from starlette.responses import Response

from gateway.aws.sessions import Session
from gateway.errors import BadUserInput, DeadlineExceeded, Unauthenticated
from gateway.graph.errors import failure
from gateway.graph.explain import EXPLAIN, explanation, wanted
from gateway.graph.http.answers import Answer, executed, failed, refused, request_error, run_in_lane, unreadable
from gateway.graph.http.disconnect import ended_when_left
from gateway.graph.http.http_error import HttpError
from gateway.graph.http.packing import GZIP, accepts_gzip, packed
from gateway.graph.http.request import JSON, answer_type, read
from gateway.graph.http.request_log import MAX_NAME, Entry, begin
from gateway.graph.persisted import Persisted
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.limits import check_variables
from gateway.graph.query.operation import Documents
from gateway.graph.query.price import COST, CostLimits
from gateway.graph.query.reference import Reference
from gateway.graph.turns import Turns
from gateway.identity.principal import Principal
from gateway.store.access import Access

Authenticate = Callable[[str | None], Awaitable[Principal]]
OpenSession = Callable[[Principal], Awaitable[Session]]
Observe = Callable[[Entry, list[str]], None]  # an operation that was answered, and the codes of its errors


def ignored(entry: Entry, codes: list[str]) -> None:
    """For where nothing is counted."""


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    body_bytes: int = 1_000_000
    seconds: float = 10
    packed_from: int = 1_400  # bytes of an answer: what fits into one packet gains nothing


@dataclass(frozen=True, slots=True)
class Endpoint:
    documents: Documents
    cost_limits: CostLimits
    persisted: Persisted
    authenticate: Authenticate
    open_session: OpenSession
    reference: Reference
    lanes: Lanes
    limits: EndpointLimits
    turns: Turns = field(default_factory=Turns)
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
        document = self.documents.get(self.persisted.text(session.tenant, asked))
        entry.document = document.hash
        if document.ast is None:
            return refused(document, entry, media_type)
        operation = document.operation(asked.operation_name)
        if operation is None:
            return executed(
                await self.reference.execute(document, asked.operation_name, asked.variables), entry, media_type
            )
        # a name may be as long as a request, and a line of the log may not
        entry.operation = operation.name[:MAX_NAME] if operation.name is not None else None
        entry.operation_type = operation.kind
        if request.method == "GET" and not operation.is_query:
            raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "only queries are asked by GET", {"Allow": "POST"})
        self.persisted.keep(session.tenant, asked)
        check_variables(asked.variables, self.documents.limits)
        entry.priced = asked.extensions.get(COST) is True
        variables = operation.variables.read(asked.variables)
        if isinstance(variables, list):
            return executed(ExecutionResult(None, variables), entry, media_type)
        variant = operation.variant(variables)
        entry.estimate = variant.price.estimate(variables)
        self.cost_limits.check(entry.estimate, session.role)
        with ended_when_left(request.scope) if operation.is_query else nullcontext():
            await self.turns.enter(session.tenant)
            try:
                deadline = asyncio.get_running_loop().time() + self.limits.seconds
                access = entry.access = Access(session, deadline, explained=self.explain and wanted(asked))
                found = await self.lanes.run(variant, access, variables) if operation.is_query else None
                if found is not None:
                    return run_in_lane(*found, entry, media_type)
                result = await self.reference.run(
                    variant, document, asked.operation_name, asked.variables, variables, access
                )
            finally:
                self.turns.leave()
        return executed(result, entry, media_type)

    def _response(self, answer: Answer, entry: Entry, accepted: str | None) -> Response:
        content = answer.text()
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
