"""How long one request holds the event loop: the CPU time of its longest turn, for large and for hostile requests.

`python -m bench holds`. Only the loop's own thread counts, so other processes change little. Each kind is sent five
times, with a text that was never seen; the first is left out, since code runs for the first time then.
"""

import asyncio
import gzip
import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median

import orjson
import uvloop

from tests.graph.backend import running
from tests.graph.path_trace import App, post_asgi
from tests.graph.test_loop_holds import GET, LARGEST, NESTED, PAGES, VALUES

_TIMES = 5
_NUMBERS = count()


def _text(document: str) -> bytes:
    """With a name of its own, so that nothing of it is remembered."""
    return orjson.dumps({"query": f"query Q{next(_NUMBERS)} {document}"})


def _deep(opening: str, closing: str, levels: int) -> str:
    return opening * levels + closing * levels


def _fragments() -> str:
    chain = " ".join(f"fragment F{each} on User {{ ...F{each + 1} ...F{each + 1} }}" for each in range(200))
    return f'{{ user(userId: "u") {{ ...F0 }} }} {chain} fragment F200 on User {{ name }}'


def _repeated() -> str:
    roots = (f'product(productId: "p-1") {{ {" ".join(["title"] * 38)} }}' for _ in range(50))
    return f"{{ {' '.join(roots)} }}"


KINDS: dict[str, Callable[[], bytes]] = {
    "ordinary get": lambda: _text(GET),
    "as many fields as a document may have": lambda: _text(LARGEST),
    "nested pages": lambda: _text(NESTED),
    "many pages": lambda: _text(PAGES),
    "as many values as variables may have": lambda: orjson.dumps({"query": GET, "variables": VALUES}),
    "document of 1 MB": lambda: _text(f"{{ {'a ' * 499_000} }}"),
    "document of 64 KB": lambda: _text(f"{{ {'a ' * 31_000} }}"),
    "900 KB in gzip": lambda: gzip.compress(_text(f"{{ {'a ' * 450_000} }}")),
    "token of 60 KB": lambda: _text(f'{{ product(productId: "{"x" * 60_000}") {{ title }} }}'),
    "integer of 60,000 digits": lambda: _text(f"{{ product(productId: {'1' * 60_000}) {{ title }} }}"),
    "deep document": lambda: _text(_deep("{ a ", "}", 10_000)),
    "deep value": lambda: _text(f"{{ product(productId: {_deep('[', ']', 30_000)}) {{ title }} }}"),
    "deep JSON": lambda: b'{"query":"{a}","variables":{"x":%b}}' % _deep("[", "]", 1_000).encode(),
    "broken JSON": lambda: b'{"query": "' + b"x" * 900_000,
    "fields repeated": lambda: _text(_repeated()),
    "fragments in fragments": lambda: _text(_fragments()),
    "unknown fields": lambda: _text(f"{{ {' '.join(f'a{each}' for each in range(4_900))} }}"),
}


async def _held(app: App, token: str, body: bytes) -> float:
    """Seconds of CPU in the longest turn of the loop."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            start = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - start)

    watching = asyncio.ensure_future(watch())
    await asyncio.sleep(0.06)
    longest = 0.0
    await post_asgi(app, body, token)
    await asyncio.sleep(0)  # the turn in which it was answered is over
    watching.cancel()
    await asyncio.wait([watching])
    return longest


async def _measured() -> Iterator[tuple[str, list[float]]]:
    with running() as backend:
        app = backend.app(lambda fields: None)
        async with app.lifespan():
            token = backend.issuer.token("acme", "viewer")
            await post_asgi(app, _text(GET), token)
            found = {name: [await _held(app, token, make()) for _ in range(_TIMES)][1:] for name, make in KINDS.items()}
    return iter(found.items())


def main() -> None:
    print("| Request | median ms | longest ms |\n|---|---:|---:|")
    for name, held in uvloop.run(_measured()):
        print(f"| {name} | {median(held) * 1e3:.1f} | {max(held) * 1e3:.1f} |")


if __name__ == "__main__":
    main()
