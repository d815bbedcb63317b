"""The queries of docs/lists.md run, in a lane and on the demo's data."""

import re
from pathlib import Path

import pytest

from tests.graph.fixtures import MemoryEndpoint

PAGE = (Path(__file__).parents[3] / "docs" / "lists.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```graphql\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("query", QUERIES)
async def test_the_queries_of_the_page_answer_something(api: MemoryEndpoint, query: str) -> None:
    for page in (await api.ask(query, token="acme/admin")).values():
        assert page["nodes"]
    assert api.lanes == {"lane": 1}
