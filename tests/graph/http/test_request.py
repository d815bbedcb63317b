"""Bodies and answers over HTTP: packed ones are read and sent, and no body is longer than it may be."""

import gzip
from typing import Any

import orjson
import pytest

from gateway.graph.http.endpoint import EndpointLimits
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import HELLO, TOKEN, code

HEADERS = {**TOKEN, "Content-Type": "application/json"}
MANY = "{ activeOrders(first: 50) { nodes { orderId placedAt total lines { title quantity unitPrice } } } }"


async def test_a_packed_body_is_read(api: MemoryEndpoint) -> None:
    body = gzip.compress(orjson.dumps({"query": HELLO}))
    for name in ("gzip", "GZIP", "x-gzip"):
        response = await api.client.post("/graphql", content=body, headers={**HEADERS, "Content-Encoding": name})
        assert response.json() == {"data": {"product": {"productId": "p-1001"}}}


async def test_a_bomb_is_refused_as_too_large(api: MemoryEndpoint) -> None:
    bomb = gzip.compress(orjson.dumps({"query": HELLO, "variables": {"x": "y" * 20_000_000}}))
    assert len(bomb) < 100_000
    response = await api.client.post("/graphql", content=bomb, headers={**HEADERS, "Content-Encoding": "gzip"})
    assert (response.status_code, code(response)) == (413, "LIMIT_EXCEEDED")
    assert response.headers["connection"] == "close"


async def test_what_is_sent_is_limited_too() -> None:
    api = MemoryEndpoint(limits=EndpointLimits(body_bytes=100))

    async def stream() -> Any:
        for _ in range(20):
            yield gzip.compress(b" ")

    headers = {**HEADERS, "Content-Encoding": "gzip"}
    response = await api.client.post("/graphql", content=stream(), headers=headers)
    assert response.status_code in {400, 413}


@pytest.mark.parametrize(
    ("encoding", "body", "status"), [("gzip", b"{}", 400), ("br", b"{}", 415), ("gzip, gzip", b"{}", 415)]
)
async def test_other_encodings_and_wrong_gzip_are_refused(
    api: MemoryEndpoint, encoding: str, body: bytes, status: int
) -> None:
    response = await api.client.post("/graphql", content=body, headers={**HEADERS, "Content-Encoding": encoding})
    assert (response.status_code, code(response)) == (status, "BAD_REQUEST")
    assert response.headers.get("accept-encoding") == ("gzip" if status == 415 else None)


async def test_an_answer_is_packed_where_it_is_large_and_gzip_is_accepted(api: MemoryEndpoint) -> None:
    async with api.client.stream(
        "POST", "/graphql", json={"query": MANY}, headers={**TOKEN, "Accept-Encoding": "gzip"}
    ) as response:
        raw = b"".join([piece async for piece in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(raw)
    plain = await api.client.post("/graphql", json={"query": MANY}, headers={**TOKEN, "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content) / 2
    assert response.headers["vary"] == plain.headers["vary"] == "accept, accept-encoding"


async def test_a_small_answer_is_sent_as_it_is(api: MemoryEndpoint) -> None:
    response = await api.client.post("/graphql", json={"query": HELLO}, headers={**TOKEN, "Accept-Encoding": "gzip"})
    assert "content-encoding" not in response.headers
