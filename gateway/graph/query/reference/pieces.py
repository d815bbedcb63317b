"""Completes large responses in pieces, so that no request blocks the event loop for long."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from aiodataloader import DataLoader, Loader, dispatch_queue

AT_ONCE: Final = 64  # objects that every request may complete without waiting
PIECE: Final = 32  # objects, about a millisecond
_START_TURNS: Final = 64  # of the event loop, in which a part that will be completed begins to wait for its turn

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class TurnOrder:
    """In each turn of the event loop, one request of the process completes a piece; requests take turns."""

    __slots__ = ("_requests",)

    def __init__(self) -> None:
        self._requests: deque[Pieces] = deque()

    def add(self, request: "Pieces") -> None:
        self._requests.append(request)
        if len(self._requests) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        request = self._requests.popleft()
        if request.release():
            self._requests.append(request)
        if self._requests:
            asyncio.get_running_loop().call_soon(self._next)


class Pieces:
    """The parts of one request that wait to be completed.

    INVARIANT: loaders wait until everything that waited here has requested its items, so that a response in pieces
    makes as many calls as one completed at once.
    """

    __slots__ = ("_held", "_pace", "_unsettled", "_waiting")

    def __init__(self, pace: TurnOrder) -> None:
        self._pace = pace
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._unsettled = 0
        self._held: list[Callable[[], None]] = []

    def turn(self, objects: int) -> "asyncio.Future[None]":
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, objects))
        if len(self._waiting) == 1:
            self._pace.add(self)
        return turn

    def release(self) -> bool:
        """Completes a piece; returns whether more are waiting."""
        room = PIECE
        while self._waiting and self._waiting[0][1] <= room:
            turn, objects = self._waiting.popleft()
            if not turn.done():  # otherwise its request was cancelled
                turn.set_result(None)
                room -= objects
        return bool(self._waiting)

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

    def do_resolve_reject(self, key: KeyT, future: "asyncio.Future[ValueT]") -> None:
        self._queue.append(Loader(key=key, future=future))
        if len(self._queue) == 1:
            # everything that is requested in this turn of the loop and by tasks that start in it
            self.loop.call_soon(self.loop.call_soon, self._pieces.when_settled, self._dispatch)

    def _dispatch(self) -> None:
        dispatch_queue(self)
