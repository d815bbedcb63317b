"""Mutations that run without graphql-core answer as those that run with it, and each runs once."""

from typing import Any

import pytest

from gateway.graph.query.reference import direct_mutation
from gateway.graph.query.reference.direct_mutation import DirectMutation
from gateway.graph.query.reference.executor import Execution
from tests.graph.fixtures import MemoryEndpoint

UPDATE = "mutation ($input: UpdateCategoryInput!) { updateCategory(input: $input) { %s errors { code message } } }"
PRODUCT = "mutation ($input: CreateProductInput!) { made: createProduct(input: $input) { %s errors { message } } }"
CATEGORY = {"categoryId": "tools", "title": "Renamed"}
NEW = {"productId": "p-new", "title": "New", "price": "1.50", "currency": "EUR", "categoryId": "tools"}

# document, variables, role, and whether graphql-core has to write the answer
CASES: dict[str, tuple[str, dict[str, Any], str, bool]] = {
    "an update": (UPDATE % "category { categoryId title version }", CATEGORY, "editor", False),
    "aliases, fragments and type names": (
        UPDATE % "__typename c: category { ...F } again: category { __typename v: version }"
        + " fragment F on Category { t: title t: title }",
        CATEGORY,
        "editor",
        False,
    ),
    "an input that is refused": (UPDATE % "category { title }", {"categoryId": "tools", "title": ""}, "editor", True),
    "an item that is not there": (UPDATE % "category { title }", {**CATEGORY, "categoryId": "no"}, "editor", True),
    "a role that may not": (UPDATE % "category { title }", CATEGORY, "viewer", True),
    "a new item": (PRODUCT % "product { productId price currency description }", NEW, "editor", False),
    "a reference in the payload": (PRODUCT % "product { productId category { title } }", NEW, "editor", True),
    "a global id in the payload": (PRODUCT % "product { id title }", NEW, "editor", True),
}


async def _answer(query: str, given: dict[str, Any], role: str) -> tuple[Any, list[str]]:
    """What the caller gets, and the calls that were made for it."""
    api = MemoryEndpoint()
    content = (await api.post(query, {"input": given}, token=f"acme/{role}")).json()
    for error in content.get("errors", ()):
        del error["extensions"]["requestId"]
    content.pop("extensions", None)  # a consistency token, which is never the same
    return content, api.calls


@pytest.mark.parametrize("case", CASES)
async def test_a_direct_mutation_answers_as_graphql_core_does(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, given, role, by_graphql_core = CASES[case]
    written: list[bool] = []
    run = DirectMutation.run

    async def seen(self: DirectMutation, *arguments: Any) -> Any:
        found = await run(self, *arguments)
        written.append(isinstance(found, dict))
        return found

    monkeypatch.setattr(DirectMutation, "run", seen)
    direct = await _answer(query, given, role)
    assert (written == [True]) is not by_graphql_core
    monkeypatch.setattr(Execution, "direct", lambda *arguments: None)
    assert direct == await _answer(query, given, role)


async def test_a_mutation_whose_payload_is_left_to_graphql_core_is_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query, given, role, _ = CASES["an update"]
    expected = await _answer(query, given, role)
    monkeypatch.setattr(direct_mutation, "_value", lambda *arguments: direct_mutation._never)
    assert await _answer(query, given, role) == expected
    assert expected[1] == ["GetItem", "TransactWriteItems"]
