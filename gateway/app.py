"""Builds the gateway: settings in, ASGI app out."""

import asyncio
import gc
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import boto3
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateway.aws.sts.assume_role import Sts
from gateway.aws.sts.call_rate import CallRate
from gateway.aws.sts.callers import Callers
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import Session
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.sts_client import StsClient
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.dynamodb import DynamoDB, DynamoDBClient
from gateway.domains import ServedDomains, load_domains
from gateway.graph.http.consistency import CONSISTENCY_HEADER
from gateway.graph.http.endpoint import Endpoint, Send, ignored
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.log_lines import WriteOperation, log_operation
from gateway.graph.http.request import Receive, Scope
from gateway.graph.playground.built_page import HEADERS, landing_page
from gateway.graph.playground.first_query import first_query
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.operation import Documents
from gateway.graph.query.reference.executor import ReferenceExecutor
from gateway.graph.schema.role_schema import has_own_schema, role_schema
from gateway.graph.schema.schema import core_schema
from gateway.iam.policies.policies import Policies
from gateway.identity.authenticator import Authenticator
from gateway.identity.fetch import fetch
from gateway.identity.keyring import Fetch
from gateway.identity.revocations import Revocations
from gateway.model.demo import demo_tenants
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.ops.metrics.metrics import Metrics
from gateway.ops.policies.files import load_policies, permissions_for
from gateway.ops.readiness.pool_check import PoolCheck
from gateway.ops.readiness.readiness import Readiness
from gateway.settings import Settings
from gateway.store.consistency_token import ConsistencyTokens
from gateway.store.cursor import Cursors
from gateway.store.table import Table
from gateway.stream.bus import Bus, InProcessBus
from gateway.stream.invalidation import invalidate
from gateway.wiring.bus import bus_of
from gateway.wiring.caches import ReadPath, read_path
from gateway.wiring.metrics import metrics_of, metrics_page
from gateway.wiring.operations import cost_limits, documents_of, endpoint_limits, persisted, read_limits
from gateway.wiring.pages import playground, sandbox_pages, token_command
from gateway.wiring.stream import ReaderProcess
from gateway.wiring.subscriptions import Streaming, changes_page, count_streams, streaming
from gateway.wiring.tenants import (
    check_files,
    check_roles,
    issuers,
    pooled_tenancy,
    pools,
    session_rules,
    tenants,
    warm_up,
)
from gateway.wiring.trusted_lanes import example_sessions, prepare_trusted

GRAPHQL_PATH: Final = "/graphql"
_COLLECTIONS: Final = (1_000, 1_000_000, 100)  # thresholds of the garbage collector; the second is never reached
_COLLECTION_SECONDS: Final = 2


@dataclass(slots=True)
class State:
    """Whether the process still accepts requests; the server changes it on a stop signal."""

    draining: bool = False


