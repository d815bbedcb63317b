"""The reads of one request: batched, each made once, and bound to its tenant and role."""

import asyncio
from dataclasses import replace

import pytest

from gateway.errors import BadUserInput, Forbidden, LimitExceeded, Unavailable
from gateway.graph.query.reference.reader import Reader
from gateway.store.plan import Window
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.query.reference.conftest import MakeReader

NAME, TITLE = frozenset({"name"}), frozenset({"title"})


async def test_reads_of_one_turn_are_one_call_and_equal_reads_none(reader: Reader, api: MemoryEndpoint) -> None:
    product, category = reader.model.lookup("product"), reader.model.lookup("category")
    products = [{"productId": f"p-100{number}"} for number in (1, 2, 1)]
    items, again, other = await asyncio.gather(
        reader.items(product, products, TITLE),
        reader.item(product, {"productId": "p-1003"}, TITLE),
        reader.item(category, {"categoryId": "nothing"}, TITLE),
    )
    assert sorted(api.calls) == ["BatchGetItem", "GetItem"], "one for each entity"
    assert items[0] is items[2]
    assert again is not None
    assert other is None
    await reader.items(product, products, TITLE)
    assert len(api.calls) == 2


async def test_more_attributes_of_a_known_item_are_read_with_those_known_before(
    reader: Reader, api: MemoryEndpoint
) -> None:
    product, key = reader.model.lookup("product"), {"productId": "p-1001"}
    await reader.item(product, key, TITLE)
    more = await reader.item(product, key, frozenset({"currency"}))
    assert more is not None
    assert {"title", "currency"} <= more.values.keys()
    assert len(api.calls) == 2
    assert await reader.item(product, key, TITLE) is more
    assert len(api.calls) == 2


async def test_an_item_and_its_collection_come_from_one_query(reader: Reader, api: MemoryEndpoint) -> None:
    pattern = reader.model.item_collections["User", "orders"]
    orders = reader.model.listing("ordersOfUser")
    window, total = Window(2), frozenset({"total"})
    user = await reader.item_collection(pattern, {"userId": "u-1001"}, window, frozenset({"userId", "name"}), total)
    assert user is not None
    page = await reader.page(orders, {"userId": "u-1001"}, window, total)
    assert (api.calls, len(page.items)) == (["Query"], 2)


async def test_a_page_is_read_once_and_a_failure_is_that_of_its_page(reader: Reader, api: MemoryEndpoint) -> None:
    listing = reader.model.listing("ordersByStatus")
    window = Window(3)

    def page(status: str) -> asyncio.Future[object]:
        return asyncio.ensure_future(reader.page(listing, {"status": status}, window, frozenset({"orderId"})))

    real, failing = api.memory.call, "SHIPPED"

    async def call(operation: str, body: object, *given: object, **named: object) -> object:
        if failing in str(body):
            raise Unavailable("aws is not reachable")
        return await real(operation, body, *given, **named)  # type: ignore[arg-type]  # as it came

    api.memory.call = call  # type: ignore[method-assign,assignment]  # a failing engine
    pages = [page(status) for status in ("DELIVERED", "DELIVERED", "SHIPPED")]
    good, same, bad = await asyncio.gather(*pages, return_exceptions=True)
    assert good is same
    assert isinstance(bad, Unavailable)


async def test_the_number_of_queries_is_limited(reader: Reader) -> None:
    reader.limits = replace(reader.limits, queries=2)
    listing = reader.model.listing("ordersByStatus")
    for limit in (1, 2):
        await reader.page(listing, {"status": "DELIVERED"}, Window(limit), frozenset({"orderId"}))
    with pytest.raises(LimitExceeded, match="more than 2 queries"):
        await reader.page(listing, {"status": "DELIVERED"}, Window(3), frozenset({"orderId"}))


async def test_a_window_is_checked_and_its_cursors_belong_to_the_tenant(reader: Reader, reader_for: MakeReader) -> None:
    listing, arguments = reader.model.listing("ordersByStatus"), {"status": "DELIVERED"}
    page = await reader.page(listing, arguments, Window(2), frozenset({"orderId"}))
    cursor = reader.cursor(listing, arguments, page.items[0].position)
    assert reader.window(listing, arguments, 5, cursor, None, None) == Window(5, after=page.items[0].position)
    with pytest.raises(BadUserInput):
        reader.window(listing, arguments, 1, None, 1, None)
    other = await reader_for(tenant="globex")
    with pytest.raises(BadUserInput, match="cursor"):
        other.window(listing, arguments, 5, cursor, None, None)


@pytest.mark.parametrize("tenant", ["acme", "globex"])
async def test_a_tenant_reads_the_key_in_its_own_partition(
    reader_for: MakeReader, api: MemoryEndpoint, tenant: str
) -> None:
    reader = await reader_for(tenant=tenant)
    api.change(f"TENANT#{tenant}#USER#u-1001", "PROFILE", name={"S": f"Robin of {tenant}"})
    user = await reader.item(reader.model.lookup("user"), {"userId": "u-1001"}, NAME)
    assert user is not None
    assert user.values["name"] == f"Robin of {tenant}"


async def test_after_a_change_everything_is_read_again(reader: Reader, api: MemoryEndpoint) -> None:
    product, key = reader.model.lookup("product"), {"productId": "p-1001"}
    item = await reader.item(product, key, TITLE)
    assert reader.changed(item) is item
    await reader.item(product, key, TITLE)
    assert len(api.calls) == 2


async def test_what_a_mutation_returns_hides_what_the_role_may_not_read(reader_for: MakeReader, reader: Reader) -> None:
    user = await reader.item(reader.model.lookup("user"), {"userId": "u-1001"}, frozenset({"name", "email", "userId"}))
    assert user is not None
    support = await reader_for("support")
    support.changed(user)
    assert isinstance(user.values["email"], Forbidden)
    assert user.values["userId"] == "u-1001"


async def test_a_closed_reader_loads_nothing_more(reader: Reader, api: MemoryEndpoint) -> None:
    reader.close()
    read = asyncio.ensure_future(reader.item(reader.model.lookup("product"), {"productId": "p-1001"}, TITLE))
    for _ in range(10):
        await asyncio.sleep(0)
    read.cancel()
    assert api.calls == []
