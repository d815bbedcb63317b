"""`extensions.explain`: what an operation did, for requests that ask for it where it is allowed, without any value."""

import asyncio
import re
from typing import Any

import orjson
import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.graph.http.endpoint import EndpointLimits
from gateway.model.demo import Example
from tests.fixtures import EXAMPLES
from tests.graph.fixtures import MemoryEndpoint

ORDERS = "{ activeOrders(first: 3) { nodes { orderId user { name } lines { title } } } }"
USER = '{ user(userId: "u-1001") { name createdAt } }'


async def answer(
    api: MemoryEndpoint, query: str, token: str = "acme/viewer", extensions: Any = None, **variables: Any
) -> Any:
    return (await api.post(query, variables, token, extensions=extensions or {"explain": True})).json()


async def explained(api: MemoryEndpoint, query: str, token: str = "acme/viewer") -> Any:
    return (await answer(api, query, token))["extensions"]["explain"]


@pytest.fixture
def api() -> MemoryEndpoint:
    return MemoryEndpoint(explain=True)


@pytest.mark.parametrize("extensions", [{}, {"explain": False}, {"explain": "true"}, {"explain": 1}, {"other": True}])
async def test_a_request_that_does_not_ask_for_it_gets_no_explanation(
    api: MemoryEndpoint, extensions: dict[str, Any]
) -> None:
    assert "extensions" not in await answer(api, USER, extensions={"x": 1, **extensions})


async def test_where_it_is_off_asking_does_not_help() -> None:
    api = MemoryEndpoint(explain=False)
    assert "extensions" not in await answer(api, USER)


async def test_every_call_is_reported_with_what_allowed_it(api: MemoryEndpoint) -> None:
    explanation = await explained(api, ORDERS)
    assert (explanation["tenant"], explanation["role"]) == ("acme", "viewer")
    assert [(call["operation"], call["index"]) for call in explanation["calls"]] == [("Query", "GSI3")] * 4 + [
        ("BatchGetItem", None)
    ] * 2
    for call in explanation["calls"]:
        assert call["source"] == "table"
        assert call["capacity"] > 0
        assert call["durationMs"] >= 0
        assert {name.partition("/")[0] for name in call["allowedBy"]} == {"identity", "session", "boundary"}
    assert [call["touched"] for call in explanation["calls"][:2]] == [
        [{"partition": f"ACTIVE#{shard}", "sort": "all", "keys": 1}] for shard in (0, 1)
    ]


async def test_the_sums_are_those_of_the_calls(api: MemoryEndpoint) -> None:
    explanation = await explained(api, ORDERS)
    for name in ("keys", "items", "capacity"):
        assert explanation[name] == sum(call[name] for call in explanation["calls"])
    assert explanation["durationMs"] >= max(call["durationMs"] for call in explanation["calls"])


async def test_calls_that_ran_side_by_side_can_be_told_from_those_that_waited(api: MemoryEndpoint) -> None:
    calls = (await explained(api, ORDERS))["calls"]
    assert min(call["startMs"] for call in calls) == 0
    first_batch = min(call["startMs"] for call in calls if call["operation"] == "BatchGetItem")
    for call in calls[:4]:
        assert call["startMs"] + call["durationMs"] <= first_batch + 0.01
    assert calls[1]["startMs"] <= calls[0]["startMs"] + calls[0]["durationMs"]


async def test_policies_have_one_fingerprint_for_a_role(api: MemoryEndpoint) -> None:
    prints = [(await explained(api, USER, f"{tenant}/viewer"))["policies"] for tenant in ("acme", "globex")]
    assert prints[0] == prints[1] != (await explained(api, USER, "acme/support"))["policies"]


async def test_a_refused_field_is_reported_with_the_statement_that_denies_it(api: MemoryEndpoint) -> None:
    explanation = await explained(api, USER, "acme/support")
    [refused] = explanation["refused"]
    assert refused["what"] == "name"
    assert "`NeverHidden`" in refused["reason"]
    assert len(explanation["calls"]) == 1


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ('{ user(userId: "u-1001") { name } }', "GetItem"),
        ('{ users(userIds: ["u-1001", "u-1002"]) { name } }', "BatchGetItem"),
        ('{ user(userId: "u-1001") { name orders(first: 1) { nodes { orderId } } } }', "Query"),
        ('{ emailsOfUser(userId: "u-1001") { nodes { email } } }', "Query"),
    ],
)
async def test_a_refused_field_names_the_call_that_was_made(api: MemoryEndpoint, query: str, operation: str) -> None:
    explanation = await explained(api, query, "acme/support")
    assert [call["operation"] for call in explanation["calls"]] == [operation]
    [refused] = explanation["refused"]
    assert f"`dynamodb:{operation}`" in refused["reason"]


async def test_a_refused_call_is_reported_though_it_was_not_made(api: MemoryEndpoint) -> None:
    explanation = await explained(api, '{ userByPhone(phone: "+4930123456") { userId } }', "acme/support")
    assert explanation["calls"] == []
    assert [each["what"] for each in explanation["refused"]] == ["Query"]
    assert "4930123456" not in orjson.dumps(explanation).decode()


async def test_a_refused_change_is_reported(api: MemoryEndpoint) -> None:
    query = 'mutation { cancelOrder(input: {orderId: "o-1"}) { errors { code } } }'
    explanation = await explained(api, query, "acme/viewer")
    assert ([each["what"] for each in explanation["refused"]], explanation["calls"]) == (["PutItem"], [])


async def test_what_was_refused_twice_is_reported_once(api: MemoryEndpoint) -> None:
    query = '{ a: user(userId: "u-1001") { name } b: users(userIds: ["u-1002"]) { name createdAt } }'
    assert [each["what"] for each in (await explained(api, query, "acme/support"))["refused"]] == ["name"]


async def test_an_operation_that_fails_is_explained_too(api: MemoryEndpoint) -> None:
    api.memory.script["BatchGetItem"].append(ThroughputExceeded("slow down"))
    response = await answer(api, ORDERS)
    assert response["errors"]
    assert len(response["extensions"]["explain"]["calls"]) >= 4


async def test_an_operation_that_runs_out_of_time_is_explained_too() -> None:
    api = MemoryEndpoint(explain=True, limits=EndpointLimits(seconds=0.02))

    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(60)

    api.memory.call = never  # type: ignore[method-assign]  # a table that does not answer
    response = await answer(api, USER)
    assert response["errors"][0]["extensions"]["code"] == "TIMEOUT"
    assert response["extensions"]["explain"]["calls"] == []


async def test_what_never_ran_has_nothing_to_explain(api: MemoryEndpoint) -> None:
    for query in ("{", "{ nothing }"):
        assert "extensions" not in await answer(api, query)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
async def test_no_value_of_a_key_or_an_item_is_reported(api: MemoryEndpoint, example: Example) -> None:
    role = "admin" if example.query.startswith("mutation") else "viewer"
    response = await answer(api, example.query, f"acme/{role}", **example.variables)
    # a duration may happen to read like a price
    text = re.sub(r'"(startMs|durationMs)":[0-9.e-]+', "", orjson.dumps(response["extensions"]["explain"]).decode())
    values = set(_texts(response["data"])) | set(_texts(dict(example.variables)))
    # shards and time buckets are shown on purpose
    assert [value for value in values if len(value) > 3 and value in text] == []


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) and re.search(r"[^A-Za-z]", value) else []
