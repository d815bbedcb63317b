"""What refusing costs: a fragment bomb of 849 bytes and other floods, and what an estimate adds to an operation."""

import time
from collections.abc import Callable
from functools import partial

from graphql import DocumentNode, OperationDefinitionNode, parse, validate
from strawberry.extensions.query_depth_limiter import create_validator

from gateway.demo import MODEL
from gateway.errors import LimitExceeded
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.query.price import Pricing
from gateway.graph.query.selections import expand
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.store.plan import ReadLimits

ROUNDS = 7
TYPICAL = """query ($n: Int) { activeOrders(first: $n) { edges { node {
  orderId user { name } lines { quantity product { title stock { available } } } } } pageInfo { hasNextPage } } }"""


def bomb(fragments: int, size: int = 0) -> str:
    """Each fragment spreads the next one twice; filled up with a comment to `size` bytes."""
    chain = "".join(f"fragment F{n} on Query{{...F{n + 1} ...F{n + 1}}}" for n in range(fragments))
    text = f"{{...F0}}{chain}fragment F{fragments} on Query{{__typename}}"
    return text + "#" * (size - len(text))


def best(work: Callable[[], object], times: int = 1) -> float:
    """Milliseconds of the fastest round: what the work costs, and not what else the machine does."""
    spans = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(times):
            work()
        spans.append((time.perf_counter() - started) / times)
    return min(spans) * 1_000


def main() -> None:
    schema = core_schema(build_schema(MODEL))
    floods = {
        "fragment bomb, 849 bytes": bomb(22, 849),
        "fragment bomb, 90 fragments": bomb(90),
        "500 aliases": "{ " + " ".join(f'a{n}: user(userId: "u") {{ name }}' for n in range(500)) + " }",
        "500 directives": "{ __typename " + "@skip(if: false) " * 500 + "}",
        "100,000 tokens": "{ " + "a " * 100_000 + "}",
        "depth 3,000": "{ a " * 3_000 + "}" * 3_000,
    }
    print(f"{'what':<34}{'ms to refuse':>14}")
    documents = Documents(MODEL, schema, DocumentLimits(), introspection=False)
    for title, text in floods.items():
        assert documents.get(text).ast is None
        print(f"{title:<34}{best(partial(documents.get, text)):>14.2f}")
    small = parse(bomb(11))
    stock = best(lambda: validate(schema, small, [create_validator(12, None, None)]))
    own = best(lambda: refused(small))
    print(f"\nstrawberry's depth limit on a bomb of 11 fragments: {stock / own:,.0f} times ours, and twice it for 12")
    known = best(lambda: validate(schema, parse(TYPICAL)))
    new = best(lambda: admitted(documents, TYPICAL))
    print(f"a new document: {new:.2f} ms, {new / known:.2f} times parse and validate")
    operation = documents.get(TYPICAL).operation(None)
    assert operation is not None
    tree, pricing = operation.variant({}).tree, Pricing(MODEL, ReadLimits())
    made = pricing.price(tree)
    print(f"a price, made once for a document: {best(lambda: pricing.price(tree), 20) * 1_000:.0f} us")
    print(f"an estimate that is not remembered: {best(lambda: made.estimate({'n': 20}), 500) * 1_000:.1f} us")


def admitted(documents: Documents, text: str) -> None:
    """All that is done for a document that was not seen before, until its operation may run."""
    operation = documents.prepare(text).operation(None)
    assert operation is not None
    operation.admit({"n": 20})


def refused(document: DocumentNode) -> None:
    """Expands the first operation, which is too large."""
    [operation] = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    try:
        expand(document, operation, DocumentLimits())
    except LimitExceeded:
        return
    raise AssertionError


if __name__ == "__main__":
    main()
