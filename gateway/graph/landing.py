"""The page at `/`: where to go from here."""

import re
from collections.abc import Collection
from importlib.resources import files

_PAGES = ("playground", "demo", "metrics")


def landing_page(address: str | None = None, *, pages: Collection[str] = ()) -> str:
    """With an address, the page of the sandbox; without one, no word about tokens and demo tenants.

    `pages` are the addresses of the other pages that are there.
    """
    page = (files("gateway.graph") / "landing.html").read_text()
    if address is None:
        page = _without("sandbox", page)
    for name in _PAGES:
        if f"/{name}" not in pages:
            page = _without(name, page)
    return page.replace("ADDRESS", address or "")


def _without(part: str, page: str) -> str:
    return re.sub(rf" *<!-- {part} -->.*?<!-- /{part} -->\n", "", page, flags=re.DOTALL)
