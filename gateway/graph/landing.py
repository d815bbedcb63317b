"""The page at `/`: where to go from here."""

import re
from collections.abc import Collection
from html import escape
from importlib.resources import files

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
    page = (files("gateway.graph") / "landing.html").read_text()
    if address is None:
        page = _without("sandbox", page)
    for name in _PAGES:
        if f"/{name}" not in pages:
            page = _without(name, page)
    return page.replace("ADDRESS", address or "").replace("QUERY", escape(query, quote=False))


def _without(part: str, page: str) -> str:
    return re.sub(rf" *<!-- {part} -->.*?<!-- /{part} -->\n", "", page, flags=re.DOTALL)
