"""Where the rooms meet: settings in, ASGI app out."""

import asyncio
import gc
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
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
from gateway.aws.sts.sessions import SessionRules, Sessions
from gateway.aws.sts.sts_client import StsClient
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.dynamodb import DynamoDB, DynamoDBClient
from gateway.domains import Loaded, load_domains
from gateway.graph.http.endpoint import Endpoint, EndpointLimits, Send, ignored
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.log_lines import WriteOperation, log_operation
from gateway.graph.http.request import Receive, Scope
from gateway.graph.playground.built_page import HEADERS, landing_page
from gateway.graph.playground.first_query import first_query
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.query.reference.executor import ReferenceExecutor
from gateway.graph.schema.schema import core_schema
from gateway.identity.authenticator import Authenticator
from gateway.identity.fetch import fetch
from gateway.identity.keyring import Fetch
from gateway.model.tenant import TenantId
from gateway.ops.metrics.collectors import QueryCollector
from gateway.ops.metrics.metrics import Metrics
from gateway.ops.policies.files import load_policies, permissions_for
from gateway.ops.readiness.pool_check import PoolCheck
from gateway.ops.readiness.readiness import Readiness
from gateway.settings import Settings
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.table import Table
from gateway.wiring import (
    ReadPath,
    cost_limits,
    demo,
    issuers,
    metrics_of,
    metrics_page,
    persisted,
    playground,
    pools,
    read_path,
    tenants,
    warm_up,
)

GRAPHQL_PATH: Final = "/graphql"


@dataclass(slots=True)
class State:
    """Whether the process still takes requests; the server sets it when it is told to stop."""

    draining: bool = False


