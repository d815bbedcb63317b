"""The gateway in memory as the GraphQL room uses it: a token is `tenant/role`, and every query runs in a lane.

`tests.fixtures` has the whole app with signed tokens; this one gives access to the parts of its endpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from httpx2 import ASGITransport, AsyncClient
from strawberry import Schema

from gateway.app import Services, build_gateway
from gateway.aws.sts.callers import Caller, caller_of
from gateway.aws.sts.session import PermissionsFor, Session
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.domains import ServedDomains
from gateway.errors import Unauthenticated
from gateway.graph.http.endpoint import Endpoint, EndpointLimits
from gateway.graph.http.persisted import Persisted
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.price import CostLimits
from gateway.iam.policies.policies import generated
from gateway.identity.principal import Principal
from gateway.model.model import Model
from gateway.model.tenant import tenant_id
from gateway.ops.policies.files import permissions_for
from gateway.settings import Settings
from gateway.store.plan import ReadLimits
from gateway.testing.memory import Memory
from gateway.testing.services import MemorySts, fetch_keys, settings
from tests.fixtures import MemoryApi, aws, demo_rows, rows_by_key
from tests.store import fixtures as store_fixtures
from tests.store.fixtures import TABLE, tenancy

NOW = store_fixtures.NOW
no_renewal = store_fixtures.no_renewal

# every query runs in a lane, if there is one for it
IN_LANES = LaneRules(uses=0, per_second=1e9)
SCHEMA = ServedDomains(MODEL).schema
PERMISSIONS = permissions_for(generated(MODEL), MODEL)


@dataclass(frozen=True)
class ServedModel:
    """What is served, and what is in the table when a test begins."""

    model: Model
    schema: Schema
    permissions: PermissionsFor
    items: list[dict[str, Any]]

    @cached_property
    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        return rows_by_key(self.model, self.items)

    @cached_property
    def loaded(self) -> ServedDomains:
        loaded = ServedDomains(self.model)
        vars(loaded)["schema"] = self.schema  # it takes half a second to make, and is made already
        return loaded


DEMO_SHOP = ServedModel(MODEL, SCHEMA, PERMISSIONS, list(demo_rows().values()))


def principal_of(authorization: bytes | None) -> Principal:
    """The token is `tenant/role`, as the tests need no signatures here."""
    if authorization is None:
        raise Unauthenticated("authorization header missing")
    tenant, _, role = authorization.decode().removeprefix("Bearer ").partition("/")
    return Principal(tenant_id(tenant), "ada", frozenset({role}), "tests", 2**40)


@dataclass
class TrustingCallers:
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
        permissions = self.permissions(place, principal.tenant, role, None)
        session = Session(principal.tenant, role, credentials, place, permissions)
        return caller_of(principal, session, self.cost_limits.by_role.get(role, self.cost_limits.units))


@dataclass
class MemoryEndpoint(MemoryApi):
    # where time is not what is tested, a slow machine has enough of it
    limits: EndpointLimits = field(default_factory=lambda: EndpointLimits(seconds=600))
    reads: ReadLimits = field(default_factory=ReadLimits)
    document_limits: DocumentLimits = field(default_factory=DocumentLimits)
    cost_limits: CostLimits = field(default_factory=CostLimits)
    persisted: Persisted = field(default_factory=Persisted)
    lane_rules: LaneRules = IN_LANES
    introspection: bool = True
    explain: bool = False
    served: ServedModel = DEMO_SHOP
    memory: Memory = field(init=False)
    endpoint: Endpoint = field(init=False)
    client: AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.served.model.table, TABLE, rows=dict(self.served.rows))
        services = Services(self.memory, MemorySts(), fetch_keys)
        endpoint = build_gateway(self._settings(), aws(), services=services, loaded=self.served.loaded).endpoint
        self.endpoint = replace(
            endpoint,
            persisted=self.persisted,
            callers=TrustingCallers(self.served.permissions, self.cost_limits),
            lanes=_lanes(endpoint, self.lane_rules),
        )
        self.client = AsyncClient(transport=ASGITransport(app=self._handle), base_url="http://gateway")

    def _settings(self) -> Settings:
        return settings(
            introspection=self.introspection,
            explain=self.explain,
            max_body_bytes=self.limits.body_bytes,
            gzip_min_bytes=self.limits.packed_from,
            request_timeout_seconds=self.limits.seconds,
            max_page_size=self.reads.page,
            max_nested_queries=self.reads.queries,
            max_depth=self.document_limits.depth,
            max_aliases=self.document_limits.aliases,
            max_root_fields=self.document_limits.root_fields,
            max_directives=self.document_limits.directives,
            max_document_chars=self.document_limits.chars,
            max_document_tokens=self.document_limits.tokens,
            max_document_token_bytes=self.document_limits.token_bytes,
            max_list_length=self.document_limits.members,
            max_cost=self.cost_limits.units,
            max_cost_by_role=self.cost_limits.by_role,
            # a place for everybody: what a queue refuses on a slow machine is tested by itself
            max_concurrent_operations=1_000_000,
        )

    def bearer(self, caller: str) -> str:
        return caller

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        await self.endpoint(scope, receive, send)

    @property
    def lanes(self) -> dict[str, int]:
        """How the queries were run: in a lane, by the reference, or why a lane stepped back."""
        return {str(outcome): count for outcome, count in self.endpoint.lanes.outcomes.counts.items()}


def no_lanes(api: MemoryEndpoint) -> Lanes:
    """For an endpoint whose queries are all run by the reference."""
    return _lanes(api.endpoint, LaneRules(uses=10**9, per_second=1))


def _lanes(endpoint: Endpoint, rules: LaneRules) -> Lanes:
    reference = endpoint.reference
    return Lanes(reference.model, reference.table, reference.cursors, reference.limits, rules)
