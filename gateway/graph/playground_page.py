"""The page at `/playground`: GraphiQL, built beforehand and served from here.

`playground/` at the root of the repository holds its sources; `npm run build` writes the folder that is served.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.routing import Route

from gateway.graph.built_page import page_routes

PATH: Final = "/playground"
FOLDER: Final = Path(str(files("gateway.graph"))) / "playground"


def playground_routes(told: Mapping[str, Any]) -> list[Route]:
    return page_routes(PATH, FOLDER, told)
