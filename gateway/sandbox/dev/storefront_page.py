"""The page at `/demo`: a shop's order desk, the example of a front end, signed in with tokens of the sandbox's issuer.

`examples/storefront` at the root of the repository holds its sources; `npm run build` writes the folder that is served.
INVARIANT: only a gateway whose environment is the sandbox has this page.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.routing import Route

from gateway.graph.playground.built_page import page_routes

PATH: Final = "/demo"
FOLDER: Final = Path(str(files("gateway.sandbox.dev"))) / "storefront"


def storefront_routes(offered: Mapping[str, Any]) -> list[Route]:
    """`offered` are the tenants and roles to sign in as, and where their tokens come from."""
    return page_routes(PATH, FOLDER, offered)
