"""What a new document costs: understanding it, beside graphql-core's parse and validate alone, and making its lane.

A document is understood once, beside the event loop. Its lane is made at its third use, at most 20 in a second.
"""

import time
from collections.abc import Callable
from functools import partial

from graphql import parse, validate

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.iam.policies.policies import generated
from gateway.model.tenant import tenant_id
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.table import Table
from gateway.testing.memory import Memory
from tests.graph.path_trace import OPERATIONS
from tests.store.fixtures import TABLE, tenancy

ROUNDS, TIMES = 25, 10


async def no_renewal(session: Session) -> Session:
    raise AssertionError("nothing expires here")


def _access(role: str) -> Access:
    place, tenant = tenancy(table=TABLE), tenant_id("acme")
    permissions = permissions_for(generated(MODEL), MODEL)(place, tenant, role)
    return Access(Session(tenant, role, Credentials("AKID", "secret"), place, permissions))


def best(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of CPU of each, the least of its rounds; rounds take turns, so that all meet the same noise."""
    spans = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            started = time.process_time()
            for _ in range(TIMES):
                work()
            spans[name] = min(spans[name], (time.process_time() - started) / TIMES * 1_000)
    return spans


def main() -> None:
    schema = core_schema(build_schema(MODEL))
    documents = Documents(MODEL, schema, DocumentLimits(), introspection=False)
    table = Table(Memory(MODEL.table, TABLE, rows={}), MODEL, no_renewal)
    lanes = Lanes(MODEL, table, Cursors("any"), ReadLimits())
    titles = f"{'parse, validate':>17}{'understood':>12}{'relative':>10}{'lane':>8}{'all':>8}{'relative':>10}"
    print(f"{'ms of CPU':<12}{titles}")
    for name, (role, body) in OPERATIONS.items():
        text, access = body["query"], _access(role)
        works: dict[str, Callable[[], object]] = {
            "alone": lambda text=text: validate(schema, parse(text)),  # type: ignore[misc]
            "understood": partial(documents.prepare, text),
        }
        operation = documents.prepare(text).by_name[None]
        if operation.is_query:
            works["lane"] = partial(lanes.make, operation.variant(body["variables"]).tree, access)
        spans = best(works)
        alone, understood, lane = spans["alone"], spans["understood"], spans.get("lane", 0.0)
        print(
            f"{name:<12}{alone:>17.2f}{understood:>12.2f}{understood / alone:>10.2f}"
            f"{lane:>8.2f}{understood + lane:>8.2f}{(understood + lane) / alone:>10.2f}"
        )


if __name__ == "__main__":
    main()
