"""What a request has read goes with its answer, and not when the collector comes by."""

import gc

import pytest

from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.reference.reader import Reader
from tests.graph.fixtures import World

QUERIES = {
    "items": '{ product(productId: "p-1001") { title stock { available } } }',
    "pages": "{ activeOrders(first: 5) { nodes { orderId user { name } lines { product { title } } } } }",
    "an item with a collection": '{ user(userId: "u-1001") { name orders(first: 2) { nodes { orderId } } } }',
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
async def test_an_answer_leaves_nothing_to_the_collector(world: World, query: str) -> None:
    await world.ask(query)
    gc.collect()
    gc.disable()
    # what other tests have left may be frozen, so that it is never collected
    before = {id(each) for each in gc.get_objects() if isinstance(each, Reader | LaneRequest)}
    try:
        await world.ask(query)
        assert not [
            each for each in gc.get_objects() if isinstance(each, Reader | LaneRequest) and id(each) not in before
        ]
    finally:
        gc.enable()
