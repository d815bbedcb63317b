"""The example of docs/bulk.md runs, and its answer is what the page shows."""

import json
import re
from pathlib import Path

from tests.graph.fixtures import MemoryEndpoint

PAGE = (Path(__file__).parents[3] / "docs" / "bulk.md").read_text(encoding="utf-8")


async def test_the_example_of_the_page(api: MemoryEndpoint) -> None:
    [query] = re.findall(r"```graphql\n(.*?)```", PAGE, re.DOTALL)
    [answer] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert await api.ask(query, token="acme/admin") == json.loads(answer)
