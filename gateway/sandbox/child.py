"""The sandbox's own process: engine, table, demo rows, issuer and front, from start to stop."""

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime

from gateway.domains import MODEL
from gateway.sandbox.account import Registry, administrator
from gateway.sandbox.engine import Engine
from gateway.sandbox.front import Front
from gateway.sandbox.issuer import PATH, TokenIssuer, routes
from gateway.sandbox.policies import account_with, gateway_caller, read_policies
from gateway.sandbox.ready import Options, Ready
from gateway.sandbox.seed import demo_items
from gateway.sandbox.server import HOST, Server, listen, port_of
from gateway.sandbox.shops import SHOPS
from gateway.sandbox.tables import create, fill


async def run(options: Options, announce: Callable[[Ready], None]) -> None:
    """Serves until the process is told to end."""
    listening = listen(options.port)
    try:
        engine = engine_for(options)
        try:
            await _serve(options, announce, engine, listening)
        finally:
            await engine.close()
    finally:
        listening.close()
