"""One subscriber: its next event, the changes merged since then, and the reason why it ended."""

import asyncio
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Any, Final

from gateway.aws.sts.callers import LastingCaller
from gateway.errors import GatewayError, PositionExpired
from gateway.graph.http.endpoint import SUPPORT, support_notice
from gateway.graph.subscription.cohort import PASSING, Cohort, SubscriptionEnded, WatchEvent
from gateway.graph.subscription.event_reader import WatchFailed
from gateway.graph.subscription.interest import Pending
from gateway.graph.subscription.position import Positions, Vector, advanced, is_ahead

_EXPIRED = PositionExpired("changes after this position are no longer kept; this is the current state")
_RETRY_SECONDS = 1.0
# in a position, beside the shards: the digest of the event, and whether its page may lack changes
_LAST_DIGEST: Final = "digest"
_LAGGING: Final = "lagging"


@dataclass(frozen=True, slots=True)
class NextEvent:
    """An event ready to send: the encoded GraphQL response and the position after it."""

    text: bytes
    position: str


@dataclass(eq=False, slots=True)
class Subscription:
    """Delivers events to one subscriber.

    INVARIANT: a slow subscriber holds one event; later changes are merged by item and read when it takes them, so that
    nothing is dropped and the newest state wins.

    INVARIANT: after a resume from a position, only changes after that position are sent. The position comes from
    another process or another cohort, so it may be ahead of what this cohort has reported. Until the cohort is past
    it, the cohort's events only say up to where the subscriber's own changes are replayed.
    """

    cohort: Cohort
    lasting: LastingCaller
    _scope: str
    _positions: Positions
    _leave: Callable[["Subscription"], None]
    # the position to resume from; without one, the first event has the current state
    after: InitVar[dict[str, str] | None]
    events: int = 0
    _last_digest: str = ""  # of the last event that was sent
    _lagging: bool = False
    _missed: Pending = field(default_factory=Pending)
    _seen: Vector | None = None  # up to where changes were sent, until the cohort has reported as much; then None
    _until: Vector | None = None  # up to where changes after `_seen` are replayed
    _notice: bool = False
    _event: WatchEvent | None = None
    # the last read that began before the read of a sent event had ended
    _overlapped: int = 0
    _coalesced: int = 0
    _reread: bool = False
    _ended: BaseException | None = None
    _waiter: "asyncio.Future[None] | None" = None

    def __post_init__(self, after: dict[str, str] | None) -> None:
        if after is not None:
            self._last_digest, self._lagging = after.pop(_LAST_DIGEST, ""), _LAGGING in after
            # what another process has sent may be newer than all reads that have begun so far
            self._overlapped = self.cohort.begun
        if after is None or self._lagging:
            self._missed = Pending(everything=True)
        else:
            self._seen, self._until = after, self.cohort.position()

    @property
    def waiting(self) -> bool:
        """Whether the subscriber has received everything and waits for the next event."""
        return self._waiter is not None and not self._waiter.done()

    async def resume(self) -> bool:
        """Queues what has changed since the position to resume from; False if the position has expired.

        Raises `Unavailable` if the changes cannot be read now.
        """
        seen, until = self._seen, self._until
        if seen is None or until is None:
            return True
        try:
            changes = await self.cohort.replayed(seen, until)
        except PositionExpired:
            self.cohort.counts.expired_positions += 1
            self._missed, self._notice = Pending(everything=True), True
            self._seen = self._until = None
            return False
        self._missed.merge(changes)
        self._seen = advanced(seen, until)
        if self._until is until:
            self._until = None
            if not is_ahead(self._seen, until):
                self._seen = None
        return True

    def offer(self, event: WatchEvent) -> None:
        """Accepts an event from the cohort and merges it with what is already queued."""
        if self._seen is not None:
            self._until = event.vector
        elif self._event is None and not self._missed:
            self._event = event
        else:
            self._coalesced += 1
            self.cohort.counts.coalesced += 1
            if self.cohort.interest.is_state:
                self._event, self._missed = event, Pending()
            else:
                self._put_back(Pending())
                self._missed.merge(event.pending)
        self._wake()

    def reread(self) -> None:
        """Takes the page again if the last one that was sent may lack changes."""
        self._reread = True
        self._wake()

    def _put_back(self, taken: Pending) -> None:
        """Queues changes that were taken but not sent, before those that were queued since.

        INVARIANT: no event is sent before earlier changes, since its position includes them.
        """
        if self._event is not None and self.cohort.interest.is_state:
            return  # only the newest state matters
        queued = Pending()  # a new one, because members share the changes of an event
        queued.merge(taken)
        if self._event is not None:
            queued.merge(self._event.pending)
            self._event = None
        queued.merge(self._missed)
        self._missed = queued

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
                self._put_back(event.pending)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            if self._ended is not None:
                raise self._ended
            if event.number <= self._overlapped:
                # INVARIANT: a subscriber never goes back in time: what was read beside a sent event may be older than
                # that event, so it is read again.
                self._put_back(event.pending)
                continue
            self._overlapped = max(self._overlapped, event.overlapped)
            if event.pending.everything:
                self._lagging = event.lagging
            if event.lagging:
                self.cohort.reread_later()
            if event.digest and event.digest == self._last_digest and not self._notice:
                continue
            self._last_digest = event.digest
            return self._sent(event)

    async def _take(self) -> WatchEvent | None:
        if self._until is not None:
            try:
                await self.resume()
            except PASSING:
                await asyncio.sleep(_RETRY_SECONDS)
            return None
        if self._reread:
            self._reread = False
            # if a page is sent meanwhile, it decides
            self._missed.merge(Pending(everything=self._lagging))
        if self._event is not None:
            event, self._event = self._event, None
            return event
        if not self._missed:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
            return None
        missed, self._missed = self._missed, Pending()
        try:
            return await (self.cohort.present() if missed.everything else self.cohort.catch_up(missed))
        except WatchFailed as failed:
            self._put_back(missed)
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
        cohort, principal = self.cohort, self.lasting.principal
        self.events += 1
        cohort.counts.events += 1
        position = self._sealed(event.vector if self._seen is None else self._seen)
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
        return self._sealed(self.cohort.position() if self._seen is None else self._seen) if self.waiting else None

    def _sealed(self, vector: Vector) -> str:
        watch, arguments = self.cohort.operation.watch, self.cohort.interest.arguments
        last = {_LAST_DIGEST: self._last_digest} if self._last_digest else {}
        last |= {_LAGGING: ""} if self._lagging else {}
        return self._positions.seal(self._scope, watch, arguments, {**vector, **last})

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
