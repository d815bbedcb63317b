"""The bodies, and what DynamoDB answers to them: recorded from the gateway on the tests' engine in memory."""

from typing import Any

import orjson

from tests.graph.backend import Backend
from tests.graph.path_trace import OPERATIONS, post_asgi

# body: the role that may send it, and the request
BODIES = {"main": OPERATIONS["main"], "get": OPERATIONS["get"], "upd": OPERATIONS["mutation"]}
# what tells two calls of one operation apart
_MARKS = {"get": "#PRODUCT#", "upd": "#CATEGORY#", "main": ""}


async def record(backend: Backend) -> str:
    """The recordings for the stub: every call that the bodies make, and its answer."""
    lines = []
    app = backend.app()
    async with app.lifespan():
        for name, (role, body) in BODIES.items():
            backend.seen.clear()
            answer = await post_asgi(app, orjson.dumps(body), backend.issuer.token("acme", role))
            assert "errors" not in answer, answer
            lines += [f"{operation}\t{_MARKS[name]}\t{said.decode()}\n" for operation, _, said in backend.seen]
    return "".join(lines)


def essence(answer: Any) -> Any:
    """What must be the same whoever answers; numbers and moments are written differently."""
    assert "errors" not in answer, answer
    match answer["data"]:
        case {"reviewQueue": {"nodes": nodes}}:
            return [(node["orderId"], node["status"], node["user"]["userId"], node["user"]["email"]) for node in nodes]
        case {"product": product}:
            return product["productId"], product["title"], float(product["price"])
        case {"updateCategory": {"category": category, "errors": []}}:
            return category
    raise AssertionError(answer)
