"""A customer of the shop in Chromium: its own orders and profile, ordering and cancelling, also on a phone."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Look
from tests.browser.desk import Desk

PLENTY = "p-1001"
PHONE = {"width": 390, "height": 844}

Open = Callable[..., Desk]


@pytest.fixture
def customer(look: Look, sandbox: str) -> Open:
    """Somebody who has signed in as this customer of acme."""

    def opened(subject: str, **size: Any) -> Desk:
        desk = Desk(look(sandbox))
        if size:
            desk.page.set_viewport_size(size)
        desk.page.goto(f"{sandbox}/demo")
        desk.page.get_by_role("radio", name="customer").check(force=True)
        desk.page.get_by_label("Customer of Acme Tools").select_option(subject)
        desk.page.get_by_role("button", name="Sign in at acme").click()
        desk.page.get_by_role("heading", name="My orders").wait_for()
        return desk

    return opened


def mine(desk: Desk) -> list[str]:
    desk.page.locator("div[aria-busy=false] > .mine").wait_for()
    return [str(text) for text in desk.page.locator(".mine h2").all_inner_texts()]


def test_a_customer_sees_its_own_orders_and_no_desk(customer: Open) -> None:
    for subject in ("u-1001", "u-1002"):
        desk = customer(subject)
        query = "query($user: ID) { ordersOfUser(userId: $user, first: 5) { nodes { orderId items { title } } } }"
        orders = desk.api.ask(query, user=subject)["ordersOfUser"]["nodes"]
        assert mine(desk) == [order["orderId"] for order in orders]
        for item in orders[0]["items"]:
            desk.page.locator(".mine > li").first.get_by_text(item["title"]).wait_for()
        # nothing that is asked names the customer: the token does
        assert all(subject not in str(each["variables"]) for each in desk.screen.operations)
        assert desk.page.get_by_role("link", name="Orders", exact=True).count() == 0


def test_a_customer_sees_its_profile_and_not_that_of_another(customer: Open) -> None:
    desk = customer("u-1001").go("Profile")
    names = {
        user: desk.api.ask("query($id: ID!) { user(userId: $id) { name email } }", id=user)["user"]
        for user in ("u-1001", "u-1002")
    }
    desk.page.get_by_role("heading", name=names["u-1001"]["name"]).wait_for()
    desk.page.get_by_text(names["u-1001"]["email"]).wait_for()
    assert names["u-1002"]["email"] not in desk.page.content()


def test_a_customer_orders_for_itself_and_cancels_on_a_phone(customer: Open) -> None:
    desk = customer("u-1003", **PHONE)
    before, stock = mine(desk), desk.api.stock(PLENTY)
    desk.take(PLENTY)
    assert desk.page.get_by_label("Customer").count() == 0
    desk.page.get_by_role("button", name="Place the order").click()
    desk.alert("Your order is placed.")
    desk.page.wait_for_function("before => document.querySelector('.mine h2')?.innerText !== before", arg=before[0])
    new = mine(desk)[0]
    assert new not in before
    assert desk.sent("PlaceOrder")[0]["input"].get("userId") is None
    assert desk.api.stock(PLENTY) == stock - 1
    card = desk.page.locator(".mine > li").first
    card.get_by_role("button", name="Cancel the order").click()
    card.get_by_role("button", name="Yes, cancel it").click()
    card.get_by_text("Cancelled").wait_for()
    assert desk.api.stock(PLENTY) == stock


@pytest.mark.parametrize("page", ["My orders", "Catalogue", "Basket", "Profile"])
def test_every_page_of_a_customer_fits_a_phone(customer: Open, page: str) -> None:
    desk = customer("u-1001", **PHONE).go(page)
    desk.page.get_by_role("heading", level=1).wait_for()
    desk.page.wait_for_load_state("networkidle")
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
