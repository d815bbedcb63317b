"""The examples in docs/errors: each page has one, and it has the form of a real answer with that code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Unavailable
from tests.graph.fixtures import MemoryEndpoint

PAGES = Path(__file__).parents[2] / "docs" / "errors"
CODES = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "README")
OPERATORS = {"CONFIGURATION", "MODEL", "POLICY"}  # their examples are lines of a terminal
TOKEN = {"Authorization": "Bearer acme/viewer"}
PLACE = """mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
  order { orderId } errors { code field message } } }"""
UPDATE = """mutation ($input: UpdateCategoryInput!) { updateCategory(input: $input) {
  category { title } errors { code field currentVersion message } } }"""
ADJUST = """mutation ($input: AdjustStockInput!) { adjustStock(input: $input) {
  stock { available } errors { code field message } } }"""
USER = '{ user(userId: "u-1001") { name } }'


def examples(code: str) -> list[str]:
    return re.findall(r"^```(?:json|text)\n(.*?)^```$", (PAGES / f"{code}.md").read_text(), re.MULTILINE | re.DOTALL)


def order(**changes: Any) -> dict[str, Any]:
    return {"input": {"userId": "u-1001", "lines": [{"productId": "p-1001", "quantity": 1}], **changes}}


OPERATIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "BAD_USER_INPUT": ("{ activeOrders(first: 500) { nodes { orderId } } }", {}, "viewer"),
    "FORBIDDEN": ('{ user(userId: "u-1001") { userId email } }', {}, "support"),
    "GRAPHQL_PARSE_FAILED": ("{ user(userId: }", {}, "viewer"),
    "GRAPHQL_VALIDATION_FAILED": ('{ user(userId: "u-1001") { nickname } }', {}, "viewer"),
    "LIMIT_EXCEEDED": ("{ " + " ".join(f"a{n}: __typename" for n in range(51)) + " }", {}, "viewer"),
    "NOT_FOUND": (PLACE, order(userId="nobody"), "editor"),
    "INVALID": (PLACE, order(lines=[]), "editor"),
    "OUT_OF_STOCK": (PLACE, order(lines=[{"productId": "p-1001", "quantity": 9}]), "editor"),
    "OUT_OF_RANGE": (ADJUST, {"input": {"productId": "p-1001", "by": 2**31 - 1}}, "editor"),
    "ALREADY_EXISTS": (PLACE, order(orderId="o-1001"), "editor"),
    "CONFLICT": (UPDATE, {"input": {"categoryId": "tools", "title": "T", "version": 7}}, "editor"),
}


def form(answer: Any) -> Any:
    """The answer without what differs from time to time."""
    if isinstance(answer, dict):
        return {name: form(value) for name, value in answer.items() if name not in ("message", "requestId")}
    return [form(value) for value in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("code", CODES)
def test_every_page_has_an_example(code: str) -> None:
    [example] = examples(code)
    if code not in OPERATORS:
        assert f'"{code}"' in json.dumps(json.loads(example))


@pytest.mark.parametrize("code", OPERATIONS)
async def test_an_operation_is_answered_as_the_example_says(api: MemoryEndpoint, code: str) -> None:
    api.change("TENANT#acme#PRODUCT#p-1001", "STOCK", available={"N": "3"})
    query, variables, role = OPERATIONS[code]
    answer = (await api.post(query, variables, f"acme/{role}")).json()
    assert form(answer) == form(json.loads(examples(code)[0]))


@pytest.mark.parametrize(
    ("code", "body", "headers"),
    [
        ("UNAUTHENTICATED", {"query": USER}, {}),
        ("BAD_REQUEST", [{"query": USER}], TOKEN),
        (
            "PERSISTED_QUERY_NOT_FOUND",
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}},
            TOKEN,
        ),
    ],
)
async def test_a_request_is_answered_as_the_example_says(
    api: MemoryEndpoint, code: str, body: Any, headers: dict[str, str]
) -> None:
    answer = (await api.client.post("/graphql", json=body, headers=headers)).json()
    assert form(answer) == form(json.loads(examples(code)[0]))


@pytest.mark.parametrize(("code", "error"), [("INTERNAL", ValueError("a bug")), ("UNAVAILABLE", Unavailable("down"))])
async def test_a_failure_is_answered_as_the_example_says(api: MemoryEndpoint, code: str, error: Exception) -> None:
    async def call(*given: Any, **named: Any) -> Any:
        raise error

    api.memory.call = call  # type: ignore[method-assign]  # a failing engine
    assert form((await api.post(USER)).json()) == form(json.loads(examples(code)[0]))