async def _nothing_to_close() -> None:
    """Services in memory hold no connections."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the gateway calls. By default they are reached over the network; tests pass others."""

    dynamodb: DynamoDB
    sts: Sts
    fetch_keys: Fetch = fetch
    close: Callable[[], Awaitable[None]] = _nothing_to_close


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything that lives as long as the process."""

    endpoint: Endpoint
    services: Services
    sessions: Sessions
    authenticator: Authenticator
    readiness: Readiness
    cache: ReadPath | None = None
    metrics: Metrics | None = None
    # the tenants and roles whose sessions are opened at start
    warm_up: tuple[tuple[TenantId, ...], tuple[str, ...]] = ((), ())

    async def close(self) -> None:
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
    loaded: Loaded | None = None,
) -> Gateway:
    """Settings that contradict the policies or the model are refused here, before anything is served.

    `loaded` is what to serve instead of the domains that the settings name.
    """
    loaded = loaded or load_domains(settings.domains)
    model = loaded.model
    aws = aws or boto3.Session(region_name=settings.region)
    policies = load_policies(settings.reviewed_policies, model)
    rules = SessionRules(
        seconds=settings.session_duration_seconds,
        sessions=settings.max_sessions,
        calls_per_second=settings.max_sts_calls_per_second,
        # nobody waits longer than a request may take
        call_seconds=settings.request_timeout_seconds,
        per_subject=settings.session_per_subject,
    )
    roles = Roles(policies.sessions)
    rate = CallRate(rules.calls_per_second, rules.calls)
    services = services or _aws_services(settings, aws, rate)
    cache = read_path(settings, model, aws)
    sessions = Sessions(
        services.sts,
        tenants(settings),
        roles,
        permissions_for(policies, model),
        rules,
        rate=rate,
        on_forget=cache.forget if cache is not None else lambda tenant: None,
    )
    authenticator = Authenticator(issuers(settings), fetch=services.fetch_keys)
    schema = core_schema(loaded.schema)
    reads = ReadLimits(page=settings.max_page_size, queries=settings.max_nested_queries)
    documents = Documents(
        model,
        schema,
        loaded.mutations,
        _document_limits(settings),
        introspection=settings.introspection,
        reads=reads,
    )
    known = persisted(settings, documents)
    queue = FairQueue(settings.max_concurrent_operations, settings.max_queued_per_tenant)
    table = Table(services.dynamodb, model, sessions.renew, cache=cache)
    cursors = Cursors(settings.cursor_secret.get_secret_value())
    costs = cost_limits(settings)
    metrics = metrics_of(settings, known, cache, sessions, queue, table)
    lanes = Lanes(model, table, cursors, reads, trusted=known.trusted_hashes)
    endpoint = Endpoint(
        documents=documents,
        cost_limits=costs,
        persisted=known,
        callers=Callers(authenticator, sessions, lambda role: costs.by_role.get(role, costs.units)),
        reference=ReferenceExecutor(model, schema, table, cursors, reads, discreet=documents.discreet),
        lanes=lanes,
        limits=EndpointLimits(
            body_bytes=settings.max_body_bytes,
            seconds=settings.request_timeout_seconds,
            packed_from=settings.gzip_min_bytes,
        ),
        queue=queue,
        preparing=FairQueue(1, settings.max_queued_per_tenant),
        explain=settings.explain,
        observe=metrics.observe if metrics is not None else ignored,
        write=write,
    )
    readiness = Readiness(pools(settings), PoolCheck(sessions.open, services.dynamodb, model.table).faults)
    if metrics is not None:
        metrics.collect_from(QueryCollector(lanes.outcomes))
        metrics.gauge("gateway_ready", "1 once everything behind the process was reached.", lambda: readiness.ready)
    return Gateway(endpoint, services, sessions, authenticator, readiness, cache, metrics, warm_up(settings, roles))


def _aws_services(settings: Settings, aws: boto3.Session, rate: CallRate) -> Services:
    limits = WireLimits(connections=settings.max_dynamodb_connections)
    client = DynamoDBClient(limits, tls=ssl.create_default_context())
    sts = StsClient(aws, endpoint_url=settings.sts_endpoint, before_retry=rate.retry)

    async def close() -> None:
        await client.close()
        await sts.close()

    return Services(client, sts, close=close)


def _document_limits(settings: Settings) -> DocumentLimits:
    return DocumentLimits(
        depth=settings.max_depth,
        aliases=settings.max_aliases,
        root_fields=settings.max_root_fields,
        directives=settings.max_directives,
        chars=settings.max_document_chars,
        tokens=settings.max_document_tokens,
        token_bytes=settings.max_document_token_bytes,
        members=settings.max_list_length,
    )


class GatewayApp:
    """The ASGI app: `/graphql` is the endpoint's own, everything else are pages of a Starlette app.

    Mounted in another app, below a `root_path`, it needs that app to enter `lifespan`.
    """

    def __init__(
        self, graphql: ASGIApp, pages: Starlette, metrics: Metrics | None = None, cors: dict[str, Any] | None = None
    ) -> None:
        self._graphql = graphql
        self._cross_origin = graphql if cors is None else CORSMiddleware(graphql, **cors)
        self._pages = pages
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (_path(scope) if scope.get("root_path") else scope["path"]) != GRAPHQL_PATH:
            await self._pages(scope, receive, send)
        elif self._cross_origin is not self._graphql and b"origin" in dict(scope["headers"]):
            await self._cross_origin(scope, receive, send)
        else:
            await self._graphql(scope, receive, send)

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        return self._pages.router.lifespan_context(self._pages)


def _path(scope: Scope) -> str:
    """Below what the app is mounted at."""
    path: str = scope["path"]
    root: str = scope["root_path"]
    return path[len(root) :] if path.startswith(f"{root}/") else path


def create_app(
    settings: Settings,
    state: State | None = None,
    aws: boto3.Session | None = None,
    write: WriteOperation = log_operation,
    services: Services | None = None,
) -> GatewayApp:
    """`write` takes the log line of each operation; by default it goes to the logger `gateway.operation`."""
    gateway = build_gateway(settings, aws, write, services)
    pages = _pages(settings, gateway, state or State())
    return GatewayApp(gateway.endpoint, pages, gateway.metrics, _cors(settings))


def _pages(settings: Settings, gateway: Gateway, state: State) -> Starlette:
    address = f"http://{settings.host}:{settings.port}" if settings.environment == "sandbox" else None
    pages = [*playground(settings), *demo(settings), *metrics_page(settings, gateway.metrics)]
    query = first_query(load_domains(settings.domains).model)
    page = landing_page(address, pages={route.path for route in pages}, query=query)

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
        # what is made at start lives for ever: the collector need not look at it again and again
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        starting = asyncio.create_task(gateway.readiness.until_ready())
        # documents are parsed in another thread, which gives way to the loop this often
        sys.setswitchinterval(0.0005)
        warming = asyncio.create_task(gateway.sessions.warm_up(*gateway.warm_up))
        yield
        for task in (starting, warming):
            task.cancel()
        await asyncio.wait((starting, warming))
        await gateway.close()

    cors = _cors(settings)
    app = Starlette(
        routes=[Route("/", landing), Route("/healthz", alive), Route("/readyz", ready), *pages],
        middleware=[] if cors is None else [Middleware(CORSMiddleware, **cors)],
        lifespan=lifespan,
    )
    # its redirects repeat the caller's Host, and behind a load balancer they lead from https to http, token and all
    app.router.redirect_slashes = False
    return app


LOCAL_ORIGINS = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?"


def _cors(settings: Settings) -> dict[str, Any] | None:
    # a front end in development runs on a port of this machine that nobody knows beforehand
    own_machine = LOCAL_ORIGINS if settings.environment == "sandbox" else None
    if not settings.cors_origins and own_machine is None:
        return None
    return {
        "allow_origins": settings.cors_origins,
        "allow_origin_regex": own_machine,
        "allow_methods": ["GET", "POST"],
        "allow_headers": ["authorization", "content-type", "content-encoding", "x-request-id", "traceparent"],
        "expose_headers": ["x-request-id", "retry-after"],
        "max_age": 600,
    }
