"""The page at `/demo`: an example front end for a shop, signed in with tokens of the sandbox's issuer.

Its source is `examples/storefront` in the repository; `npm run build` writes the folder that is served.
INVARIANT: only a gateway in the sandbox environment has this page.
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
    """`offered` has the tenants and roles to sign in with, and the address of their tokens."""
    return page_routes(PATH, FOLDER, offered)
