"""Listings from a real engine: ranges, directions, indexes, shards, pages."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest

from gateway.demo.commerce.order import OrderStatus
from gateway.store.plan import Range, Window
from gateway.store.rows import Item
from tests.engines.shop import FIRST_DAY, Shop, order, product, user

pytestmark = pytest.mark.slow

NEWEST_FIRST = [f"o{number:04}" for number in range(19, -1, -1)]


def orders(items: tuple[Item, ...] | list[Item]) -> list[str]:
    return [item.values["orderId"] for item in items]


def day(number: int) -> timedelta:
    return timedelta(days=number)


async def test_orders_of_a_user_come_newest_first(shop: Shop) -> None:
    await shop.add("User", user("u"))
    await shop.add("Order", *(order(number) for number in range(20)), order(99, userId="somebody-else"))
    page = await shop.page("ordersOfUser", Window(6), userId="u")
    assert orders(page.items) == NEWEST_FIRST[:6]
    assert page.more
    assert len(shop.access.calls) == 1
    last = await shop.page("ordersOfUser", Window(6, backward=True), userId="u")
    assert orders(last.items) == NEWEST_FIRST[-6:]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (FIRST_DAY + day(3), FIRST_DAY + day(5), NEWEST_FIRST[8:14]),
        (FIRST_DAY + day(8), None, NEWEST_FIRST[:4]),
        (None, FIRST_DAY + day(1), NEWEST_FIRST[-4:]),
        (FIRST_DAY + day(3), FIRST_DAY + day(3), NEWEST_FIRST[12:14]),
        (FIRST_DAY + day(100), None, []),
        (FIRST_DAY + timedelta(microseconds=1), FIRST_DAY + day(1) - timedelta(microseconds=1), []),
    ],
)
async def test_a_range_of_dates_holds_both_of_its_ends(
    shop: Shop, first: object, last: object, expected: list[str]
) -> None:
    await shop.add("Order", *(order(number) for number in range(20)))
    for listing, arguments in (("ordersOfUser", {"userId": "u"}), ("ordersByStatus", {"status": OrderStatus.PENDING})):
        page = await shop.page(listing, placedAt=Range(first, last), **arguments)
        assert orders(page.items) == expected


async def test_an_item_is_found_by_another_attribute(shop: Shop) -> None:
    contact = {"userId": "u", "email": "robin+shop@example.com", "verified": True, "addedAt": FIRST_DAY}
    await shop.add("Email", contact, {**contact, "email": "robin@example.com"})
    page = await shop.page("userByEmail", email="robin@example.com")
    assert [item.values["userId"] for item in page.items] == ["u"]
    assert (await shop.page("userByEmail", email="robin@example.co")).items == ()
    assert [call.index for call in shop.access.calls] == ["GSI1"] * 2


async def test_what_begins_with_a_word_is_told_from_its_neighbours(shop: Shop) -> None:
    contact = {"userId": "u", "verified": True, "addedAt": FIRST_DAY}
    await shop.add("User", user("u"))
    await shop.add("Order", order(1))
    await shop.add("Email", {**contact, "email": "b@example.com"}, {**contact, "email": "a@example.com"})
    await shop.add("Phone", {**contact, "phone": "+1"})
    emails = await shop.page("emailsOfUser", userId="u")
    phones = await shop.page("phonesOfUser", userId="u")
    assert [item.values["email"] for item in emails.items] == ["a@example.com", "b@example.com"]
    assert [item.values["phone"] for item in phones.items] == ["+1"]


async def test_prices_are_in_the_order_of_numbers(shop: Shop) -> None:
    prices = [Decimal(text) for text in ("0.05", "9.99", "10", "100", "99.5", "1000000")]
    await shop.add("Product", *(product(number, price=price) for number, price in enumerate(prices)))
    everything = await shop.page("productsByCategory", categoryId="c")
    some = await shop.page("productsByCategory", categoryId="c", price=Range(Decimal("9.99"), 100))
    assert [item.values["price"] for item in everything.items] == sorted(prices)
    assert [item.values["price"] for item in some.items] == [Decimal(text) for text in ("9.99", "10", "99.5", "100")]


async def test_a_sparse_index_holds_only_what_it_should(shop: Shop) -> None:
    await shop.add("Order", *(order(number, status=status) for number, status in enumerate(OrderStatus)))
    review = await shop.page("reviewQueue")
    active = await shop.page("activeOrders")
    assert [item.values["status"] for item in review.items] == [OrderStatus.REVIEW]
    assert {item.values["status"] for item in active.items} == {
        OrderStatus.PENDING,
        OrderStatus.CONFIRMED,
        OrderStatus.SHIPPED,
    }
    # the order ends: the next write takes it out of the index
    await shop.add("Order", order(1, status=OrderStatus.CANCELLED))
    assert (await shop.page("reviewQueue")).items == ()


async def test_a_listing_over_shards_is_one_sorted_list(shop: Shop) -> None:
    await shop.add("Order", *(order(number) for number in range(20)))
    page = await shop.page("ordersByStatus", Window(7), status=OrderStatus.PENDING)
    assert orders(page.items) == NEWEST_FIRST[:7]
    assert page.more
    assert [(call.operation, call.index) for call in shop.access.calls] == [("Query", "GSI2")] * 4
    # the copies under the user are in no index
    assert sum(call.items for call in shop.access.calls) <= 20


@pytest.mark.parametrize("size", [1, 3, 20, 21])
@pytest.mark.parametrize("backward", [False, True])
async def test_pages_are_the_whole_without_gaps_or_doubles(shop: Shop, size: int, backward: bool) -> None:
    await shop.add("Order", *(order(number) for number in range(20)))
    for listing, arguments in (("ordersByStatus", {"status": OrderStatus.PENDING}), ("ordersOfUser", {"userId": "u"})):
        assert orders(await shop.walk(listing, size, backward=backward, **arguments)) == NEWEST_FIRST


async def test_between_two_positions_lies_what_lies_between_them(shop: Shop) -> None:
    await shop.add("Order", *(order(number) for number in range(20)))
    whole = await shop.page("ordersByStatus", status=OrderStatus.PENDING)
    positions = [item.position for item in whole.items]
    window = Window(100, after=positions[4], before=positions[15])
    assert orders((await shop.page("ordersByStatus", window, status=OrderStatus.PENDING)).items) == NEWEST_FIRST[5:15]
    nothing = Window(100, after=positions[7], before=positions[8])
    assert (await shop.page("ordersByStatus", nothing, status=OrderStatus.PENDING)).items == ()


async def test_the_last_page_knows_that_it_is_the_last(shop: Shop) -> None:
    await shop.add("Order", *(order(number) for number in range(4)))
    assert not (await shop.page("ordersOfUser", Window(4), userId="u")).more
    assert (await shop.page("ordersOfUser", Window(3), userId="u")).more
    assert (await shop.page("ordersOfUser", Window(0), userId="u")).more
    assert not (await shop.page("ordersOfUser", Window(0), userId="nobody")).more


async def test_pages_of_one_megabyte_are_followed(shop: Shop) -> None:
    rows = [row for row in shop.rows("Order", *(order(number) for number in range(8))) if "CopyOf" in row]
    await shop.write([{**row, "currency": {"S": "x" * 200_000}} for row in rows])
    page = await shop.page("ordersOfUser", Window(7), userId="u")
    assert orders(page.items) == [f"o{number:04}" for number in range(7, 0, -1)]
    assert page.more
    assert len(shop.access.calls) > 1


async def test_expired_items_do_not_make_a_page_short(shop: Shop) -> None:
    rows = [row for row in shop.rows("Order", *(order(number) for number in range(20))) if "CopyOf" in row]
    gone = {"ttl": {"N": str(int(time.time()) - 5)}}
    await shop.write([{**row, **(gone if number % 4 else {})} for number, row in enumerate(rows)])
    page = await shop.page("ordersOfUser", Window(4), userId="u")
    assert orders(page.items) == ["o0016", "o0012", "o0008", "o0004"]
    assert page.more


async def test_sort_keys_are_in_the_order_of_their_bytes(shop: Shop) -> None:
    letters = ["+", "0", "a", "~", "é", "豆", "\uffee", "😀", "\U0010fffe"]
    emails = [f"{letter}@b.example" for letter in letters]
    contact = {"userId": "u", "verified": True, "addedAt": FIRST_DAY}
    await shop.add("Email", *({**contact, "email": email} for email in reversed(emails)))
    found = [item.values["email"] for item in (await shop.page("emailsOfUser", userId="u")).items]
    assert found == emails
    for backward in (False, True):
        seen = await shop.walk("emailsOfUser", 2, backward=backward, userId="u")
        assert [item.values["email"] for item in seen] == emails


async def test_an_item_and_its_newest_members_are_one_query(shop: Shop) -> None:
    await shop.add("User", user("u"))
    await shop.add("Order", *(order(number) for number in range(20)))
    await shop.add("Email", {"userId": "u", "email": "a@b.example", "verified": True, "addedAt": FIRST_DAY})
    root, members = await shop.both("userWithOrders", 3, userId="u")
    assert root is not None
    assert root.values["name"] == "User u"
    assert orders(members) == NEWEST_FIRST[:4]
    assert len(shop.access.calls) == 1


async def test_an_order_comes_with_all_of_its_lines(shop: Shop) -> None:
    await shop.add("Order", order(1))
    line = {"orderId": "o0001", "placedAt": FIRST_DAY, "title": "T", "quantity": 2, "unitPrice": Decimal("1.5")}
    await shop.add("OrderLine", *({**line, "productId": f"p{number:03}"} for number in range(30)))
    root, members = await shop.both("orderWithLines", None, orderId="o0001")
    assert root is not None
    assert root.entity == "Order"
    assert {item.values["productId"] for item in members} == {f"p{number:03}" for number in range(30)}
    assert len(shop.access.calls) == 1


async def test_nothing_of_a_neighbour_is_in_any_listing(shop: Shop) -> None:
    neighbour = shop.neighbour()
    await shop.add("Order", order(1))
    await neighbour.add("Order", order(1), order(2))
    for listing, arguments in (
        ("ordersOfUser", {"userId": "u"}),
        ("ordersByStatus", {"status": OrderStatus.PENDING}),
        ("activeOrders", {}),
    ):
        assert orders((await shop.page(listing, **arguments)).items) == ["o0001"]
        assert orders((await neighbour.page(listing, **arguments)).items) == ["o0002", "o0001"]
