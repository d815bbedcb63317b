"""One subscriber: its next event, the changes merged since then, and the reason why it ended."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.aws.sts.callers import LastingCaller
from gateway.errors import GatewayError, PositionExpired
from gateway.graph.http.endpoint import SUPPORT, support_notice
from gateway.graph.subscription.cohort import PASSING, Cohort, SubscriptionEnded, WatchEvent
from gateway.graph.subscription.event_reader import WatchFailed
from gateway.graph.subscription.interest import Pending
from gateway.graph.subscription.position import Positions, Vector

_EXPIRED = PositionExpired("changes after this position are no longer kept; this is the current state")
_RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class NextEvent:
    """An event ready to send: the encoded GraphQL response and the position after it."""

    text: bytes
    position: str


class Subscription:
    """Delivers events to one subscriber.

    INVARIANT: a slow subscriber holds one event; later changes are merged by item and read when it takes them, so that
    nothing is dropped and the newest state wins.
    """

    __slots__ = (
        "_coalesced",
        "_cohort",
        "_ended",
        "_event",
        "_leave",
        "_newest",
        "_notice",
        "_owed",
        "_positions",
        "_scope",
        "_told",
        "_waiter",
        "events",
        "lasting",
    )

    def __init__(
        self,
        cohort: Cohort,
        lasting: LastingCaller,
        scope: str,
        positions: Positions,
        leave: Callable[["Subscription"], None],
    ) -> None:
        self.lasting = lasting
        self.events = 0
        self._cohort = cohort
        self._scope = scope
        self._positions = positions
        self._owed = Pending()
        self._leave = leave
        self._notice = False
        self._event: WatchEvent | None = None
        self._newest = 0  # the number of the last event that was sent
        self._told = b""  # the last content that was sent for a watched item, so that it is not repeated
        self._coalesced = 0
        self._ended: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def cohort(self) -> Cohort:
        return self._cohort

    @property
    def waiting(self) -> bool:
        """Whether the subscriber has received everything and waits for the next event."""
        return self._waiter is not None and not self._waiter.done()

    def owe(self, owed: Pending, *, expired: bool) -> None:
        """Queues changes that are sent before anything that the cohort has offered in the meantime."""
        self._notice = expired
        if self._event is not None and self._cohort.interest.key is not None:
            return  # for a single item, only the newest state matters
        if self._event is not None:
            owed.merge(self._event.pending)
            self._event = None
        owed.merge(self._owed)
        self._owed = owed

    def offer(self, event: WatchEvent) -> None:
        """Accepts an event from the cohort and merges it with what is already queued."""
        if self._event is None and not self._owed:
            self._event = event
        elif self._cohort.interest.key is not None:
            self._coalesced += 1
            self._cohort.counts.coalesced += 1
            self._event, self._owed = event, Pending()
        else:
            self._coalesced += 1
            self._cohort.counts.coalesced += 1
            if self._event is not None:
                self._owed.merge(self._event.pending)
                self._event = None
            self._owed.merge(event.pending)
        self._wake()

    def end(self, reason: Exception) -> None:
        """Ends the subscription and discards changes that were not sent yet."""
        if self._ended is None:
            self._ended = reason
            self._leave(self)
            self._wake()

    def close(self) -> None:
        """Ends the subscription because the subscriber has disconnected."""
        if self._ended is None:
            self._ended = asyncio.CancelledError()
            self._leave(self)

    async def next(self) -> NextEvent:
        """Waits for the next event; raises `SubscriptionEnded` or `WatchFailed` when there are no more."""
        while True:
            if self._ended is not None:
                raise self._ended
            event = await self._take()
            if event is None:
                continue
            if not await self._checked():
                self._owed.merge(event.pending)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            if self._ended is not None:
                raise self._ended
            if event.number < self._newest:
                # INVARIANT: a subscriber never goes back in time: if the read of an event began before the read of the
                # last sent event, it is read again.
                self._owed.merge(event.pending)
                continue
            self._newest = event.number
            if self._cohort.interest.key is not None and not self._notice:
                if event.payload.content == self._told:
                    continue
                self._told = event.payload.content
            return self._sent(event)

    async def _take(self) -> WatchEvent | None:
        if self._event is not None:
            event, self._event = self._event, None
            return event
        if not self._owed:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
            return None
        owed, self._owed = self._owed, Pending()
        try:
            return await (self._cohort.present() if owed.everything else self._cohort.catch_up(owed))
        except WatchFailed as failed:
            owed.merge(self._owed)
            self._owed = owed
            # a subscription that has sent nothing yet fails immediately; a later failure is retried
            if not failed.passing or not self.events:
                self.end(failed)
                return None
            await asyncio.sleep(_RETRY_SECONDS)
            return None

    async def _checked(self) -> bool:
        """INVARIANT: nothing is sent to a caller whose token, grant, tenant or policies are no longer valid.

        Returns False if this cannot be checked now.
        """
        if not self.lasting.unchanged:
            try:
                await self.lasting.caller()
            except PASSING:
                return False
            except GatewayError as error:
                self.end(SubscriptionEnded(error))
        return True

    def _sent(self, event: WatchEvent) -> NextEvent:
        cohort, principal = self._cohort, self.lasting.principal
        self.events += 1
        cohort.counts.events += 1
        position = self._sealed(event.vector)
        extensions: dict[str, Any] = {"position": position}
        if self._coalesced:
            extensions["coalesced"] = self._coalesced
        if self._notice:
            extensions["notice"] = {"code": _EXPIRED.code, "message": _EXPIRED.message}
        if principal.support is not None:
            extensions[SUPPORT] = support_notice(principal, principal.support)
        self._coalesced, self._notice = 0, False
        return NextEvent(event.payload.text(extensions), position)

    def position(self) -> str | None:
        """Returns the position of an idle subscription; None if there are changes that were not sent yet."""
        if self._event is not None or self._owed or not self.events:
            return None
        return self._sealed(self._cohort.position())

    def _sealed(self, vector: Vector) -> str:
        watch, arguments = self._cohort.operation.watch, self._cohort.interest.arguments
        return self._positions.seal(self._scope, watch, arguments, vector)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
