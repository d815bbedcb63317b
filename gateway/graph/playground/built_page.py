"""The HTML pages: GraphiQL and other front ends, built in advance and served from this host, and the landing page.

The folder of a built page has an `index.html` and `assets/`, in which every file is compressed, as `name.gz`.
"""

import asyncio
import gzip
import json
import mimetypes
import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from gateway.graph.http.compression import GZIP, accepts_gzip

ASSETS: Final = "assets"

# the editor writes style attributes and embeds its fonts as data; everything else comes from this host
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
# the name of an asset includes a hash of its content, so the content never changes
_IMMUTABLE: Final = "public, max-age=31536000, immutable"


def page_routes(path: str, folder: Path, config: Mapping[str, Any]) -> list[Route]:
    """`config` is public: anyone who can reach the page can read it at `config.json`."""
    content = json.dumps(config).encode()
    # INVARIANT: a requested name is looked up in this dict and never joined to a path.
    assets = {asset.name: asset for asset in (folder / ASSETS).iterdir()}

    async def with_slash(request: Request) -> Response:
        # the addresses in the page are relative to its folder, and this one to the folder above
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{path.removeprefix('/')}/{query}", headers={**_HEADERS, "cache-control": "no-cache"})

    async def page(request: Request) -> Response:
        headers = {**_HEADERS, "cache-control": "no-cache"}
        return FileResponse(folder / "index.html", headers=headers, media_type="text/html")

    async def config_file(request: Request) -> Response:
        return Response(content, headers={**_HEADERS, "cache-control": "no-store"}, media_type="application/json")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        compressed = assets.get(f"{name}.gz")
        if compressed is None:
            return Response("there is no such file", 404, headers=_HEADERS, media_type="text/plain")
        headers = {**_HEADERS, "cache-control": _IMMUTABLE, "vary": "accept-encoding"}
        if accepts_gzip(request.headers.get("accept-encoding")):
            headers["content-encoding"] = GZIP
            return FileResponse(compressed, headers=headers, media_type=_media_type(name))
        return Response(
            await asyncio.to_thread(_decompressed, compressed), headers=headers, media_type=_media_type(name)
        )

    return [
        Route(path, with_slash),
        Route(f"{path}/", page),
        Route(f"{path}/config.json", config_file),
        Route(f"{path}/{ASSETS}/{{name}}", asset),
    ]


def _media_type(name: str) -> str:
    # scripts and styles must have the right type, whatever the machine's MIME tables say
    fixed = {".js": "text/javascript", ".css": "text/css"}
    return fixed.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def _decompressed(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


# The landing page at `/`.

# it loads nothing, runs no script and cannot be framed
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_PAGES = ("playground", "demo", "metrics")


def landing_page(
    address: str | None = None,
    *,
    pages: Collection[str] = (),
    query: str = "",
    tenants: Sequence[str] = ("acme", "globex"),
    token: str = "",
) -> str:
    """With an address, the page of the sandbox, with demo tenants and a token; without one, the page of production.

    `pages` are the paths of the other pages that are served, `query` is an example query, `tenants` are the ids of
    two or more demo tenants, and `token` is the command that prints a token of the first.
    """
    page = (files("gateway.graph.playground") / "landing.html").read_text()
    if address is None:
        page = _without("sandbox", page)
    for name in _PAGES:
        if f"/{name}" not in pages:
            page = _without(name, page)
    names = ", ".join(f"<code>{name}</code>" for name in tenants)
    values = {"ADDRESS": address or "", "TENANTS": names, "COMMAND": escape(token), "SECOND": tenants[1]}
    for word, text in values.items():
        page = page.replace(word, text)
    return page.replace("QUERY", escape(query, quote=False))


def _without(part: str, page: str) -> str:
    return re.sub(rf" *<!-- {part} -->.*?<!-- /{part} -->\n", "", page, flags=re.DOTALL)


# The page at `/playground`: GraphiQL. Its sources are in `playground/` at the root of the repository, and
# `make playground` builds the folder that is served.

PATH: Final = "/playground"
FOLDER: Final = Path(str(files("gateway.graph.playground"))) / "built"


def playground_routes(config: Mapping[str, Any]) -> list[Route]:
    return page_routes(PATH, FOLDER, config)
