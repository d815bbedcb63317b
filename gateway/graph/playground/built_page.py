"""A page that was built beforehand and is served from here, so that no request leaves the host.

The folder holds `index.html` and `assets/`, where each file is kept compressed, as `name.gz`.
"""

import asyncio
import gzip
import json
import mimetypes
import re
from collections.abc import Collection, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from gateway.graph.http.compression import GZIP, accepts_gzip

ASSETS: Final = "assets"

# an editor writes style attributes and brings its fonts along as data; everything else comes from this host
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "connect-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
# the name of an asset holds a hash of its content, so it never changes
_FOR_EVER: Final = "public, max-age=31536000, immutable"


def page_routes(path: str, folder: Path, told: Mapping[str, Any]) -> list[Route]:
    """`told` is what the page is told about this gateway; whoever can reach the page can read it."""
    content = json.dumps(told).encode()
    # INVARIANT: a name is looked up among these, never joined to a path.
    assets = {asset.name: asset for asset in (folder / ASSETS).iterdir()}

    async def page(request: Request) -> Response:
        headers = {**_HEADERS, "cache-control": "no-cache"}
        return FileResponse(folder / "index.html", headers=headers, media_type="text/html")

    async def config(request: Request) -> Response:
        return Response(content, headers={**_HEADERS, "cache-control": "no-store"}, media_type="application/json")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        packed = assets.get(f"{name}.gz")
        if packed is None:
            return Response("there is no such file", 404, headers=_HEADERS, media_type="text/plain")
        headers = {**_HEADERS, "cache-control": _FOR_EVER, "vary": "accept-encoding"}
        if accepts_gzip(request.headers.get("accept-encoding")):
            headers["content-encoding"] = GZIP
            return FileResponse(packed, headers=headers, media_type=_media_type(name))
        return Response(await asyncio.to_thread(_unpacked, packed), headers=headers, media_type=_media_type(name))

    return [
        Route(path, page),
        Route(f"{path}/", page),
        Route(f"{path}/config.json", config),
        Route(f"{path}/{ASSETS}/{{name}}", asset),
    ]


def _media_type(name: str) -> str:
    # the two that must be right are not left to what the machine's tables say
    known = {".js": "text/javascript", ".css": "text/css"}
    return known.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


# The page at `/`: where to go from here.

# nothing is loaded, nothing runs, nobody frames it
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_PAGES = ("playground", "demo", "metrics")


def landing_page(address: str | None = None, *, pages: Collection[str] = (), query: str = "") -> str:
    """With an address, the page of the sandbox; without one, no word about tokens and demo tenants.

    `pages` are the addresses of the other pages that are there, `query` is one to start with.
    """
    page = (files("gateway.graph.playground") / "landing.html").read_text()
    if address is None:
        page = _without("sandbox", page)
    for name in _PAGES:
        if f"/{name}" not in pages:
            page = _without(name, page)
    return page.replace("ADDRESS", address or "").replace("QUERY", escape(query, quote=False))


def _without(part: str, page: str) -> str:
    return re.sub(rf" *<!-- {part} -->.*?<!-- /{part} -->\n", "", page, flags=re.DOTALL)


# The page at `/playground`: GraphiQL, built beforehand and served from here.
#
# `playground/` at the root of the repository holds its sources; `npm run build` writes the folder that is served.

PATH: Final = "/playground"
FOLDER: Final = Path(str(files("gateway.graph.playground"))) / "built"


def playground_routes(told: Mapping[str, Any]) -> list[Route]:
    return page_routes(PATH, FOLDER, told)