async def _nothing_to_close() -> None:
    """In-memory services have no connections to close."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the gateway calls. By default it calls them over the network; tests pass their own."""

    dynamodb: DynamoDB
    sts: Sts
    fetch_keys: Fetch = fetch
    close: Callable[[], Awaitable[None]] = _nothing_to_close
    bus: Bus = field(default_factory=InProcessBus)  # notifies the process of changes


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything that lives as long as the process."""

    endpoint: Endpoint
    services: Services
    sessions: Sessions
    authenticator: Authenticator
    readiness: Readiness
    streaming: Streaming
    cache: ReadPath | None = None
    metrics: Metrics | None = None
    # the tenants and roles whose sessions are opened at start
    warm_up: tuple[tuple[TenantId, ...], tuple[str, ...]] = ((), ())
    # reads the table's stream, if this process does
    stream: ReaderProcess | None = None
    trusted: tuple[
        Session, ...
    ] = ()  # lanes of trusted documents are prepared at start for the policies of these sessions

    async def close(self) -> None:
        await self.streaming.subscriptions.close()
        if self.cache is not None:
            await self.cache.close()
        await self.sessions.close()
        await self.authenticator.close()
        await self.services.close()


def build_gateway(
    settings: Settings,
    aws: boto3.Session | None = None,
    write: WriteOperation = log_operation,
    services: Services | None = None,
    loaded: ServedDomains | None = None,
    draining: Callable[[], bool] = lambda: False,
) -> Gateway:
    """Raises `ConfigurationError` if settings contradict the policies or the model.

    `loaded` replaces the domains that the settings name; `draining` says whether the process is about to stop.
    """
    domains = loaded or load_domains(settings.served_domains)
    model, schema, reads = domains.model, core_schema(domains.schema), read_limits(settings)
    aws = aws or boto3.Session(region_name=settings.region)
    policies = load_policies(settings.reviewed_policies, model)
    cache = read_path(settings, model, aws)
    rules, permissions = session_rules(settings), permissions_for(policies, model)
    rate = CallRate(rules.calls_per_second, rules.calls)
    services = services or _aws_services(settings, aws, rate)
    roles = _roles(model, policies)
    sessions = Sessions(
        services.sts,
        tenants(settings),
        roles,
        permissions,
        rules,
        rate=rate,
        on_forget=cache.forget if cache is not None else lambda tenant: None,
    )
    revocations = Revocations(settings.support_revocations)
    trusted = issuers(settings, model.roles)
    authenticator = Authenticator(trusted, fetch=services.fetch_keys, revocations=revocations)
    table = Table(services.dynamodb, model, sessions.renew, cache=cache)
    cursors = Cursors(settings.cursor_secret.get_secret_value())
    documents = documents_of(settings, model, schema)
    reference = ReferenceExecutor(model, schema, table, cursors, reads, discreet=documents.discreet, act=sessions.act)
    persisted_documents, costs = persisted(settings, documents), cost_limits(settings, model)
    queue = FairQueue(settings.max_concurrent_operations, settings.max_queued_per_tenant)
    lanes = Lanes(model, table, cursors, reads, trusted=persisted_documents.trusted_hashes)
    check = PoolCheck(sessions.open, sessions.open_anew, services.dynamodb, model)
    readiness = Readiness(pools(settings), check.faults)
    if cache is not None and settings.stream != "off":
        invalidate(cache, services.bus)
    stream = _reader_inside(settings, model, aws, services.bus)
    metrics = metrics_of(
        settings, persisted_documents, cache, sessions, queue, table, lanes, readiness, stream, services.bus
    )
    callers = Callers(authenticator, sessions, lambda role: costs.by_role.get(role, costs.units))
    endpoint = Endpoint(
        documents=documents,
        cost_limits=costs,
        persisted=persisted_documents,
        callers=callers,
        reference=reference,
        lanes=lanes,
        tokens=ConsistencyTokens(cursors),
        views=_views(settings, model, reference),
        limits=endpoint_limits(settings),
        queue=queue,
        preparing=FairQueue(1, settings.max_queued_per_tenant),
        explain=settings.explain,
        observe=metrics.observe if metrics is not None else ignored,
        write=write,
    )
    streams = streaming(settings, model, endpoint, callers, cursors, services.bus, draining)
    if metrics is not None:
        count_streams(metrics, streams)
    endpoint = replace(endpoint, event_stream=streams.event_stream)
    check_roles(settings, model)
    check_files(settings, model)
    warmed = warm_up(settings, model)
    examples = (
        example_sessions(model, pooled_tenancy(settings), permissions) if persisted_documents.trusted_texts else ()
    )
    return Gateway(
        *(endpoint, services, sessions, authenticator, readiness, streams, cache, metrics, warmed, stream),
        trusted=tuple(examples),
    )


def _reader_inside(settings: Settings, model: Model, aws: boto3.Session, bus: Bus) -> ReaderProcess | None:
    # INVARIANT: a process that learns of changes from the bus between processes never reads the table's stream itself.
    if settings.stream != "inside" or not isinstance(bus, InProcessBus):
        return None
    return ReaderProcess(settings, model.table, aws, bus)


def _views(
    settings: Settings, model: Model, reference: ReferenceExecutor
) -> dict[str, tuple[Documents, ReferenceExecutor]]:
    """The schemas of the roles that have their own."""
    roles = [role for role in model.roles.values() if has_own_schema(role)]
    schemas = {role.name: role_schema(reference.schema, model, role) for role in roles}
    return {
        name: (documents_of(settings, model, schema), replace(reference, schema=schema))
        for name, schema in schemas.items()
    }


def _roles(model: Model, policies: Policies) -> Roles:
    roles = model.all_roles.values()
    own, acting = [role.name for role in roles if role.own], [role.name for role in roles if role.acting]
    return Roles(policies.sessions, own, acting)


@cache
def _authorities() -> ssl.SSLContext:
    """One for all apps of a process: to load the certificates takes longer than to build the rest of an app."""
    return ssl.create_default_context()


def _aws_services(settings: Settings, aws: boto3.Session, rate: CallRate) -> Services:
    limits = WireLimits(connections=settings.max_dynamodb_connections)
    client = DynamoDBClient(limits, tls=_authorities())
    sts = StsClient(aws, endpoint_url=settings.sts_endpoint, before_retry=rate.retry)

    async def close() -> None:
        await client.close()
        await sts.close()

    return Services(client, sts, close=close, bus=bus_of(settings))


class GatewayApp:
    """The ASGI app: the endpoint answers `/graphql`, a Starlette app answers everything else.

    An app that mounts it below a `root_path` has to enter `lifespan`.
    """

    def __init__(
        self,
        graphql: ASGIApp,
        pages: Starlette,
        metrics: Metrics | None = None,
        cors: dict[str, Any] | None = None,
        socket: ASGIApp | None = None,
    ) -> None:
        self._graphql = graphql
        self._socket = socket or pages
        self._cross_origin = graphql if cors is None else CORSMiddleware(graphql, **cors)
        self._pages = pages
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (_path(scope) if scope.get("root_path") else scope["path"]) != GRAPHQL_PATH:
            own = scope["type"] == "websocket" and _path(scope) == GRAPHQL_PATH
            await (self._socket if own else self._pages)(scope, receive, send)
        elif self._cross_origin is not self._graphql and b"origin" in dict(scope["headers"]):
            await self._cross_origin(scope, receive, send)
        else:
            await self._graphql(scope, receive, send)

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        return self._pages.router.lifespan_context(self._pages)


def _path(scope: Scope) -> str:
    """The path below the mount point."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if path.startswith(f"{root}/") else path


