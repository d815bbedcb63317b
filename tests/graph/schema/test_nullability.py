"""A root field that fails is null and names its error; the others keep their results, in lane and reference."""

import json
from dataclasses import replace
from typing import Any

import pytest
from graphql import GraphQLNonNull

from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import MemoryEndpoint, no_lanes

TOO_MANY = json.dumps([f"o-{each}" for each in range(101)])
FAILING = {
    "a list": "bad: activeOrders(first: -1) { nodes { orderId } }",
    "a list behind a choice": 'bad: ordersOfUser(userId: "u-1001", after: "no cursor") { nodes { orderId } }',
    "several at once": f"bad: orders(orderIds: {TOO_MANY}) {{ orderId }}",
    "global ids": f"bad: nodes(ids: {TOO_MANY}) {{ id }}",
}


def test_every_field_of_the_query_is_nullable(api: MemoryEndpoint) -> None:
    query = core_schema(api.served.schema).query_type
    assert query is not None
    assert not [name for name, field in query.fields.items() if isinstance(field.type, GraphQLNonNull)]


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
async def test_a_failing_root_field_leaves_the_others_alone(api: MemoryEndpoint, failing: str, lanes: bool) -> None:
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    good = '{ product(productId: "p-1001") { title } categories(first: 2) { nodes { title } } %s }'
    alone: dict[str, Any] = (await api.post(good % "")).json()["data"]
    answer = (await api.post(good % failing)).json()
    assert answer["data"] == {**alone, "bad": None}
    [error] = answer["errors"]
    assert error["path"] == ["bad"]
    assert alone["categories"]["nodes"]
