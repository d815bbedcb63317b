"""The loader of items: failures are kept, tasks end with their request, nothing is left to the collector."""

import asyncio
import gc

import pytest

from gateway.errors import Unavailable
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.reference.item_loader import RequestTasks, weak_method
from gateway.graph.query.reference.reader import Reader
from gateway.store.rows import Item
from tests.graph.fixtures import MemoryEndpoint

QUERIES = {
    "items": '{ product(productId: "p-1001") { title stock { available } } }',
    "pages": "{ activeOrders(first: 5) { nodes { orderId user { name } lines { product { title } } } } }",
    "an item with a collection": '{ user(userId: "u-1001") { name orders(first: 2) { nodes { orderId } } } }',
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.usefixtures("frozen_heap")
async def test_an_answer_leaves_nothing_to_the_collector(api: MemoryEndpoint, query: str) -> None:
    await api.ask(query)
    gc.collect()
    gc.disable()
    # what other tests have left may be frozen, so that it is never collected
    before = {id(each) for each in gc.get_objects() if isinstance(each, Reader | LaneRequest)}
    try:
        await api.ask(query)
        assert not [
            each for each in gc.get_objects() if isinstance(each, Reader | LaneRequest) and id(each) not in before
        ]
    finally:
        gc.enable()


async def test_an_item_that_could_not_be_read_is_not_tried_again_and_others_are(
    reader: Reader, api: MemoryEndpoint
) -> None:
    calls = 0

    async def call(operation: str, *given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        raise Unavailable("aws is not reachable")

    api.memory.call = call  # type: ignore[method-assign,assignment]  # a failing engine
    for product in ("p-1001", "p-1001", "p-1002"):
        with pytest.raises(Unavailable):
            await reader.item(reader.model.lookup("product"), {"productId": product}, frozenset({"title"}))
    assert calls == 2


async def test_a_damaged_row_fails_the_fields_that_need_it_and_no_others(reader: Reader, api: MemoryEndpoint) -> None:
    lookup, title = reader.model.lookup("product"), frozenset({"title"})
    key = ("TENANT#acme#PRODUCT#p-1001", "DETAILS")
    api.memory.rows[key] = {**api.memory.rows[key], "EntityType": {"S": "Teapot"}}
    results = await asyncio.gather(
        *(reader.item(lookup, {"productId": product}, title) for product in ("p-1001", "p-1002")),
        return_exceptions=True,
    )
    assert isinstance(results[0], Exception)
    assert isinstance(results[1], Item)


async def test_tasks_end_with_their_request() -> None:
    tasks = RequestTasks()
    running = asyncio.ensure_future(asyncio.Event().wait())
    tasks.track(running)
    tasks.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(asyncio.CancelledError):
        tasks.track(None)


class Source:
    async def load(self, number: int) -> int:
        return number + 1


async def test_a_weak_method_works_as_long_as_its_object_lives() -> None:
    source = Source()
    load = weak_method(source.load)
    assert await load(1) == 2
    del source
    with pytest.raises(asyncio.CancelledError):
        await load(1)