def create_app(
    settings: Settings,
    state: State | None = None,
    aws: boto3.Session | None = None,
    write: WriteOperation = log_operation,
    services: Services | None = None,
) -> GatewayApp:
    """`write` receives the log line of each operation; by default the logger `gateway.operation` does."""
    state = state or State()
    gateway = build_gateway(settings, aws, write, services, draining=lambda: state.draining)
    pages = _pages(settings, gateway, state)
    return GatewayApp(gateway.endpoint, pages, gateway.metrics, _cors(settings), gateway.streaming.socket)


async def _collect_older() -> None:
    """Requests leave no cycles, so what survives a first collection is visited rarely.

    The interpreter would do it many times a second beside new documents, and stop the process for milliseconds.
    """
    while True:
        await asyncio.sleep(_COLLECTION_SECONDS)
        gc.collect(1)


def _pages(settings: Settings, gateway: Gateway, state: State) -> Starlette:
    address = f"http://{settings.host}:{settings.port}" if settings.environment == "sandbox" else None
    pages = [*playground(settings), *sandbox_pages(settings), *metrics_page(settings, gateway.metrics)]
    pages += changes_page(settings, gateway.streaming)
    model = load_domains(settings.served_domains).model
    tenants = [tenant.name for tenant in demo_tenants(model)]
    page = landing_page(
        address,
        pages={route.path for route in pages},
        query=first_query(model),
        tenants=tenants,
        token=token_command(settings, model, tenants[0]),
    )

    async def landing(request: Request) -> Response:
        return HTMLResponse(page, headers=HEADERS)

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        if state.draining:
            return JSONResponse({"status": "draining"}, status_code=503)
        if "deep" in request.query_params:
            report = await gateway.readiness.check()
            return JSONResponse(report.content(), status_code=200 if report.serves else 503)
        if not gateway.readiness.ready:
            return JSONResponse({"status": "starting"}, status_code=503)
        return JSONResponse({"status": "ready"})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # objects created at start live as long as the process, so the garbage collector need not visit them again
        gc.collect()
        gc.freeze()
        thresholds = gc.get_threshold()
        gc.set_threshold(*_COLLECTIONS)
        collecting = asyncio.create_task(_collect_older())
        starting = asyncio.create_task(gateway.readiness.until_ready())
        # how often a thread yields to the event loop where it has no checkpoints
        sys.setswitchinterval(0.0005)
        warming = asyncio.create_task(gateway.sessions.warm_up(*gateway.warm_up))
        preparing = asyncio.create_task(prepare_trusted(gateway.endpoint, list(gateway.trusted)))
        async with AsyncExitStack() as running:
            await running.enter_async_context(gateway.services.bus.running())
            if gateway.stream is not None:
                await running.enter_async_context(gateway.stream.running())
            yield
        tasks = (starting, warming, preparing, collecting)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        gc.set_threshold(*thresholds)
        await gateway.close()

    cors = _cors(settings)
    app = Starlette(
        routes=[Route("/", landing), Route("/healthz", alive), Route("/readyz", ready), *pages],
        middleware=[] if cors is None else [Middleware(CORSMiddleware, **cors)],
        lifespan=lifespan,
    )
    # a redirect would repeat the caller's Host, and behind a load balancer it could lead from https to http with the
    # token
    app.router.redirect_slashes = False
    return app


LOCAL_ORIGINS = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?"


def _cors(settings: Settings) -> dict[str, Any] | None:
    # in development, a front end runs on any port of this machine
    own_machine = LOCAL_ORIGINS if settings.environment == "sandbox" else None
    if not settings.cors_origins and own_machine is None:
        return None
    return {
        "allow_origins": settings.cors_origins,
        "allow_origin_regex": own_machine,
        "allow_methods": ["GET", "POST"],
        # clients add headers of their own, such as `baggage` or `apollographql-client-name`; no cookie is accepted
        "allow_headers": ["*"],
        "expose_headers": ["x-request-id", "retry-after", CONSISTENCY_HEADER],
        "max_age": 600,
    }
