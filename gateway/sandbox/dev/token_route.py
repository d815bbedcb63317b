"""Tokens for the playground and the demo's front end: the gateway forwards the request to the sandbox's issuer.

INVARIANT: only a gateway in the sandbox environment has this route. It answers only requests from this machine, and the
issuer signs only for demo tenants.
"""

import asyncio
import ipaddress
from collections.abc import Iterable
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import BadUserInput, GatewayError
from gateway.model.demo import DemoTenant
from gateway.model.role import Role
from gateway.sandbox.dev.issuer import PATH as ISSUER_PATH
from gateway.sandbox.dev.issuer import ask_for_token, small_body, token_request
from gateway.settings import Settings

TOKEN_PATH = "/sandbox/token"  # noqa: S105  an address


def sandbox_address(settings: Settings) -> str | None:
    """The address of the sandbox, or None if these settings are not for a sandbox."""
    if settings.environment != "sandbox":
        return None
    urls = (issuer.issuer for issuer in settings.issuers if issuer.issuer.startswith("http://"))
    return next((url.removesuffix(ISSUER_PATH) for url in urls if url.endswith(ISSUER_PATH)), None)


def switcher(settings: Settings, known: Iterable[DemoTenant], roles: Iterable[Role]) -> dict[str, Any]:
    """The tenants and roles that a page offers, and the address of their tokens."""
    served, weakest_first = settings.tenants, [*roles][::-1]
    tenants = [tenant for tenant in known if served is None or tenant.name in served]
    return {
        # relative to the page, so that the gateway can be mounted anywhere
        "tokens": f"..{TOKEN_PATH}",
        "tenants": [
            {"name": tenant.name, "title": tenant.title or tenant.name, "subjects": tenant.subjects}
            for tenant in tenants
        ],
        # a visitor starts with the first; those of one person come last
        "roles": [
            {"name": role.name, "description": role.description, "own": role.own}
            for role in sorted(weakest_first, key=attrgetter("own"))
        ],
    }


def token_route(address: str) -> Route:
    async def issue(request: Request) -> Response:
        if not _from_this_machine(request):
            return _answer(
                {"error": "tokens are issued only to this machine; use `gateway token` for another one"}, 403
            )
        if not _from_our_page(request):
            return _answer({"error": "tokens are issued only to pages of this gateway"}, 403)
        try:
            values = token_request(await small_body(request))
            requested = (values["tenant"], values["role"], values.get("subject"))
            token = await asyncio.to_thread(ask_for_token, address, *requested)
        except BadUserInput as error:
            return _answer({"error": error.message}, 400)
        except GatewayError as error:
            return _answer({"error": error.message}, 503)
        return _answer({"token": token})

    return Route(TOKEN_PATH, issue, methods=["POST"])


def _from_this_machine(request: Request) -> bool:
    try:
        peer = ipaddress.ip_address(request.client.host if request.client is not None else "")
    except ValueError:
        return False
    mapped = peer.ipv4_mapped if isinstance(peer, ipaddress.IPv6Address) else None
    return (mapped or peer).is_loopback


def _from_our_page(request: Request) -> bool:
    """Whether the request comes from a page of this gateway and not of another site, even one that resolves to this
    machine."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return False
    return _is_local(urlsplit(f"//{host}").hostname or "")


def _is_local(name: str) -> bool:
    """Whether it is localhost or an IP address; any other name may resolve to anything."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _answer(content: dict[str, str], status: int = 200) -> Response:
    return JSONResponse(content, status, headers={"cache-control": "no-store"})
