"""Where the rooms meet: settings in, ASGI app out."""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import boto3
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from gateway.aws.call_rate import CallRate
from gateway.aws.dynamodb import DynamoDBClient
from gateway.aws.limits import WireLimits
from gateway.aws.roles import Roles
from gateway.aws.sessions import SessionRules, Sessions
from gateway.aws.sts_client import StsClient
from gateway.domains.loading import load_domains
from gateway.graph.endpoint import Endpoint, EndpointLimits, ignored
from gateway.graph.landing import HEADERS, landing_page
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.query.reference import Reference
from gateway.graph.schema import build_schema, core_schema
from gateway.graph.turns import Turns
from gateway.identity.authenticator import Authenticator
from gateway.model.tenant import TenantId
from gateway.ops.metrics import Metrics
from gateway.ops.policy_files import load_policies, permissions_for
from gateway.settings import Settings
from gateway.store.cursor import Cursors
from gateway.store.read_limits import ReadLimits
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
    read_path,
    tenants,
    warm_up,
)


@dataclass(slots=True)
class State:
    """Whether the process still takes requests; the server sets it when it is told to stop."""

    draining: bool = False


@dataclass(frozen=True, slots=True)
class Gateway:
    """Everything that lives as long as the process."""

    endpoint: Endpoint
    client: DynamoDBClient
    sts: StsClient
    sessions: Sessions
    authenticator: Authenticator
    cache: ReadPath | None = None
    metrics: Metrics | None = None
    # the tenants and roles whose sessions are opened at start
    warm_up: tuple[tuple[TenantId, ...], tuple[str, ...]] = ((), ())

    async def close(self) -> None:
        if self.cache is not None:
            await self.cache.close()
        await self.sessions.close()
        await self.authenticator.close()
        await self.client.close()
        await self.sts.close()


def build_gateway(settings: Settings, aws: boto3.Session | None = None) -> Gateway:
    """Settings that contradict the policies or the model are refused here, before anything is served."""
    loaded = load_domains(settings.domains)
    model = loaded.model
    client = DynamoDBClient(WireLimits(connections=settings.max_connections), tls=ssl.create_default_context())
    aws = aws or boto3.Session(region_name=settings.region)
    policies = load_policies(settings.policies_dir, model)
    rules = SessionRules(
        seconds=settings.session_seconds,
        sessions=settings.max_sessions,
        calls_per_second=settings.max_sts_calls_per_second,
        # nobody waits longer than a request may take
        call_seconds=settings.request_seconds,
        per_subject=settings.session_per_subject,
    )
    roles = Roles(policies.sessions)
    rate = CallRate(rules.calls_per_second, rules.calls)
    sts = StsClient(aws, endpoint_url=settings.sts_endpoint, before_retry=rate.retry)
    cache = read_path(settings, model, aws)
    sessions = Sessions(
        sts,
        tenants(settings),
        roles,
        permissions_for(policies, model),
        rules,
        rate=rate,
        on_forget=cache.forget if cache is not None else lambda tenant: None,
    )
    authenticator = Authenticator(issuers(settings))
    schema = core_schema(build_schema(model, loaded.mutations))
    reads = ReadLimits(page=settings.max_page, queries=settings.max_nested_queries)
    documents = Documents(
        model,
        schema,
        loaded.mutations,
        _document_limits(settings),
        introspection=settings.introspection,
        reads=reads,
    )
    known = persisted(settings, documents)
    turns = Turns(settings.max_running, settings.max_waiting)
    metrics = metrics_of(settings, known, cache, sessions, turns)
    table = Table(client, model, sessions.renew, cache=cache)
    cursors = Cursors(settings.cursor_secret.get_secret_value())
    endpoint = Endpoint(
        documents=documents,
        cost_limits=cost_limits(settings),
        persisted=known,
        authenticate=authenticator.authenticate,
        open_session=sessions.open,
        reference=Reference(model, schema, table, cursors, reads, discreet=documents.discreet),
        lanes=Lanes(model, table, cursors, reads),
        limits=EndpointLimits(
            body_bytes=settings.max_body_bytes,
            seconds=settings.request_seconds,
            packed_from=settings.packed_from_bytes,
        ),
        turns=turns,
        explain=settings.explain,
        observe=metrics.observe if metrics is not None else ignored,
    )
    return Gateway(endpoint, client, sts, sessions, authenticator, cache, metrics, warm_up(settings, roles))


def _document_limits(settings: Settings) -> DocumentLimits:
    return DocumentLimits(
        depth=settings.max_depth,
        aliases=settings.max_aliases,
        root_fields=settings.max_root_fields,
        directives=settings.max_directives,
        tokens=settings.max_tokens,
        members=settings.max_list,
    )


def create_app(settings: Settings, state: State | None = None, aws: boto3.Session | None = None) -> Starlette:
    state = state or State()
    gateway = build_gateway(settings, aws)
    address = f"http://{settings.host}:{settings.port}" if settings.environment == "sandbox" else None
    pages = [*playground(settings), *demo(settings), *metrics_page(settings, gateway.metrics)]
    page = landing_page(address, pages={route.path for route in pages})

    async def graphql(request: Request) -> Response:
        return await gateway.endpoint(request)

    async def landing(request: Request) -> Response:
        return HTMLResponse(page, headers=HEADERS)

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        if state.draining:
            return JSONResponse({"status": "draining"}, status_code=503)
        return JSONResponse({"status": "ready"})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # what is made at start lives for ever: the collector need not look at it again and again
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        warming = asyncio.create_task(gateway.sessions.warm_up(*gateway.warm_up))
        yield
        warming.cancel()
        await gateway.close()

    app = Starlette(
        routes=[
            Route("/", landing),
            # every method, so that a wrong one is answered in the form that GraphQL clients read
            Route("/graphql", graphql, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
            Route("/healthz", alive),
            Route("/readyz", ready),
            *pages,
        ],
        middleware=_middleware(settings),
        lifespan=lifespan,
    )
    app.state.metrics = gateway.metrics
    # its redirects repeat the caller's Host, and behind a load balancer they lead from https to http, token and all
    app.router.redirect_slashes = False
    return app


def _middleware(settings: Settings) -> list[Middleware]:
    if not settings.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "content-encoding", "x-request-id", "traceparent"],
            expose_headers=["x-request-id"],
            max_age=600,
        )
    ]
