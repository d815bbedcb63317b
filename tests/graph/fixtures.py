"""A gateway in memory for the GraphQL room: demo tenants, a role named by the token, every DynamoDB call counted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson
from httpx2 import ASGITransport, AsyncClient, Response
from strawberry import Schema

from gateway.aws.sts.callers import Caller, caller_of
from gateway.aws.sts.sessions import PermissionsFor, Session
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL, MUTATIONS
from gateway.errors import Unauthenticated
from gateway.graph.http.endpoint import Endpoint, EndpointLimits
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.persisted import Persisted
from gateway.graph.mutation.mutation import Mutation
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.query.price import CostLimits
from gateway.graph.query.reference.executor import ReferenceExecutor
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.iam.policies.policies import generated
from gateway.identity.principal import Principal
from gateway.model.model import Model
from gateway.model.tenant import tenant_id
from gateway.ops.policies.files import permissions_for
from gateway.sandbox.dev.records import demo_items
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.table import Table
from tests.store.fixtures import TABLE, tenancy
from tests.store.memory import Memory

# every query runs in a lane, if there is one for it
IN_LANES = LaneRules(uses=0, per_second=1e9)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCHEMA = build_schema(MODEL, MUTATIONS)
PERMISSIONS = permissions_for(generated(MODEL), MODEL)
_ITEMS = demo_items(MODEL, NOW)


@dataclass(frozen=True)
class Setting:
    """What is served, and what is in the table when a test begins."""

    model: Model
    schema: Schema
    permissions: PermissionsFor
    items: list[dict[str, Any]]
    mutations: tuple[Mutation, ...] = MUTATIONS

    @cached_property
    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        table = self.model.table
        return {(row[table.pk]["S"], row[table.sk]["S"]): row for row in self.items}


SHIPPED = Setting(MODEL, SCHEMA, PERMISSIONS, _ITEMS)


def principal_of(authorization: bytes | None) -> Principal:
    """The token is `tenant/role`, as the tests need no signatures here."""
    if authorization is None:
        raise Unauthenticated("authorization header missing")
    tenant, _, role = authorization.decode().removeprefix("Bearer ").partition("/")
    return Principal(tenant_id(tenant), "ada", frozenset({role}), "tests", 2**40)


@dataclass
class OpenDoor:
    """Believes every token, and has a session for every tenant."""

    permissions: PermissionsFor = PERMISSIONS
    cost_limits: CostLimits = field(default_factory=CostLimits)

    def known(self, authorization: bytes | None) -> Caller | None:
        return None

    async def open(self, authorization: bytes | None, identified: Callable[[Principal], None]) -> Caller:
        principal = principal_of(authorization)
        identified(principal)
        role, place = min(principal.roles), tenancy()
        credentials = Credentials(f"AKID{principal.tenant}", "secret")
        session = Session(principal.tenant, role, credentials, place, self.permissions(place, principal.tenant, role))
        return caller_of(principal, session, self.cost_limits.by_role.get(role, self.cost_limits.units))


async def no_renewal(session: Session) -> Session:
    raise AssertionError("nothing expires here")


@dataclass
class World:
    # where time is not what is tested, a slow machine has enough of it
    limits: EndpointLimits = field(default_factory=lambda: EndpointLimits(seconds=600))
    reads: ReadLimits = field(default_factory=ReadLimits)
    document_limits: DocumentLimits = field(default_factory=DocumentLimits)
    cost_limits: CostLimits = field(default_factory=CostLimits)
    persisted: Persisted = field(default_factory=Persisted)
    lane_rules: LaneRules = IN_LANES
    introspection: bool = True
    explain: bool = False
    setting: Setting = SHIPPED
    memory: Memory = field(init=False)
    endpoint: Endpoint = field(init=False)
    client: AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        model, core = self.setting.model, core_schema(self.setting.schema)
        rows = {key: row.copy() for key, row in self.setting.rows.items()}
        self.memory = Memory(model.table, TABLE, rows=rows)
        table, cursors = Table(self.memory, model, no_renewal), Cursors("c" * 32)
        self.endpoint = Endpoint(
            cost_limits=self.cost_limits,
            persisted=self.persisted,
            documents=Documents(
                model,
                core,
                self.setting.mutations,
                self.document_limits,
                introspection=self.introspection,
                reads=self.reads,
            ),
            callers=OpenDoor(self.setting.permissions, self.cost_limits),
            reference=ReferenceExecutor(model, core, table, cursors, self.reads, discreet=not self.introspection),
            lanes=Lanes(model, table, cursors, self.reads, self.lane_rules),
            limits=self.limits,
            # a place for everybody: what a queue refuses on a slow machine is tested by itself
            queue=FairQueue(1_000_000),
            explain=self.explain,
        )
        self.client = AsyncClient(transport=ASGITransport(app=self._handle), base_url="http://gateway")

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        await self.endpoint(scope, receive, send)

    async def post(self, query: str, variables: dict[str, Any] | None = None, token: str = "acme/viewer") -> Response:
        body = {"query": query, "variables": variables or {}}
        return await self.client.post("/graphql", json=body, headers={"Authorization": f"Bearer {token}"})

    async def ask(self, query: str, variables: dict[str, Any] | None = None, token: str = "acme/viewer") -> Any:
        """The data of an operation that must succeed; `memory.sent` then holds its calls alone."""
        self.memory.sent.clear()
        answer = orjson.loads((await self.post(query, variables, token)).content)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    @property
    def lanes(self) -> dict[str, int]:
        """How the queries were run: in a lane, by the reference, or why a lane stepped back."""
        return {str(outcome): count for outcome, count in self.endpoint.lanes.outcomes.counts.items()}

    @property
    def calls(self) -> list[str]:
        return [operation for operation, _ in self.memory.sent]


def no_lanes(world: World) -> Lanes:
    """For an endpoint whose queries are all run by the reference."""
    reference = world.endpoint.reference
    return Lanes(
        reference.model, reference.table, reference.cursors, reference.limits, LaneRules(uses=10**9, per_second=1)
    )
