"""How the endpoint uses the queue: what it refuses and how it says so, and what it does not begin."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from gateway.aws.sts.callers import Caller
from gateway.graph.http.fair_queue import OPERATION_COST, FairQueue
from gateway.graph.http.running import notify_disconnect
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id, tenant_of
from gateway.pacer import Pacer
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers
from tests.graph.http.exchange import Exchange
from tests.graph.http.test_cancellation import OPERATIONS

pytestmark = pytest.mark.usefixtures("threads")

FLOOD = tenant_id("flood")
QUERY, CHANGE = OPERATIONS["one item"], OPERATIONS["a change"]
WHOLE = {"content-type": "application/json", "authorization": "Bearer acme/admin"}


@asynccontextmanager
async def full(api: MemoryEndpoint, queued: int = 1_000) -> AsyncIterator[FairQueue]:
    """Every place is taken, until the end."""
    queue = FairQueue(1, queued)
    api.endpoint = replace(api.endpoint, queue=queue)
    await queue.acquire(FLOOD, 1, 1e9)
    yield queue
    queue.release()


async def waiting(queue: FairQueue) -> None:
    """A new document is parsed in a thread, so this may take a moment."""
    for _ in range(60_000):
        if queue.waiting:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("nothing waits")


async def test_an_operation_waits_for_a_place_and_gives_it_back(api: MemoryEndpoint) -> None:
    async with full(api) as queue:
        running = asyncio.ensure_future(api.ask('{ user(userId: "u-1001") { name } }'))
        await waiting(queue)
        assert not running.done()
        queue.release()
        assert (await running)["user"]["name"]
        assert queue.running == 0
        await queue.acquire(FLOOD, 1, 1e9)


@pytest.mark.parametrize("media_type", ["application/json", "application/graphql-response+json"])
@pytest.mark.parametrize("query", [QUERY, CHANGE], ids=["query", "mutation"])
async def test_overload_is_503_with_a_hint_when_to_come_again(api: MemoryEndpoint, query: str, media_type: str) -> None:
    async with full(api, queued=0):
        api.memory.sent.clear()
        answer = await api.client.post("/graphql", json={"query": query}, headers={**WHOLE, "accept": media_type})
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith(media_type)
    assert answer.headers["retry-after"] == "1"
    (error,) = answer.json()["errors"]
    assert "data" not in answer.json(), "nothing was begun"
    assert not api.calls
    assert error["extensions"] == {
        "code": "THROTTLED",
        "requestId": answer.headers["x-request-id"],
        "retryAfter": 1,
    }


async def test_tenants_share_by_the_price_of_their_operations(api: MemoryEndpoint) -> None:
    costs: list[tuple[TenantId, float]] = []

    class Recording(FairQueue):
        def acquire_at_once(self) -> bool:
            return False

        async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
            costs.append((tenant, cost))
            assert deadline > asyncio.get_running_loop().time()

        def release(self) -> None: ...

    api.endpoint = replace(api.endpoint, queue=Recording())
    await api.ask('{ user(userId: "u-1001") { name } }')
    await api.ask("{ activeOrders(first: 20) { nodes { orderId user { name } } } }", token="globex/viewer")
    assert costs == [("acme", OPERATION_COST + 0.5), ("globex", OPERATION_COST + 18)]


async def _left(api: MemoryEndpoint, query: str) -> tuple[Exchange, FairQueue]:
    """The answer to a caller who left while all places were taken."""
    async with full(api) as queue:
        api.memory.sent.clear()
        exchange = Exchange(api.endpoint, {"query": query})
        await waiting(queue)
        notify_disconnect(exchange.scope)
        await asyncio.wait_for(exchange.answered, 30)
        assert queue.waiting == 0
    return exchange, queue


@pytest.mark.parametrize("query", [QUERY, CHANGE], ids=["query", "mutation"])
async def test_what_has_not_begun_is_not_begun_for_a_caller_who_left(api: MemoryEndpoint, query: str) -> None:
    exchange, queue = await _left(api, query)
    assert b"the caller left" in exchange.body
    assert not api.calls
    assert queue.running == 0


@pytest.mark.parametrize("query", [QUERY, CHANGE], ids=["query", "mutation"])
async def test_a_caller_that_left_before_there_was_a_queue_gets_no_place(api: MemoryEndpoint, query: str) -> None:
    """While the session was opened, which may take a call to STS."""

    class Slow(TrustingCallers):
        async def open(self, authorization: bytes | None, identified: Callable[[Principal], None]) -> Caller:
            notify_disconnect(exchange.scope)
            return await super().open(authorization, identified)

    endpoint = replace(api.endpoint, callers=Slow())
    api.memory.sent.clear()
    exchange = Exchange(endpoint, {"query": query})
    await asyncio.wait_for(exchange.answered, 30)
    assert b"the caller left" in exchange.body
    assert not api.calls
    assert endpoint.queue.running == 0


async def test_a_caller_that_leaves_as_its_place_comes_keeps_no_place(api: MemoryEndpoint) -> None:
    async with full(api) as queue:
        api.memory.sent.clear()
        exchange = Exchange(api.endpoint, {"query": CHANGE})
        await waiting(queue)
        queue.release()
        notify_disconnect(exchange.scope)
        await asyncio.wait_for(exchange.answered, 30)
        assert b"the caller left" in exchange.body
        assert not api.calls
        assert queue.running == 0
        await queue.acquire(FLOOD, 1, 1e9)


async def test_an_operation_does_not_wait_until_its_own_time_is_over(api: MemoryEndpoint) -> None:
    await api.post(QUERY)  # its document is known from here on
    codes = []
    for seconds in (0.2, 1, 5, 25):  # a busy machine may take longer than that before it waits
        api.endpoint = replace(api.endpoint, limits=replace(api.endpoint.limits, seconds=seconds))
        async with full(api):
            answer = await api.post(QUERY)
        codes.append(json.loads(answer.content)["errors"][0]["extensions"]["code"])
        if codes[-1] == "THROTTLED":
            return
    raise AssertionError(codes)


def shared(api: MemoryEndpoint) -> None:
    """No time passes: tenants share the loop, and each of its turns is idle."""
    api.endpoint.reference.table.pacer = Pacer(lambda: 1.0)


async def test_a_neighbour_does_not_wait_for_a_burst(api: MemoryEndpoint) -> None:
    query = '{ user(userId: "u-1001") { name } }'
    shared(api)
    for tenant in ("globex", "acme"):
        await api.post(query, token=f"{tenant}/viewer")
    api.memory.sent.clear()
    burst = [api.post(query, token="acme/viewer") for _ in range(8)]
    await asyncio.gather(*burst, api.post(query, token="globex/viewer"))
    served = [tenant_of(body["Key"]["PK"]["S"]) for _, body in api.memory.sent]
    assert len(served) == 9
    assert served.index(tenant_id("globex")) <= 2


async def test_new_documents_of_a_burst_begin_in_turns_of_their_own(api: MemoryEndpoint) -> None:
    shared(api)
    await api.post("{ __typename }", token="globex/viewer")
    turn, begun = 0, list[int]()

    class Recording(FairQueue):
        async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
            begun.append(turn)
            await super().acquire(tenant, cost, deadline)

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    api.endpoint = replace(api.endpoint, preparing=Recording(1))
    counting = asyncio.ensure_future(count())
    queries = [f'{{ user(userId: "u-{number}") {{ name }} }}' for number in range(8)]
    await asyncio.gather(*(api.post(query, token="acme/viewer") for query in queries))
    counting.cancel()
    assert len(begun) == len(set(begun)) == 8


async def test_refusals_are_spread_and_a_flood_of_them_does_not_wait(api: MemoryEndpoint) -> None:
    shared(api)
    pacer = api.endpoint.reference.table.pacer
    await api.post("{ nothing }", token="globex/viewer")
    most = 0

    async def refuse() -> None:
        nonlocal most
        answer = await api.post("{ nothing }", token="acme/viewer")
        most = max(most, pacer.waiting("acme"))
        assert answer.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"

    await refuse()
    await asyncio.gather(*(refuse() for _ in range(40)))
    assert 8 <= most <= 16
