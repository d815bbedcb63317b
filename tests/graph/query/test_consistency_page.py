"""The queries of docs/consistency.md run, in a lane and on the demo's data."""

import re
from pathlib import Path
from typing import get_args

import pytest

from gateway.demo import MODEL
from gateway.graph.http.consistency import CONSISTENCY, CONSISTENCY_HEADER
from gateway.model.patterns import Lag, Listing, Lookup
from gateway.store.consistency_token import TOKEN_SECONDS
from gateway.store.own_writes import MOST_ITEMS
from tests.graph.fixtures import MemoryEndpoint

PAGE = (Path(__file__).parents[3] / "docs" / "consistency.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```graphql\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("query", QUERIES)
async def test_the_queries_of_the_page_answer_something(api: MemoryEndpoint, query: str) -> None:
    assert all((await api.ask(query, token="acme/admin")).values())
    assert api.lanes == {"lane": 1}


def test_the_page_names_what_the_code_does() -> None:
    for name in (CONSISTENCY_HEADER, f"extensions.{CONSISTENCY}", f"up to {MOST_ITEMS} items", *get_args(Lag)):
        assert name in PAGE
    assert TOKEN_SECONDS == 300
    assert "After five minutes" in " ".join(PAGE.split())


def test_the_declarations_of_the_page_are_those_of_the_demo() -> None:
    for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        shown = eval(text, {"Lookup": Lookup, "Listing": Listing})  # noqa: S307  the project's own page
        declared = MODEL.patterns[shown.name]
        assert (shown.entity, shown.consistent) == (declared.entity, getattr(declared, "consistent", None))
        assert getattr(shown, "lag", None) == getattr(declared, "lag", None)
