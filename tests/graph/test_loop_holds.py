"""No request holds the event loop for long: what is large about it is done beside the loop, where others go on.

Counted are the Python calls of the loop's thread from one turn of the loop to the next, which do not depend on the
machine. The engine answers from another thread and is not counted.
"""

import asyncio
import sys
from types import FrameType
from typing import Any

import orjson
import pytest

from tests.graph.backend import running
from tests.graph.path_trace import App, post_asgi

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("threads")]

_NESTED = (
    "nodes { orderId total user { name email orders(first: 1) { nodes { orderId } } } lines { quantity title } } "
    "edges { cursor node { orderId } } pageInfo { hasNextPage endCursor }"
)
_ORDER = "orderId total status currency placedAt note user { name email }"
_FIELDS = " ".join(["productId title price currency description"] * 7)
LARGEST = "{{ {} }}".format(" ".join(f'a{alias}: product(productId: "p-0003") {{ {_FIELDS} }}' for alias in range(49)))
NESTED = "{{ {} }}".format(" ".join(f"r{alias}: reviewQueue(first: 1) {{ {_NESTED} }}" for alias in range(15)))
PAGES = "{{ {} }}".format(
    " ".join(f"p{size}: reviewQueue(first: {size}) {{ nodes {{ {_ORDER} }} }}" for size in range(1, 26))
)
GET = '{ product(productId: "p-0003") { title } }'
VALUES = {"x": [["a"] * 900] * 20}
# what is sent, and the most calls in one turn of the loop: what it takes to run it, and nothing to understand it
BODIES: dict[str, tuple[dict[str, Any], int]] = {
    "as many fields as a document may have": ({"query": LARGEST}, 8_500),
    "nested pages": ({"query": NESTED}, 6_000),
    "many pages": ({"query": PAGES}, 9_000),
    "as many values as variables may have": ({"query": GET, "variables": VALUES}, 400),
    "a megabyte": ({"query": f"{{ {'a ' * 499_000} }}"}, 400),
}
USES = 4  # in the third its lane is made
SECONDS_BETWEEN_LANES = 0.06


class Turns:
    """The Python calls of each turn of the loop."""

    def __init__(self) -> None:
        self.most = self._calls = 0

    def see(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self._calls += 1

    async def count(self) -> None:
        sys.setprofile(self.see)
        try:
            while True:
                self._calls = 0
                await asyncio.sleep(0)
                self.most = max(self.most, self._calls)
        finally:
            sys.setprofile(None)


async def _most(app: App, token: str, body: dict[str, Any]) -> list[int]:
    """The most calls in one turn, for each time that the body is sent."""
    found = []
    for _ in range(USES):
        turns = Turns()
        counting = asyncio.ensure_future(turns.count())
        await asyncio.sleep(SECONDS_BETWEEN_LANES)
        turns.most = 0
        answer = await post_asgi(app, orjson.dumps(body), token)
        counting.cancel()
        await asyncio.wait([counting])
        assert "data" in answer or "errors" in answer
        found.append(turns.most)
    return found


async def test_no_request_holds_the_loop_for_long() -> None:
    with running() as backend:
        app = backend.app(lambda fields: None)
        async with app.lifespan():
            token = backend.issuer.token("acme", "viewer")
            await post_asgi(app, orjson.dumps({"query": GET}), token)
            for name, (body, bound) in BODIES.items():
                held = await _most(app, token, body)
                assert max(held) <= bound, f"{name}: {held}"


async def test_eight_at_once_hold_the_loop_little_longer_than_one() -> None:
    """None of them was seen before: they are parsed one after the other, so they do not run in the same turn."""
    with running() as backend:
        app = backend.app(lambda fields: None)
        async with app.lifespan():
            token = backend.issuer.token("acme", "viewer")
            await post_asgi(app, orjson.dumps({"query": GET}), token)
            for name, (body, bound) in BODIES.items():
                turns = Turns()
                counting = asyncio.ensure_future(turns.count())
                await asyncio.sleep(SECONDS_BETWEEN_LANES)
                turns.most = 0
                sent = [orjson.dumps({**body, "query": f"query Q{number} {body['query']}"}) for number in range(8)]
                await asyncio.gather(*(post_asgi(app, each, token) for each in sent))
                counting.cancel()
                await asyncio.wait([counting])
                assert turns.most <= 2 * bound, name
