"""A gateway in memory, built by the functions that build the real one.

Settings, tokens, sessions, policies and the endpoint are the product's own. Only the three services that it calls are
in this process: `Memory` for DynamoDB, `MemorySts` for STS, and the development issuer, whose keys need no network.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import orjson
from httpx2 import ASGITransport, AsyncClient, Response

from gateway.app import GatewayApp, Services, State, create_app
from gateway.demo import MODEL
from gateway.demo.shops import SHOPS
from gateway.graph.http.log_lines import WriteOperation, log_operation
from gateway.model.demo import demo_examples
from gateway.model.model import Model
from gateway.sandbox.dev.seeds import canary, seed_items
from gateway.sandbox.sandbox import Sandbox
from gateway.settings import Settings
from gateway.testing.memory import Memory, Row
from gateway.testing.services import REGION, MemorySts, fetch_keys, settings, token
from tests.store.fixtures import NOW, TABLE

EXAMPLES = [example for _, example in demo_examples(MODEL, NOW)]
# a phrase that occurs in the texts of one tenant only, and the marker on its rows
CATALOGUES: dict[str, str] = {shop.tenant: shop.catalogue for shop in SHOPS}
CANARIES: dict[str, str] = {shop.tenant: canary(shop.tenant) for shop in SHOPS}
TENANTS = frozenset({"acme", "globex", "initech"})


@cache
def aws(access_key: str = "AKID", secret_key: str = "secret", region: str = REGION) -> boto3.Session:
    """One for all apps with these keys: nobody changes it, and it takes longer to make than most apps."""
    return boto3.Session(access_key, secret_key, region_name=region)


class SharedRow(dict[str, Any]):
    """A row that many tests begin with: to copy all of them takes longer than most tests. One replaces a row."""

    def _refuse(self, *given: object, **named: object) -> Any:
        raise TypeError("other tests have this row too: put a changed copy in its place, or `api.change` it")

    __setitem__ = __delitem__ = __ior__ = pop = popitem = clear = update = setdefault = _refuse


def rows_by_key(model: Model, items: Iterable[Row]) -> dict[tuple[str, str], Row]:
    table = model.table
    return {(row[table.pk]["S"], row[table.sk]["S"]): SharedRow(row) for row in items}


@cache
def demo_rows() -> dict[tuple[str, str], Row]:
    """The rows of the demo shop, for all tenants, by their keys."""
    return rows_by_key(MODEL, seed_items(MODEL, NOW))


def demo_engine() -> Memory:
    return Memory(MODEL.table, TABLE, rows=dict(demo_rows()))


class MemoryApi:
    """A gateway over an engine in memory. A caller is `tenant/role`."""

    memory: Memory
    client: AsyncClient

    def bearer(self, caller: str) -> str:
        """The token of a caller."""
        raise NotImplementedError

    async def post(
        self, query: str, variables: dict[str, Any] | None = None, token: str = "acme/viewer", **more: Any
    ) -> Response:
        """The response, errors included; `more` are headers and further members of the body, as `post` takes them."""
        return await post(self.client, query, variables, self.bearer(token), **more)

    async def ask(self, query: str, variables: dict[str, Any] | None = None, token: str = "acme/viewer") -> Any:
        """The data of an operation that must succeed; afterwards `memory.sent` holds its calls alone."""
        self.memory.sent.clear()
        return data_of(await self.post(query, variables, token))

    def change(self, *key: str, **values: Any) -> None:
        """Puts a row with these attributes in the place of the one with this key."""
        pk, sk = key
        self.memory.rows[pk, sk] = {**self.memory.rows[pk, sk], **values}

    @property
    def calls(self) -> list[str]:
        return [operation for operation, _ in self.memory.sent]


@dataclass
class MemoryGateway(MemoryApi):
    """The whole app, with signed tokens."""

    settings: Settings = field(default_factory=settings)
    memory: Memory = field(default_factory=demo_engine)
    sts: MemorySts = field(default_factory=MemorySts)
    app: GatewayApp = field(init=False)
    client: AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        services = Services(self.memory, self.sts, fetch_keys)
        self.app = create_app(self.settings, aws=aws(), services=services)
        self.client = AsyncClient(transport=ASGITransport(app=self.app), base_url="http://gateway")

    def bearer(self, caller: str) -> str:
        tenant, _, role = caller.partition("/")
        return token(tenant, role, roles=tuple(MODEL.roles))


async def post(
    client: AsyncClient,
    query: str,
    variables: dict[str, Any] | None,
    bearer: str,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    """One operation over HTTP, in any app; `more` are further members of the body."""
    body = {"query": query, "variables": variables or {}, **more}
    return await client.post("/graphql", json=body, headers={"Authorization": f"Bearer {bearer}", **(headers or {})})


def data_of(response: Response) -> Any:
    """The data of a response that must have no errors."""
    content = orjson.loads(response.content)
    assert "errors" not in content, content["errors"]
    return content["data"]


def sandbox_app(
    sandbox: Sandbox, state: State | None = None, write: WriteOperation = log_operation, **changes: Any
) -> GatewayApp:
    """The app on the sandbox: its engine, its STS, and IAM enforced by its front."""
    keys = sandbox.ready.gateway
    session = aws(keys.access_key, keys.secret_key, sandbox.ready.region)
    return create_app(sandbox.settings(**changes), state=state, aws=session, write=write)


@asynccontextmanager
async def client_of(app: GatewayApp) -> AsyncIterator[AsyncClient]:
    """A client for an app that has started, and is stopped afterwards."""
    transport = ASGITransport(app=app)
    async with app.lifespan(), AsyncClient(transport=transport, base_url="http://gateway", timeout=30) as client:
        yield client
