"""Estimates rest on sizes as they are: items that are larger than declared are expensive once they were seen."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.graph.query.price import CostLimits
from gateway.model.tenant import tenant_id
from gateway.store.item_sizes import SizedPlace
from tests.graph.fixtures import MemoryEndpoint, no_lanes

NOTES = "query ($id: ID!) { ordersOfUser(userId: $id, first: 6) { nodes { orderId note } } }"
ORDERS = "query ($id: ID!) { ordersOfUser(userId: $id, first: 6) { nodes { orderId } } }"


def large_notes(api: MemoryEndpoint) -> str:
    """Six orders of a user, in their copies under the user, have notes of 285 kB."""
    copies = [row for row in api.memory.rows.values() if row.get("CopyOf", {}).get("S") == "byUser"]
    order = next(row for row in copies if row["PK"]["S"].startswith("TENANT#acme#USER#"))
    large = {**order, "note": {"S": "x" * 285_000}}
    api.memory.put([{**large, "SK": {"S": f"ORDER#2099-01-0{n}T00:00:00.000000Z#o-{n}"}} for n in range(1, 7)])
    user: str = order["userId"]["S"]
    return user


async def extensions_of(api: MemoryEndpoint, query: str, user: str, token: str = "acme/viewer") -> dict[str, Any]:
    response = await api.post(query, {"id": user}, token, extensions={"cost": True, "explain": True})
    extensions: dict[str, Any] = response.json()["extensions"]
    return extensions


async def cost(api: MemoryEndpoint, query: str, user: str, token: str = "acme/viewer") -> dict[str, Any]:
    found: dict[str, Any] = (await extensions_of(api, query, user, token))["cost"]
    return found


@pytest.mark.parametrize("lanes", [True, False])
async def test_six_orders_with_large_notes_are_not_priced_as_declared_once_they_were_read(lanes: bool) -> None:
    api = MemoryEndpoint()
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    usual = (await cost(api, ORDERS, "nobody"))["estimate"]
    assert usual <= 2
    user = large_notes(api)
    first = await cost(api, NOTES, user)
    assert first["estimate"] == usual, "nothing tells before they are read"
    assert first["actual"] > 100
    await cost(api, NOTES, user)
    # DynamoDB bills whole items, so the price does not depend on what is selected
    for query in (NOTES, ORDERS):
        again = await cost(api, query, user)
        assert 0.5 * again["actual"] < again["estimate"] < 1.5 * again["actual"]
    assert (await cost(api, ORDERS, user, "globex/viewer"))["estimate"] == usual, "another tenant's are as declared"


async def test_the_limit_and_the_explanation_know_what_was_learned() -> None:
    api = MemoryEndpoint(explain=True, cost_limits=CostLimits(units=50))
    user = large_notes(api)
    assert "errors" not in (await api.post(NOTES, {"id": user})).json()
    refused = (await api.post(NOTES, {"id": user})).json()
    assert refused["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    explained = (await extensions_of(api, "query ($id: ID!) { user(userId: $id) { userId } }", user))["explain"]
    [size] = explained["sizes"]
    assert (size["entity"], size["index"]) == ("Order", None)
    assert size["learned"] > 100_000 > 10 * size["declared"]


async def test_a_large_item_that_was_written_is_known(api: MemoryEndpoint) -> None:
    sizes = api.endpoint.reference.table.sizes
    author = next(row for row in api.memory.rows.values() if row["EntityType"]["S"] == "Author")
    mutation = """mutation ($author: ID!, $text: String!) {
      createDraft(input: { authorId: $author, title: "Large", content: $text, category: "news" }) {
        errors { message } } }"""
    noise = "".join(chr(0x4E00 + (number * 7_919) % 20_000) for number in range(40_000))
    for text, tenants in (("x" * 150_000, []), (noise, ["acme"])):  # the first is stored compressed, and small
        variables = {"author": author["authorId"]["S"], "text": text}
        assert await api.ask(mutation, variables, token="acme/admin") == {"createDraft": {"errors": []}}
        assert list(sizes.known) == tenants
    assert sizes.known[tenant_id("acme")][SizedPlace("Draft")] > 10_000
