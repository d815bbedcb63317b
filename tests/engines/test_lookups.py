"""Items by their keys, from a real engine through the gateway's own client."""

import time

import pytest

from gateway.demo import MODEL
from tests.engines.engine import Quirks
from tests.engines.shop import FIRST_DAY, Shop, order, user

pytestmark = pytest.mark.slow

ADDRESS = {"street": "1 Mill Lane", "city": "York", "postalCode": "YO1", "country": "GB"}


async def test_an_item_comes_back_as_it_was_written(shop: Shop) -> None:
    await shop.add("User", user("u", phone="+44 1904 000000", address=ADDRESS))
    [found] = await shop.get("user", {"userId": "u"})
    assert found is not None
    assert found.values == user("u", phone="+44 1904 000000", address=ADDRESS)
    assert [call.operation for call in shop.access.calls] == ["GetItem"]


async def test_what_does_not_exist_is_none(shop: Shop) -> None:
    await shop.add("User", user("u"))
    assert await shop.get("user", {"userId": "nobody"}) == [None]
    assert await shop.get("user", {"userId": "nobody"}, {"userId": "noone"}) == [None, None]
    assert await shop.get("user") == []


async def test_the_same_id_in_two_tenants_is_two_items(shop: Shop) -> None:
    neighbour = shop.neighbour()
    await shop.add("User", user("u", name="Ours"))
    await neighbour.add("User", user("u", name="Theirs"), user("only-theirs"))
    ours = await shop.get("user", {"userId": "u"}, {"userId": "only-theirs"}, names="name")
    assert [found and found.values for found in ours] == [{"name": "Ours"}, None]


async def test_250_keys_come_in_their_order_from_three_calls(shop: Shop, quirks: Quirks) -> None:
    await shop.add("User", *(user(f"u{number}") for number in range(0, 250, 2)))
    ids = [f"u{number * 7 % 250}" for number in range(250)] * 2
    found = await shop.get("user", *({"userId": name} for name in ids), names="userId")
    names = [None if item is None else item.values["userId"] for item in found]
    assert names == [name if int(name[1:]) % 2 == 0 else None for name in ids]
    assert [call.operation for call in shop.access.calls] == ["BatchGetItem"] * 3
    assert sum(call.items for call in shop.access.calls) == 125
    assert (shop.access.capacity > 0) is quirks.tells_capacity_of_batches


async def test_more_than_16_mb_are_read_to_the_last_item(shop: Shop, quirks: Quirks) -> None:
    large = Shop(shop.client, shop.url, f"large-{shop.tenant}", shop.tenant)
    await large.call("CreateTable", MODEL.table.create_request(large.table))
    for row in large.rows("User", *(user(f"u{number}") for number in range(90))):
        await large.call("PutItem", {"Item": {**row, "name": {"S": "x" * 200_000}}})
    keys = [{"userId": f"u{number}"} for number in range(90)]
    found = await large.get("user", *keys, names="userId name")
    assert [item and len(item.values["name"]) for item in found] == [200_000] * 90
    assert len(large.access.calls) == (2 if quirks.unprocessed_beyond_16_mb else 1)
    await large.call("DeleteTable", {})


async def test_only_what_is_asked_for_is_read_reserved_words_included(shop: Shop) -> None:
    # `name`, `status`, `total`, `version` and `ttl` are words of DynamoDB's expressions
    await shop.add("User", user("u", address=ADDRESS))
    await shop.add("Order", order(1))
    [person] = await shop.get("user", {"userId": "u"}, names="name address version")
    [found] = await shop.get("order", {"orderId": "o0001"}, names="status total")
    assert person is not None
    assert found is not None
    assert person.values == {"name": "User u", "address": ADDRESS, "version": 1}
    assert found.values == {"status": order(1)["status"], "total": order(1)["total"]}


async def test_a_consistent_read_sees_what_was_written_just_before(shop: Shop, quirks: Quirks) -> None:
    for available in range(5):
        await shop.add("Stock", {"productId": "p", "available": available, "updatedAt": FIRST_DAY})
        [found] = await shop.get("stock", {"productId": "p"})
        assert found is not None
        assert found.values["available"] == available
    assert {call.capacity for call in shop.access.calls} == {quirks.strong_capacity}


async def test_an_eventual_read_says_what_it_costs(shop: Shop) -> None:
    await shop.add("User", user("u"))
    await shop.get("user", {"userId": "u"})
    assert shop.access.capacity == 0.5


async def test_an_expired_item_is_hidden_although_the_engine_still_has_it(shop: Shop) -> None:
    [old, new, other] = shop.rows("User", user("old"), user("new"), user("other"))
    now = int(time.time())
    await shop.write([{**old, "ttl": {"N": str(now - 5)}}, {**new, "ttl": {"N": str(now + 3_600)}}, other])
    found = await shop.get("user", *({"userId": name} for name in ("old", "new", "other")), names="userId")
    assert [item is not None for item in found] == [False, True, True]
    assert await shop.get("user", {"userId": "old"}) == [None]
