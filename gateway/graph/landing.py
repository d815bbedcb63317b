"""The page at `/`: where to go from here."""

import re
from importlib.resources import files


def landing_page(address: str | None = None, *, playground: bool = False) -> str:
    """With an address, the page of the sandbox; without one, no word about tokens and demo tenants."""
    page = (files("gateway.graph") / "landing.html").read_text()
    if address is None:
        page = _without("sandbox", page)
    if not playground:
        page = _without("playground", page)
    return page.replace("ADDRESS", address or "")


def _without(part: str, page: str) -> str:
    return re.sub(rf" *<!-- {part} -->.*?<!-- /{part} -->\n", "", page, flags=re.DOTALL)
