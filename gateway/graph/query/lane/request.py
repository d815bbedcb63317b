"""One request in a lane: its tenant, its variables and its DynamoDB calls, each authorized before it is sent."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic, time
from typing import Any, TypeVar

import msgspec
import orjson

from gateway.aws.wire.errors import AwsError
from gateway.aws.wire.response import decoded
from gateway.errors import GatewayError
from gateway.graph.query.arguments import InvalidArguments
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.reference.reader import Reader
from gateway.iam.dynamodb.partial_evaluation import PreparedPermission
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.store.access import Access, Call, Refusal, shared
from gateway.store.capacity_units import READ_BLOCK
from gateway.store.cursor import Cursors
from gateway.store.item_sizes import NOTHING_LEARNED, ReadForm
from gateway.store.plan import Attributes, ReadLimits
from gateway.store.table import Table
from gateway.store.wire import items_in, units_of

T = TypeVar("T")

# the last key of a response without further pages
NO_KEY = msgspec.Raw(b"")


class ConsumedCapacity(msgspec.Struct, gc=False):
    CapacityUnits: float = 0.0


class UnprocessedKeys(msgspec.Struct, gc=False):
    Keys: list[msgspec.Raw] = []


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """One form of a DynamoDB call: it is authorized except for its keys, and its response has a fixed type.

    `marker` is the text before each leading key in the request body.
    """

    operation: str
    index: str | None
    marker: str
    decode: Any
    permission: PreparedPermission | None
    # requested attributes that the role may not read: left out of the call, and reported where calls are explained
    refusals: tuple[Refusal, ...] = ()
    form: ReadForm | None = None  # how its capacity units relate to item sizes, if all items are of one entity

    def size(self, answer: Any) -> tuple[int, float]:
        """Returns the number of items in a response, and the capacity units that it consumed."""
        consumed = answer.ConsumedCapacity
        if self.operation == "BatchGetItem":
            units = sum([capacity.CapacityUnits for capacity in consumed]) if consumed else 0.0
            return sum(map(len, answer.Responses.values())), units
        items = len(answer.Items) if self.operation == "Query" else int(answer.Item is not None)
        return items, consumed.CapacityUnits if consumed is not None else 0.0


class LaneRequest:
    __slots__ = (
        "access",
        "caller",
        "cursors",
        "limits",
        "now",
        "own",
        "pages",
        "queries",
        "reader",
        "scope",
        "seen",
        "stopped",
        "subject",
        "table",
        "tenant",
        "variables",
    )

    def __init__(
        self, access: Access, variables: dict[str, Any], table: Table, cursors: Cursors, limits: ReadLimits
    ) -> None:
        self.access = access
        self.variables = variables
        self.table = table
        self.cursors = cursors
        self.limits = limits
        self.tenant: TenantId = access.session.tenant
        self.own = access.prefix or access.own
        self.scope = access.scope or access.session.scope
        self.subject = None if self.scope == self.tenant else access.session.subject
        self.caller = access.subject
        self.now = time()
        self.queries = 0
        # why the lane falls back, while its other reads finish: calls that were not sent yet are left to the reference
        # executor
        self.stopped: BaseException | None = None
        # results that several reads of the operation may share: items with their attributes, and pages
        self.seen: dict[tuple[str, bool, ItemKey], list[tuple[Attributes, asyncio.Task[dict[ItemKey, Any]]]]] = {}
        self.pages: dict[tuple[Any, ...], asyncio.Task[Any]] = {}
        self.reader: Reader | None = None

    def code_reader(self, model: Model) -> Reader:
        """Returns the reader for a domain's own code, created on first use."""
        if self.reader is None:
            self.reader = Reader(model, self.table, self.access, self.cursors, self.limits)
            self.access.code_reads = True
        return self.reader

    def close(self) -> None:
        """Cancels the tasks of shared reads that a cancelled request leaves behind."""
        for task in self.pages.values():
            task.cancel()
        for reads in self.seen.values():
            for _, read in reads:
                read.cancel()
        if self.reader is not None:
            self.reader.close()
            self.access.code_reads = False

    async def call(self, call: PreparedCall, text: str, keys: int) -> Any:
        """Sends one call and returns its typed response.

        INVARIANT: no request reaches DynamoDB that the session's policies do not allow: the prepared permission checks
        the body as it is sent, and if it does not allow it, the evaluator decides.
        """
        if self.stopped is not None:
            raise FallBack(Reason.FAILED_CALL) from self.stopped
        access, permission = self.access, call.permission
        if call.refusals:
            access.refusals += call.refusals
        if permission is not None and permission.residual.allows_text(text, call.marker, self.own, keys, self.subject):
            statements = permission.verdict.statements
        else:
            statements = self._authorized(call, text)
        started = monotonic()
        try:
            raw = await self.table.exchange(access, call.operation, text.encode())
        except Exception as error:
            # any error: the reference executor meets it again in its field, reports it, and logs it if it is a bug
            raise FallBack(Reason.FAILED_CALL) from error
        seconds = monotonic() - started
        touched = self.table.key_shapes(access, call.operation, orjson.loads(text)) if access.explained else ()
        try:
            answer = call.decode(raw)
        except msgspec.MsgspecError as error:
            items, capacity = self._size_of_unexpected(call.operation, text, raw)
            raise FallBack(Reason.ROW) from error
        else:
            items, capacity = call.size(answer)
            form, sizes = call.form, self.table.sizes
            # most calls read items of the declared size, so there is nothing to learn
            if form is not None and (
                form.place in sizes.known.get(self.tenant, NOTHING_LEARNED)
                or capacity * form.unit_bytes > items * form.usual_units + form.slack
                or len(raw) > items * form.usual_content + READ_BLOCK
            ):
                sizes.was_read(self.tenant, form, items, capacity, len(raw))
            return answer
        finally:
            access.calls.append(
                Call(call.operation, call.index, items, capacity, seconds, statements, touched, started, "table")
            )

    def _size_of_unexpected(self, operation: str, text: str, raw: bytes) -> tuple[int, float]:
        """Does the same as `size` for a response that does not match its declaration.

        If it cannot be read at all, the reference executor must not reuse it, but ask again.
        """
        try:
            content = decoded(raw)
            return items_in(content), units_of(content.get("ConsumedCapacity"))
        except (AwsError, TypeError, ValueError, AttributeError):
            self.access.replay.remove((operation, text.encode(), raw))
            return 0, 0.0

    def _authorized(self, call: PreparedCall, text: str) -> tuple[str, ...]:
        try:
            return self.table.authorize(self.access, call.operation, orjson.loads(text)).statements
        except GatewayError as error:
            raise FallBack(Reason.REFUSED) from error

    async def run_all(self, jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Runs the jobs concurrently; if one fails, waits for calls already sent, for the reference executor to use."""
        if len(jobs) == 1:
            return [await jobs[0]]
        results: list[Any] = await asyncio.gather(*map(self._guarded, jobs), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            # a bug takes precedence over a fallback that happened beside it
            raise next(
                (error for error in failures if not isinstance(error, FallBack | InvalidArguments)),
                self.stopped or failures[0],
            )
        return results

    async def _guarded(self, job: Coroutine[Any, Any, T]) -> T:
        try:
            return await job
        except BaseException as error:
            self.stopped = self.stopped or error
            raise

    async def once(self, key: tuple[Any, ...], read: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Runs a read that several fields share once."""
        task = self.pages.get(key)
        if task is None:
            task = self.pages[key] = asyncio.ensure_future(read())
        return await shared(task)
