"""Completes large responses in pieces, so that no request blocks the event loop for long."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeVar

from aiodataloader import DataLoader, Loader, failed_dispatch

from gateway.pacer import Pacer

AT_ONCE: Final = 16  # objects that every request may complete without waiting
PIECE: Final = 8  # objects, about a quarter of a millisecond
_START_TURNS: Final = 64  # of the event loop, in which a part that will be completed begins to wait for its turn

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Pieces:
    """The parts of one request that wait to be completed.

    INVARIANT: loaders wait until everything that waited here has requested its items, so that a response in pieces
    makes as many calls as one completed at once.
    """

    __slots__ = ("_held", "_pacer", "_tenant", "_unsettled", "_waiting")

    def __init__(self, pacer: Pacer, tenant: str) -> None:
        self._pacer = pacer
        self._tenant = tenant
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._unsettled = 0
        self._held: list[Callable[[], None]] = []

    def turn(self, objects: int) -> "asyncio.Future[None]":
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, objects))
        if len(self._waiting) == 1:
            self._pacer.wait(self._tenant, self._release)
        return turn

    def _release(self) -> bool:
        """Completes a piece; returns False if nobody waits for it any more."""
        room = PIECE
        while self._waiting and self._waiting[0][1] <= room:
            turn, objects = self._waiting.popleft()
            if not turn.done():  # otherwise its request was cancelled
                turn.set_result(None)
                room -= objects
        if self._waiting:
            self._pacer.wait(self._tenant, self._release)
        return room < PIECE

    def begin(self) -> None:
        """Registers a part that will be completed later; `settle` must follow."""
        self._unsettled += 1

    def settle(self) -> None:
        """Reports that a part is completed: it requests its items in the next turn, before the loaders continue."""
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._settled)

    def _settled(self) -> None:
        self._unsettled = max(0, self._unsettled - 1)
        if not self._unsettled:
            self._dispatch_held()

    def when_settled(self, dispatch: Callable[[], None]) -> None:
        if not self._unsettled:
            dispatch()
            return
        self._held.append(dispatch)
        if len(self._held) == 1:
            self._watch(_START_TURNS)

    def _watch(self, turns: int) -> None:
        """INVARIANT: a loader never waits for a part that does not come.

        If a sibling fails, graphql-core drops coroutines that it has not started, so that they never settle. Parts
        that no coroutine waits for after so many turns of the event loop were dropped.
        """
        if not self._held:
            return
        if not turns:
            self._unsettled = 0
            self._dispatch_held()
            return
        left = _START_TURNS if self._waiting else turns - 1
        asyncio.get_running_loop().call_soon(self._watch, left)

    def _dispatch_held(self) -> None:
        held, self._held = self._held, []
        for dispatch in held:
            dispatch()


class PieceLoader(DataLoader[KeyT, ValueT]):
    """A loader whose batch waits for the pieces of its request."""

    def __init__(
        self, load: Callable[[list[KeyT]], Coroutine[Any, Any, list[ValueT]]], pieces: Pieces, *, cache: bool = True
    ) -> None:
        super().__init__(load, cache=cache)
        self._pieces = pieces
        self._loading: set[asyncio.Task[None]] = set()

    def do_resolve_reject(self, key: KeyT, future: "asyncio.Future[ValueT]") -> None:
        self._queue.append(Loader(key=key, future=future))
        if len(self._queue) == 1:
            # everything that is requested in this turn of the loop and by tasks that start in it
            self.loop.call_soon(self.loop.call_soon, self._pieces.when_settled, self._dispatch)

    def _dispatch(self) -> None:
        queue, self._queue = self._queue, []
        task = self.loop.create_task(self._load(queue))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load(self, queue: list[Loader]) -> None:
        """Loads a batch; the fields that wait for a large one go on in pieces."""
        try:
            values = await self.batch_load_fn([waiting.key for waiting in queue])
            results = list(zip(queue, values, strict=True))
            if len(results) > PIECE:
                self._pieces.begin()
                try:
                    await self._resolve_in_pieces(results)
                finally:
                    self._pieces.settle()
            else:
                _resolve(results)
        except Exception as error:
            failed_dispatch(self, queue, error)

    async def _resolve_in_pieces(self, results: list[tuple[Loader, Any]]) -> None:
        for start in range(0, len(results), PIECE):
            piece = results[start : start + PIECE]
            await self._pieces.turn(len(piece))
            _resolve(piece)


def _resolve(results: Iterable[tuple[Loader, Any]]) -> None:
    for waiting, value in results:
        if not waiting.future.done():
            if isinstance(value, Exception):
                waiting.future.set_exception(value)
            else:
                waiting.future.set_result(value)
