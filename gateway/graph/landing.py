"""The page at `/`: where to go from here."""

import re
from importlib.resources import files


def landing_page(address: str | None = None) -> str:
    """With an address, the page of the sandbox; without one, no word about tokens and demo tenants."""
    page = (files("gateway.graph") / "landing.html").read_text()
    if address is None:
        return re.sub(r"<!-- sandbox -->.*<!-- /sandbox -->", "", page, flags=re.DOTALL)
    return page.replace("ADDRESS", address)
