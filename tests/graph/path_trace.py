"""What one warm request does: how many Python calls it makes, and which of our files it enters.

`python -m tests.graph.path_trace` prints it. It counts in a process of its own, with uvloop and the log as
`gateway serve` has them, from the ASGI app to the socket; the engine, STS and the issuer run in another thread and are
not counted. Numbers do not depend on the machine.
"""

import asyncio
import contextlib
import gc
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import orjson
import uvloop

import gateway
from gateway.graph.http.log_lines import WriteOperation
from gateway.serving.serve import configure_logging
from tests.graph.backend import running

_OWN = os.path.dirname(gateway.__file__) + os.sep
App = Callable[[Any, Any, Any], Awaitable[None]]
_WARM_UP, _COUNTED = 40, 5
_GZIP = b"\x1f\x8b"
_NUMBER = "NUMBER"  # becomes the number of the request: a mutation that changes nothing writes nothing

ORDERS = "query Orders($n: Int!) { reviewQueue(first: $n) { nodes { %s } } }"
OPERATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "get": (
        "viewer",
        {
            "query": "query Get($id: ID!) { product(productId: $id) { productId title price } }",
            "variables": {"id": "p-0003"},
        },
    ),
    "main": (
        "viewer",
        {
            "query": ORDERS % "orderId status total currency placedAt user { userId name email }",
            "variables": {"n": 25},
        },
    ),
    "lines": (
        "viewer",
        {"query": ORDERS % "orderId total user { name } lines { quantity title }", "variables": {"n": 3}},
    ),
    "mutation": (
        "editor",
        {
            "query": "mutation Update($input: UpdateCategoryInput!) { updateCategory(input: $input) "
            "{ category { categoryId title version } errors { message } } }",
            "variables": {"input": {"categoryId": "c-01", "title": f"Tools {_NUMBER}"}},
        },
    ),
}


@dataclass
class Trace:
    """`calls` counts Python functions as a profiler does: a coroutine that goes on counts again."""

    calls: int = 0
    own_calls: int = 0
    crossings: Counter[tuple[str, str]] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    # kept, so that a frame that goes on is known from a new one in the same place
    _frames: set[FrameType] = field(default_factory=set)

    def see(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        self.calls += 1
        file = frame.f_code.co_filename
        if not file.startswith(_OWN):
            return
        self.own_calls += 1
        if frame in self._frames:
            return
        self._frames.add(frame)
        self.files[_short(file)] += 1
        caller = _own_caller(frame)
        if caller is not None and caller != file:
            self.crossings[_short(caller), _short(file)] += 1

    def result(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "own_calls": self.own_calls,
            "crossings": self.crossings.total(),
            "files": dict(self.files.most_common()),
        }


def _own_caller(frame: FrameType) -> str | None:
    """The nearest of our files below in the stack; libraries and generated code in between are no files of ours."""
    below = frame.f_back
    while below is not None:
        if below.f_code.co_filename.startswith(_OWN):
            return below.f_code.co_filename
        below = below.f_back
    return None


def _short(file: str) -> str:
    return file.removeprefix(_OWN)


async def post_asgi(app: App, content: bytes, token: str) -> Any:
    """One request by ASGI, without a client library in between."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/graphql",
        "raw_path": b"/graphql",
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            *([(b"content-encoding", b"gzip")] if content.startswith(_GZIP) else ()),
            (b"authorization", f"Bearer {token}".encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }
    received = [{"type": "http.request", "body": content, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return received.pop() if received else await _never()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return orjson.loads(b"".join(message.get("body", b"") for message in sent))


async def _never() -> Any:
    await asyncio.get_running_loop().create_future()


async def traced(app: App, content: bytes, token: str) -> Trace:
    """One request that is counted."""
    trace = Trace()
    gc.disable()  # hypothesis has callbacks in Python
    sys.setprofile(trace.see)
    try:
        await post_asgi(app, content, token)
    finally:
        sys.setprofile(None)
        gc.enable()
    return trace


async def measure(write: WriteOperation) -> dict[str, Any]:
    """For each operation the least of some warm requests: an answer that comes in two pieces costs a few calls more."""
    found = {}
    with running() as backend:
        app = backend.app(write)
        requests = {
            name: (orjson.dumps(body), backend.issuer.token("acme", role)) for name, (role, body) in OPERATIONS.items()
        }
        async with app.lifespan():
            for number in range(_WARM_UP):
                for content, token in requests.values():
                    answer = await post_asgi(app, _numbered(content, number), token)
                    assert "errors" not in answer, answer
            for name, (content, token) in requests.items():
                traces = [await traced(app, _numbered(content, -number), token) for number in range(1, _COUNTED + 1)]
                found[name] = min(traces, key=lambda trace: trace.calls).result()
    return found


def _numbered(content: bytes, number: int) -> bytes:
    return content.replace(_NUMBER.encode(), b"%d" % number)


def report(found: dict[str, Any]) -> str:
    lines = []
    for name, one in found.items():
        lines.append(
            f"{name}: {one['calls']} Python calls, {one['own_calls']} of them in gateway/; "
            f"{len(one['files'])} files, {one['crossings']} crossings"
        )
        lines += [f"  {count:5} {file}" for file, count in one["files"].items()]
    return "\n".join(lines)


def main() -> None:
    """With `--json` for the tests."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        found = uvloop.run(measure(configure_logging("INFO")))
    print(orjson.dumps(found).decode() if "--json" in sys.argv else report(found))


if __name__ == "__main__":
    main()
