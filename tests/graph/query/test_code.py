"""Fields with code are answered alike in lanes and by the reference: values, refusals, failures, calls and prices."""

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from gateway.graph.http.endpoint import EndpointLimits
from gateway.graph.query.caller_reader import CallerReader
from gateway.graph.query.price import CostLimits
from gateway.model.code import Loaded
from gateway.model.types import Integer
from tests.graph.fixtures import MemoryEndpoint, ServedModel, no_lanes
from tests.graph.query.coded_shop import calls, coded_model, coded_shop, served_model

USERS = "{ users(userIds: [%s]) { userId %s } }"


def api_for(kind: str, served: ServedModel | None = None, **more: Any) -> MemoryEndpoint:
    api = MemoryEndpoint(served=served or coded_shop(), **more)
    if kind == "reference":
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


@pytest.fixture(params=["lane", "reference"])
def api(request: pytest.FixtureRequest) -> MemoryEndpoint:
    calls.clear()
    return api_for(request.param)


def users(fields: str, *ids: str) -> str:
    return USERS % (", ".join(f'"{each}"' for each in ids), fields)


async def test_a_computed_field_reads_what_it_needs_and_nothing_else(api: MemoryEndpoint) -> None:
    data = await api.ask('{ orderLine(orderId: "o-1001", productId: "p-1005") { lineTotal } }')
    assert data["orderLine"] is None or set(data["orderLine"]) == {"lineTotal"}
    [(_, body)] = api.memory.sent
    names = set(body["ExpressionAttributeNames"].values())
    assert names == {"EntityType", "PK", "SK", "ttl", "quantity", "unitPrice"}


PLACES = {
    "a lookup": '{ order(orderId: "o-1001") { season } }',
    "many at once": '{ orders(orderIds: ["o-1001", "o-1002"]) { season } }',
    "a listing": "{ activeOrders(first: 3) { nodes { season } edges { node { season } } } }",
    "an item with its collection": '{ order(orderId: "o-1001") { season lines { lineTotal } } }',
    "members of a collection": "{ activeOrders(first: 2) { nodes { lines { lineTotal } } } }",
    "a page of a collection": '{ user(userId: "u-1001") { orders(first: 2) { nodes { season inStock } } } }',
    "a reference": "{ activeOrders(first: 3) { nodes { user { initials } } } }",
    "a struct with arguments": '{ user(userId: "u-1001") { card(word: "Hello") { title words since } } }',
    "a set": '{ productsByCategory(categoryId: "tools", first: 5) { nodes { loudTags } } }',
    "a custom query": "{ bestUsers(first: 3) { name initials orders(first: 1) { nodes { season } } } }",
    "a custom query with one item": '{ firstOrder(orderId: "o-1001") { season user { initials } } }',
    "scalars and structs of custom queries": "{ greetings(count: 2) ownCard { title words } }",
}


@pytest.mark.parametrize("query", PLACES.values(), ids=PLACES)
async def test_both_executors_answer_the_same(query: str) -> None:
    lane, reference = api_for("lane"), api_for("reference")
    found = await lane.ask(query)
    assert found == await reference.ask(query)
    assert "None" not in str(found)
    custom = any(name in query for name in ("bestUsers", "firstOrder", "greetings"))
    assert lane.lanes == ({"reference": 1} if custom else {"lane": 1})


async def test_a_computed_field_of_a_mutations_item_and_of_a_node(api: MemoryEndpoint) -> None:
    data = await api.ask('{ user(userId: "u-1001") { id } }')
    node = await api.ask("query ($id: ID!) { node(id: $id) { ... on User { initials } } }", {"id": data["user"]["id"]})
    changed = await api.ask(
        'mutation { updateUser(input: {userId: "u-1001", name: "Zoe"}) { user { initials score(factor: 3) } } }',
        token="acme/editor",
    )
    assert len(node["node"]["initials"]) == 1
    assert changed["updateUser"]["user"] == {"initials": "Z", "score": 18}


async def test_a_field_that_needs_what_the_role_may_not_read_is_refused_as_that_is(api: MemoryEndpoint) -> None:
    query = '{ user(userId: "u-1001") { userId name initials card { title } score(factor: 3) } }'
    answer = (await api.post(query, token="acme/support")).json()
    assert answer["data"]["user"] == {"userId": "u-1001", "name": None, "initials": None, "card": None, "score": 18}
    assert [error["path"] for error in answer["errors"]] == [["user", each] for each in ("card", "initials", "name")]
    assert {error["message"] for error in answer["errors"]} == {"the role `support` may not read `name`"}
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}


async def test_code_that_fails_is_an_error_of_its_field_alone(
    api: MemoryEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "gateway.failure"):
        answer = (await api.post(users("fragile", "u-1001", "u-1003", "u-1005"))).json()
    assert [user["fragile"] for user in answer["data"]["users"]] == [6, None, None]
    assert [error["path"] for error in answer["errors"]] == [["users", 1, "fragile"], ["users", 2, "fragile"]]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"INTERNAL"}
    assert "not liked" not in str(answer)
    assert "ValueError: this user is not liked" in caplog.text
    assert "`fragile` of User returned a value that is not of its type" in caplog.text
    assert len(caplog.records) == 2


async def test_a_row_of_a_load_fails_alone(api: MemoryEndpoint) -> None:
    answer = (await api.post(users("score(factor: 3)", "u-1001", "u-1004", "u-1006"))).json()
    assert [user["score"] for user in answer["data"]["users"]] == [18, None, None]
    assert [error["path"] for error in answer["errors"]] == [["users", 1, "score"], ["users", 2, "score"]]
    assert calls == [("score", 3)], "a lane that falls back does not load again"


