"""Large bodies: read in their tenant's turn and beside the loop, and refused before they become a million objects."""

import asyncio
import gzip
import threading
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import LimitExceeded
from gateway.graph.http import request
from gateway.graph.http.compression import unpacked
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.request import LARGE, GraphQLRequest, LargeBody, check_values
from gateway.graph.query.limits import DocumentLimits, check_variables
from gateway.model.tenant import TenantId
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import HELLO, code

pytestmark = pytest.mark.usefixtures("threads")

LONG = orjson.dumps({"query": HELLO, "variables": {"x": "y" * LARGE}})
SHORT = orjson.dumps({"query": HELLO})
ANSWER = {"data": {"product": {"productId": "p-1001"}}}


async def send(api: MemoryEndpoint, body: bytes, tenant: str = "acme", *, packed: bool = False) -> Any:
    headers = {"Authorization": f"Bearer {tenant}/viewer", "Content-Type": "application/json"}
    if packed:
        headers["Content-Encoding"] = "gzip"
    return await api.client.post("/graphql", content=gzip.compress(body) if packed else body, headers=headers)


class Recording(FairQueue):
    def __init__(self) -> None:
        super().__init__(1)
        self.costs: list[tuple[str, float]] = []

    async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
        self.costs.append((tenant, cost))
        await super().acquire(tenant, cost, deadline)


@pytest.mark.parametrize(
    ("body", "packed", "cost"),
    [(SHORT, False, None), (SHORT, True, None), (LONG, False, len(LONG)), (LONG, True, 1_000_000)],
    ids=["short", "short, packed", "long", "long, packed"],
)
async def test_a_large_body_waits_for_its_tenants_turn_and_a_small_one_does_not(
    api: MemoryEndpoint, body: bytes, packed: bool, cost: float | None
) -> None:
    await api.ask(HELLO)  # its document is known from here on
    queue = Recording()
    api.endpoint = replace(api.endpoint, preparing=queue)
    assert (await send(api, body, packed=packed)).json() == ANSWER
    assert queue.costs == ([] if cost is None else [("acme", cost)])
    assert queue.running == 0


async def test_a_packed_body_that_declares_to_be_large_is_not_unpacked_on_the_loop(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def recorded(body: bytes, limit: int) -> bytes:
        threads.append(threading.get_ident())
        return unpacked(body, limit)

    monkeypatch.setattr(request, "unpacked", recorded)
    assert (await send(api, LONG, packed=True)).json() == ANSWER
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("declared", [0, LARGE, 2**32 - 1])
async def test_a_packed_body_with_a_wrong_size_is_refused(api: MemoryEndpoint, declared: int) -> None:
    headers = {"Authorization": "Bearer acme/viewer", "Content-Type": "application/json", "Content-Encoding": "gzip"}
    body = gzip.compress(LONG)[:-4] + declared.to_bytes(4, "little")
    response = await api.client.post("/graphql", content=body, headers=headers)
    assert response.status_code == 400
    assert api.endpoint.preparing.running == 0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads in which large bodies were read."""
    threads: list[int] = []
    real = LargeBody.read

    def recorded(self: LargeBody, limit: int, values: int) -> GraphQLRequest:
        threads.append(threading.get_ident())
        return real(self, limit, values)

    monkeypatch.setattr(LargeBody, "read", recorded)
    return threads


async def waiting(queue: FairQueue, count: int) -> None:
    async with asyncio.timeout(60):
        while queue.waiting < count:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0)


async def test_large_bodies_are_read_one_at_a_time_beside_the_loop_with_tenants_in_turn(
    api: MemoryEndpoint, read: list[int]
) -> None:
    for tenant in ("acme", "globex"):  # a document with data is prepared for each of them
        await api.ask(HELLO, token=f"{tenant}/viewer")
    queue = api.endpoint.preparing
    await queue.acquire(TenantId("somebody"), 1, 1e9)
    ended: list[str] = []

    async def sent(tenant: str, number: int) -> None:
        assert (await send(api, LONG, tenant, packed=number % 2 == 0)).json() == ANSWER
        ended.append(tenant)

    flood = [asyncio.ensure_future(sent("acme", number)) for number in range(8)]
    await waiting(queue, 8)
    neighbour = asyncio.ensure_future(sent("globex", 1))
    await waiting(queue, 9)
    assert read == [], "nothing is read before its turn"
    queue.release()
    await asyncio.wait_for(asyncio.gather(*flood, neighbour), 60)
    assert len(read) == 9
    assert threading.get_ident() not in read
    assert ended.index("globex") <= 2, ended
    assert queue.running == 0


@pytest.mark.parametrize(
    ("body", "packed", "status"),
    [
        (LONG[:-1], False, 400),
        (gzip.compress(LONG)[:-1], True, 400),
        (orjson.dumps({"query": HELLO, "variables": {"x": "y" * 1_000_000}}), True, 413),
    ],
    ids=["no JSON", "cut off", "too long"],
)
async def test_one_that_cannot_be_read_gives_its_place_back(
    api: MemoryEndpoint, body: bytes, packed: bool, status: int
) -> None:
    headers = {"Authorization": "Bearer acme/viewer", "Content-Type": "application/json"}
    if packed:
        headers["Content-Encoding"] = "gzip"
        body = body if body.startswith(b"\x1f\x8b") else gzip.compress(body)
    response = await api.client.post("/graphql", content=body, headers=headers)
    assert response.status_code == status
    assert api.endpoint.preparing.running == 0


@pytest.mark.parametrize("value", [1, [], {"a": 1}, "x,y"], ids=str)
async def test_too_many_values_are_refused_before_they_are_made(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    body = orjson.dumps({"query": HELLO, "variables": {"x": [value] * 100_000}})

    def parsed(raw: bytes, what: str, between: object) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(request, "strict_json", parsed)
    assert code(await send(api, body)) == "LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    "text", [",[{" * 100_000, '",' * 100_000, "\\" * 100_000 + '"' + "," * 100_000, "\n," * 100_000, '\\",' * 50_000]
)
async def test_what_is_in_a_string_is_no_value(api: MemoryEndpoint, text: str) -> None:
    assert (await send(api, orjson.dumps({"query": HELLO, "variables": {"x": text}}))).json() == ANSWER


VARIABLES = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), st.text(',[{}]:"\\\n', max_size=5)),
    lambda below: st.lists(below) | st.dictionaries(st.text(',[{}]:"\\\n', max_size=2), below),
    max_leaves=15,  # the limits below are smaller, and many leaves take long to draw
)


@given(st.dictionaries(st.text(max_size=1), VARIABLES), st.sampled_from([b"", b"  "]))
def test_what_is_refused_unparsed_would_be_refused_parsed(variables: dict[str, Any], space: bytes) -> None:
    body = orjson.dumps({"query": HELLO, "variables": variables}) + space
    for most in (0, 1, 5):
        try:
            # the least that is refused, with nothing added for the rest of the body
            check_values(body, most - request._ENVELOPE + 2)
        except LimitExceeded:
            with pytest.raises(LimitExceeded):
                check_variables(variables, DocumentLimits(values=most, members=10**9))
