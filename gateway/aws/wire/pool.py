"""The connection pool, shared by all tenants: a bounded number per endpoint, most recently used first, in turn."""

import asyncio
import ssl
from collections import deque

from gateway.aws.wire.connection import Connection, WireLimits
from gateway.aws.wire.endpoint import AwsEndpoint
from gateway.aws.wire.errors import AnswerLate, AwsError, AwsFailure, ConnectionBroken, Retry
from gateway.errors import DeadlineExceeded, Unavailable


class EndpointPool:
    """The connections to one endpoint.

    A slot is the right to have a connection. It belongs to an idle connection, or to the request that uses or opens
    one. It is passed to a waiting request. Tenants take turns, so that one whose operation makes a hundred calls at
    once does not hold up the others; of one tenant, the request that has waited longest is next.
    """

    def __init__(self, endpoint: AwsEndpoint, limits: WireLimits, tls: ssl.SSLContext | None) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._tls = tls
        self._free_slots = limits.connections
        self._idle: list[Connection] = []
        self._alive: set[Connection] = set()
        # the next tenant first; a waiting request gets a connection, or a slot to open its own
        self._waiting: dict[str, deque[asyncio.Future[Connection | None]]] = {}
        self._closed = False

    def take(self) -> Connection | None:
        """Returns an idle connection if there is one, without waiting."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            self._pass_on_slot()
        return None

    async def open(self, deadline: float, tenant: str = "") -> Connection:
        """Opens a new connection, or waits for one that is released."""
        if self._closed:
            raise _closed()
        if self._free_slots:
            self._free_slots -= 1
        elif (connection := await self._wait(deadline, tenant)) is not None:
            return connection
        try:
            return await self._connect(deadline)
        except BaseException:
            self._pass_on_slot()
            raise

    def release(self, connection: Connection) -> None:
        """Gives a connection back to the pool, in any state."""
        if not connection.usable:
            # its response may still be pending
            connection.abort()
            self._pass_on_slot()
        elif self._waiting and (waiter := self._next_waiting()) is not None:
            waiter.set_result(connection)
        else:
            self._idle.append(connection)

    def drop_idle(self) -> None:
        """Closes idle connections: if AWS has closed one of them, it has probably closed the others too."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()
            self._pass_on_slot()

    async def close(self) -> None:
        """Closes all connections, including those in use, and waits until their sockets are closed."""
        self._closed = True
        while (waiter := self._next_waiting()) is not None:
            waiter.set_exception(_closed())
        ends = [connection.lost for connection in self._alive]
        for connection in tuple(self._alive):
            connection.abort()
        if ends:
            await asyncio.wait(ends)

    async def _wait(self, deadline: float, tenant: str) -> Connection | None:
        waiter: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(waiter)
        try:
            async with asyncio.timeout_at(deadline):
                return await waiter
        except BaseException as error:
            queue = self._waiting.get(tenant)
            if queue is not None and waiter in queue:
                queue.remove(waiter)
                if not queue:
                    del self._waiting[tenant]
            elif waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                # INVARIANT: a connection or slot that was granted just as the request gave up goes to the next one.
                self._give_back(waiter.result())
            if isinstance(error, TimeoutError):
                raise DeadlineExceeded("no connection to the database became free in time") from error
            raise

    def _give_back(self, connection: Connection | None) -> None:
        if connection is None:
            self._pass_on_slot()
        else:
            self.release(connection)

    async def _connect(self, deadline: float) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(self._limits, self._on_lost)
        host, port = self._endpoint.host, self._endpoint.port
        try:
            async with asyncio.timeout_at(min(loop.time() + self._limits.connect_seconds, deadline)):
                await loop.create_connection(lambda: connection, host, port, ssl=self._tls)
            if self._closed:
                raise _closed()
        except BaseException as error:
            connection.abort()
            if isinstance(error, OSError):
                raise _unreachable(error) from error
            raise
        if connection.usable:
            self._alive.add(connection)
        return connection

    def _on_lost(self, connection: Connection) -> None:
        self._alive.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
            self._pass_on_slot()

    def _pass_on_slot(self) -> None:
        waiter = self._next_waiting()
        if waiter is None:
            self._free_slots += 1
        else:
            waiter.set_result(None)

    def _next_waiting(self) -> "asyncio.Future[Connection | None] | None":
        while self._waiting:
            tenant = next(iter(self._waiting))
            queue = self._waiting.pop(tenant)
            waiter = queue.popleft()
            if queue:
                self._waiting[tenant] = queue  # after all others
            if not waiter.done():
                return waiter
        return None


class ConnectionPool:
    """One pool per endpoint; bound to the event loop in which it is first used."""

    def __init__(self, limits: WireLimits, tls: ssl.SSLContext | None = None) -> None:
        self._limits = limits
        self._tls = tls
        self._lanes: dict[AwsEndpoint, EndpointPool] = {}

    def lane(self, endpoint: AwsEndpoint) -> EndpointPool:
        lane = self._lanes.get(endpoint)
        if lane is None:
            lane = self._lanes[endpoint] = EndpointPool(endpoint, self._limits, self._tls_for(endpoint))
        return lane

    def _tls_for(self, endpoint: AwsEndpoint) -> ssl.SSLContext | None:
        if endpoint.scheme != "https":
            return None
        # created on first use: loading the certificates takes longer than everything else
        self._tls = self._tls or _default_tls()
        return self._tls

    async def close(self) -> None:
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))


def _default_tls() -> ssl.SSLContext:
    # INVARIANT: certificates and host names are verified.
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unreachable(error: OSError) -> AwsError:
    said = AwsFailure(detail=str(error))
    if isinstance(error, TimeoutError):
        return AnswerLate("the database could not be reached in time", said=said, retry=Retry.TIMEOUT)
    # a certificate error will not go away with a retry
    retry = Retry.NEVER if isinstance(error, ssl.SSLCertVerificationError) else Retry.TRANSIENT
    return ConnectionBroken("the database could not be reached", said=said, retry=retry)


def _closed() -> Unavailable:
    return Unavailable("the connections to the database are closed")