@pytest.mark.parametrize("factor", [48, 2], ids=["it raises", "it returns too few"])
async def test_a_load_that_fails_is_called_once(api: MemoryEndpoint, factor: int) -> None:
    answer = (await api.post(users(f"score(factor: {factor})", "u-1001", "u-1002"))).json()
    assert [user["score"] for user in answer["data"]["users"]] == [None, None]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"INTERNAL"}
    assert calls == [("score", 2)]


async def test_a_loaded_field_over_many_rows_is_one_call(api: MemoryEndpoint) -> None:
    query = "{ ordersByStatus(status: DELIVERED, first: 25) { nodes { orderId inStock again: inStock } } }"
    data = await api.ask(query)
    assert len(data["ordersByStatus"]["nodes"]) == 25
    assert [name for name, _ in calls] == ["inStock"]
    assert calls[0][1] <= 25
    assert Counter(api.calls) == {"Query": 4, "BatchGetItem": 1}


async def test_parents_of_several_pages_are_one_call(api: MemoryEndpoint) -> None:
    ids = ", ".join(f'"u-10{number:02}"' for number in range(1, 9))
    await api.ask(f"{{ users(userIds: [{ids}]) {{ orders(first: 3) {{ nodes {{ inStock }} }} }} }}")
    assert [name for name, _ in calls] == ["inStock"]


async def test_other_arguments_are_another_call(api: MemoryEndpoint) -> None:
    await api.ask(users("a: score(factor: 3) b: score(factor: 5) c: score(factor: 3)", "u-1001", "u-1002"))
    assert sorted(calls) == [("score", 2), ("score", 2)]


async def test_an_argument_that_is_not_of_its_type_is_the_callers_error(api: MemoryEndpoint) -> None:
    answer = (await api.post('{ user(userId: "u-1001") { userId card(word: "%s") { title } } }' % ("x" * 21))).json()
    assert answer["data"]["user"] == {"userId": "u-1001", "card": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["BAD_USER_INPUT"]


async def test_variables_fill_arguments(api: MemoryEndpoint) -> None:
    query = 'query ($f: Int!, $w: String) { user(userId: "u-1001") { score(factor: $f) card(word: $w) { title } } }'
    found = [(await api.ask(query, {"f": factor, "w": "Hi"}))["user"] for factor in (3, 5)]
    assert [user["score"] for user in found] == [18, 30]
    assert found[0]["card"]["title"].startswith("Hi ")


async def test_a_query_that_returns_more_than_it_declares_is_refused(api: MemoryEndpoint) -> None:
    answer = (await api.post("{ greetings(count: 25) ownCard { title } }")).json()
    assert answer["data"] == {"greetings": None, "ownCard": {"title": "ada"}}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INTERNAL"]


async def estimate(query: str) -> float:
    api = api_for("lane")
    answer = await api.post(query, extensions={"cost": True})
    found: float = answer.json()["extensions"]["cost"]["estimate"]
    return found


async def test_a_computed_field_costs_nothing_and_a_loaded_one_what_it_declares() -> None:
    plain = await estimate(users("name", "u-1001", "u-1002"))
    assert await estimate(users("initials", "u-1001", "u-1002")) == plain
    assert await estimate(users("score(factor: 3)", "u-1001", "u-1002")) == plain + 2 * 2
    item = await estimate('{ order(orderId: "o-1001") { status lines { title } } }')
    assert await estimate('{ order(orderId: "o-1001") { inStock lines { title } } }') == item + 1


async def test_a_custom_query_costs_what_it_declares_and_what_is_read_for_its_items() -> None:
    assert await estimate("{ greetings }") == 1
    assert await estimate("{ bestUsers { name } }") == 9
    assert await estimate("{ bestUsers { score(factor: 3) } }") == 9 + 100 * 2
    refused = api_for("lane", cost_limits=CostLimits(units=8))
    answer = (await refused.post("{ bestUsers { name } }")).json()
    assert answer["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


@pytest.fixture(scope="module")
def slow_shop() -> tuple[ServedModel, list[asyncio.Event]]:
    """With a load that takes an hour, and sets the last of these events when it ends."""
    ended: list[asyncio.Event] = []

    async def never(reader: CallerReader, rows: list[Any]) -> list[Any]:
        try:
            await asyncio.sleep(3_600)
        finally:
            ended[-1].set()
        return []

    slow = Loaded("slow", Integer(), "It takes long.", needs=("userId",), load=never)
    return served_model(coded_model(more={"User": {"loaded": (slow,)}})), ended


@pytest.mark.parametrize("kind", ["lane", "reference"])
async def test_a_load_ends_with_its_request(slow_shop: tuple[ServedModel, list[asyncio.Event]], kind: str) -> None:
    served, events = slow_shop
    ended = asyncio.Event()
    events.append(ended)
    api = api_for(kind, served, limits=EndpointLimits(seconds=0.3))
    answer = await api.post('{ user(userId: "u-1001") { name slow } }')
    assert answer.json()["errors"][0]["extensions"]["code"] == "TIMEOUT"
    await asyncio.wait_for(ended.wait(), 5)


@pytest.mark.parametrize("kind", ["lane", "reference"])
async def test_code_that_was_called_is_explained(kind: str) -> None:
    api = api_for(kind, explain=True)
    query = '{ users(userIds: ["u-1001", "u-1002"]) { score(factor: 3) } %s }'
    query %= "ownCard { title }" if kind == "reference" else ""
    answer = await api.post(query, extensions={"explain": True})
    code = answer.json()["extensions"]["explain"]["code"]
    called = {(each["field"], each["rows"]) for each in code}
    assert called == {("User.score", 2), *([("Query.ownCard", 1)] if kind == "reference" else [])}
