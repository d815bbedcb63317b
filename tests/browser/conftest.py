"""A browser, and two gateways to look at: one on the sandbox, one as in production."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette

from gateway.app import GatewayApp
from gateway.aws.sts.callers import Caller
from gateway.cli.dev import aws_variables
from gateway.errors import Unauthenticated
from gateway.graph.playground.built_page import playground_routes
from gateway.identity.principal import Principal
from gateway.sandbox.dev.supervisor import until_healthy
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, address_of, free_port, listen, served_in_thread
from gateway.settings import environment_with
from tests.browser.screen import Screen
from tests.browser.tools import chromium
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers

Look = Callable[..., Screen]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def sandbox(browser: Any) -> Iterator[str]:
    """`gateway dev` without its banner: real tokens, real sessions, IAM enforced."""
    with Sandbox(Options(port=0)) as running:
        port = free_port(0)
        settings = running.settings(port=port, stream="inside", stream_role_arn=running.ready.stream_role_arn)
        child = Child("gateway", "serve", environment=environment_with(settings, aws_variables(running)))
        try:
            until_healthy(child, HOST, port)
            yield f"http://{HOST}:{port}"
        finally:
            child.stop()


class KnownTokens(TrustingCallers):
    """As in the tests of the GraphQL room: a token is `tenant/role`."""

    async def open(self, authorization: bytes | None, identified: Callable[[Principal], None]) -> Caller:
        if authorization is None or b"/" not in authorization:
            raise Unauthenticated("the token is not valid")
        return await super().open(authorization, identified)


@pytest.fixture
def production(browser: Any) -> Iterator[str]:
    endpoint = replace(MemoryEndpoint(explain=True).endpoint, callers=KnownTokens())
    config: dict[str, Any] = {"explain": True, "sandbox": None, "examples": [], "query": "{ __typename }"}
    app = GatewayApp(endpoint, Starlette(routes=playground_routes(config)))
    with listen(0) as listening, served_in_thread(app, listening):
        yield address_of(listening)


@pytest.fixture
def look(browser: Any) -> Iterator[Look]:
    """Opens screens, and afterwards checks what holds for all of them."""
    screens: list[Screen] = []

    def opened(url: str, **options: Any) -> Screen:
        screens.append(Screen(browser, url, **options))
        return screens[-1]

    yield opened
    for screen in screens:
        screen.close()
        # INVARIANT: no request leaves the host
        assert screen.foreign == []
        assert screen.failures == []
