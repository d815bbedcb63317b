"""The order desk in Chromium: whose orders are shown, what is ordered, and what is said when it does not work."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from gateway.sandbox.dev.issuer import LIFE_SECONDS
from tests.browser.conftest import Look
from tests.browser.desk import PAGE, Desk, without_socket
from tests.fixtures import CATALOGUES

Open = Callable[..., Desk]

# the first product of a shop, of which there is always enough, and some others
PLENTY, SCARCE, OTHER = "p-1001", "p-1002", "p-1003"


@pytest.fixture
def desk(look: Look, sandbox: str) -> Open:
    def opened(**options: Any) -> Desk:
        return Desk(look(sandbox, **options))

    return opened


@pytest.mark.parametrize(("tenant", "title"), [("acme", "Acme Tools"), ("initech", "Initech Roasters")])
def test_a_tenant_sees_its_own_orders(desk: Open, tenant: str, title: str) -> None:
    shown = desk().enter(tenant)
    assert shown.orders == shown.api.active(tenant)[:PAGE]
    assert shown.page.title() == f"{title} · Order desk"
    # the sandbox's own orders carry the name of the catalogue, those that other tests place do not
    [seeded, *_] = [order for order in shown.orders if len(order) <= 12]
    shown.page.locator("table.orders tbody tr", has_text=seeded).click()
    shown.page.get_by_text(CATALOGUES[tenant]).wait_for()
    for other in CATALOGUES.keys() - {tenant}:
        assert CATALOGUES[other] not in shown.page.content()


def test_a_list_is_paged_both_ways_and_ends(desk: Open) -> None:
    shown = desk().enter("acme").at("#/orders?view=DELIVERED")
    query = "{ ordersByStatus(status: DELIVERED, first: 100) { nodes { orderId } } }"
    every = [order["orderId"] for order in shown.api.ask(query)["ordersByStatus"]["nodes"]]
    shown.page.get_by_role("link", name=every[0]).wait_for()
    pages = [shown.orders]
    assert shown.page.get_by_role("link", name="Newer").count() == 0
    while shown.page.get_by_role("link", name="Older").count():
        pages.append(shown.turn("Older"))
    assert [order for page in pages for order in page] == every
    assert len(pages) > 2
    for page in reversed(pages[:-1]):
        assert shown.turn("Newer") == page
    assert shown.page.get_by_role("link", name="Newer").count() == 0


def test_back_and_reload_stay_on_the_page_of_the_list(desk: Open) -> None:
    shown = desk().enter("acme")
    first = shown.orders
    second = shown.turn("Older")
    shown.page.reload()
    assert shown.orders == second
    shown.page.go_back()
    shown.page.wait_for_function("!location.hash.includes('after')")
    shown.page.locator(f"table.orders tbody th a[href$='/{first[0]}']").wait_for()
    assert shown.orders == first


def test_orders_are_listed_by_status_and_by_customer(desk: Open) -> None:
    shown = desk().enter("globex")
    first = shown.orders
    shown.page.get_by_role("link", name="Delivered").click()
    shown.page.locator(f"table.orders tbody:not(:has-text('{first[0]}'))").wait_for()
    assert shown.orders
    assert set(shown.page.locator("table.orders .status").all_inner_texts()) == {"Delivered"}
    customer = shown.page.locator("table.orders tbody tr td a").first
    name = customer.inner_text()
    customer.click()
    shown.page.get_by_role("heading", name="Orders of u-").wait_for()
    assert shown.orders
    shown.page.wait_for_function(
        "name => [...document.querySelectorAll('table.orders tbody td a')].every(each => each.innerText === name)",
        arg=name,
    )


def test_an_order_is_shown_with_its_lines(desk: Open) -> None:
    shown = desk().enter("acme")
    [order_id] = shown.orders[:1]
    query = "query($id: ID!) { order(orderId: $id) { total user { name } lines { title quantity } } }"
    order = shown.api.ask(query, id=order_id)["order"]
    text = shown.order(order_id).page.locator("#main").inner_text()
    assert order["user"]["name"] in text
    assert f"€{float(order['total']):,.2f}" in text
    rows = shown.page.locator("table.lines tbody tr").all_inner_texts()
    assert len(rows) == len(order["lines"])
    for row, line in zip(rows, order["lines"], strict=True):
        assert row.startswith(line["title"])


def test_an_order_is_placed_and_takes_its_stock(desk: Open) -> None:
    shown = desk().enter("acme")
    before = shown.api.stock(PLENTY)
    shown.take(PLENTY, PLENTY).page.get_by_label("Note").fill("By the back door, please.")
    shown.place("u-1001").alert("The order is placed.")
    assert re.search(r"Pending\s+version 1", shown.heading)
    assert "By the back door, please." in shown.page.locator(".facts").inner_text()
    assert shown.api.stock(PLENTY) == before - 2
    category = shown.api.ask("query($id: ID!) { product(productId: $id) { categoryId } }", id=PLENTY)["product"]
    shown.at(f"#/catalogue/{category['categoryId']}").page.get_by_text(f"{before - 2} in stock").wait_for()
    shown.go("Basket").page.get_by_text("It is empty.").wait_for()
    shown.go("Orders")
    [sent] = shown.sent("PlaceOrder")
    assert sent["input"]["lines"] == [{"productId": PLENTY, "quantity": 2}]
    assert re.fullmatch(r"[0-9a-f]{32}", sent["idempotencyKey"])


def test_lost_answers_do_not_order_twice(desk: Open) -> None:
    shown = desk().enter("acme").take(PLENTY)
    before = shown.api.stock(PLENTY)

    def lose_the_answer(route: Any) -> None:
        if "PlaceOrder" not in route.request.post_data:
            route.continue_()
            return
        assert route.fetch().json()["data"]["placeOrder"]["order"], "it was ordered, and nobody knows"
        route.abort()

    shown.page.route("**/graphql", lose_the_answer)
    shown.place("u-1001").alert("The gateway cannot be reached.")
    shown.page.unroute("**/graphql")
    shown.page.get_by_role("button", name="Place the order").click()
    shown.alert("The order is placed.")
    sent = shown.sent("PlaceOrder")
    assert len(sent) == 4, "three times by itself, and once more by hand"
    assert all(each == sent[0] for each in sent)
    assert shown.api.stock(PLENTY) == before - 1
    # what Chromium says about the answers that were lost
    assert [each for each in shown.screen.failures if "ERR_FAILED" not in each] == []
    shown.screen.failures.clear()


def test_what_is_out_of_stock_is_reported_at_the_product_with_what_is_left(desk: Open) -> None:
    shown = desk().enter("acme")
    shown.api.set_stock(SCARCE, 5)
    shown.take(PLENTY, SCARCE).page.get_by_text("Only 5 left").wait_for()
    shown.page.get_by_label("Quantity of").nth(1).fill("3")
    assert shown.page.locator(".remedy").count() == 0
    # somebody else is faster
    shown.api.set_stock(SCARCE, 2)
    plenty = shown.api.stock(PLENTY)
    shown.place("u-1001").alert("There is not enough in stock. Nothing was ordered.")
    item = shown.page.locator(".basket li").nth(1)
    item.get_by_text("You asked for 3, and 2 are left.").wait_for()
    assert "Only 2 left" in item.inner_text()
    assert shown.page.locator(".remedy").count() == 1, "there is enough of the other one"
    assert shown.api.stock(PLENTY) == plenty
    item.get_by_role("button", name="Order 2").click()
    shown.page.get_by_role("button", name="Place the order").click()
    shown.alert("The order is placed.")
    assert shown.api.stock(SCARCE) == 0
    first, second = shown.sent("PlaceOrder")
    assert first["idempotencyKey"] != second["idempotencyKey"], "another basket is another submission"


def test_what_is_sold_out_cannot_be_taken(desk: Open) -> None:
    shown = desk().enter("acme")
    shown.api.set_stock(OTHER, 0)
    product = shown.api.ask("query($id: ID!) { product(productId: $id) { title categoryId } }", id=OTHER)["product"]
    shown.at(f"#/catalogue/{product['categoryId']}")
    card = shown.page.locator("li.product", has=shown.page.get_by_role("heading", name=product["title"], exact=True))
    card.get_by_text("Sold out").wait_for()
    assert card.get_by_role("button").is_disabled()


def test_an_order_moves_on_with_the_version_that_was_seen(desk: Open) -> None:
    shown = desk().enter("acme")
    order = shown.api.new_order(PLENTY)
    shown.order(order).page.get_by_role("button", name="Confirm").click()
    shown.alert("The order is confirmed now.")
    shown.page.get_by_text("version 2").wait_for()
    shown.page.get_by_role("button", name="Mark as shipped").click()
    shown.page.get_by_text("version 3").wait_for()
    assert shown.api.status(order) == ("SHIPPED", 3)
    assert shown.page.get_by_role("button", name="Cancel the order").count() == 0
    assert [sent["input"]["version"] for sent in shown.sent("ChangeOrderStatus")] == [1, 2]


def test_a_conflict_is_shown_and_the_page_brings_the_newest(desk: Open) -> None:
    shown = desk()
    without_socket(shown)
    shown.enter("acme")
    order = shown.api.new_order(PLENTY)
    shown.order(order)
    shown.api.move(order, "REVIEW")
    shown.page.get_by_role("button", name="Confirm").click()
    shown.alert("Somebody changed it meanwhile.")
    assert shown.api.status(order) == ("REVIEW", 2)
    shown.page.get_by_text("This is the newest version.").wait_for()
    assert "version 2" in shown.heading
    assert "In review" in shown.heading
    shown.page.get_by_role("button", name="Approve").click()
    shown.alert("The order is confirmed now.")


def test_a_cancelled_order_gives_its_stock_back(desk: Open) -> None:
    shown = desk().enter("acme")
    order = shown.api.new_order(PLENTY)
    before = shown.api.stock(PLENTY)
    shown.order(order).page.get_by_role("button", name="Cancel the order").click()
    shown.page.get_by_role("button", name="Keep it").click()
    shown.page.get_by_role("button", name="Cancel the order").click()
    shown.page.get_by_role("button", name="Yes, cancel it").click()
    shown.alert("The order is cancelled now.")
    assert shown.api.status(order) == ("CANCELLED", 2)
    assert shown.api.stock(PLENTY) == before + 1
    assert len(shown.sent("CancelOrder")) == 1


@pytest.mark.parametrize("role", ["viewer", "support"])
def test_a_caller_that_may_only_read_gets_a_clear_error(desk: Open, role: str) -> None:
    shown = desk().enter("acme", role)
    order = shown.api.new_order(PLENTY)
    shown.order(order).page.get_by_role("button", name="Confirm").click()
    shown.alert(f"As {role} you can look, but not change.")
    assert shown.api.status(order) == ("PENDING", 1)
    before = shown.api.stock(PLENTY)
    shown.take(PLENTY).place("u-1001").alert(f"As {role} you can look, but not change.")
    assert shown.api.stock(PLENTY) == before
    shown.page.get_by_role("button", name="Sign in with another role").click()
    shown.alert("Choose the role editor")


def test_support_sees_orders_but_not_who_people_are(desk: Open) -> None:
    shown = desk().enter("acme", "support")
    assert shown.orders == shown.api.active()[:PAGE]
    assert shown.page.get_by_text("name hidden").count() == PAGE
    shown.order(shown.orders[0])
    facts = shown.page.locator(".facts").inner_text()
    assert facts.count("hidden from your role") == 3
    assert CATALOGUES["acme"] not in shown.page.content(), "it stands in the note"


def test_a_customer_is_found_by_e_mail_unless_the_role_forbids_it(desk: Open) -> None:
    shown = desk().enter("acme").take(PLENTY)
    shown.page.get_by_label("or by e-mail").fill("robin.hale@example.com")
    shown.page.get_by_role("button", name="Find").click()
    shown.alert("Found Robin Hale.")
    assert shown.page.get_by_label("Customer").input_value() == "u-1001"
    shown.page.get_by_label("or by e-mail").fill("nobody@example.com")
    shown.page.get_by_role("button", name="Find").click()
    shown.alert("Nobody here has this address.")
    shown.page.get_by_role("button", name="Switch").click()
    shown.enter("acme", "support").take(PLENTY)
    shown.page.get_by_label("or by e-mail").fill("robin.hale@example.com")
    shown.page.get_by_role("button", name="Find").click()
    shown.alert("Your role may not look for e-mail addresses.")


def test_another_tenant_sees_other_data_under_the_same_ids(desk: Open) -> None:
    shown, order = desk().enter("acme").take(PLENTY), "o-1059"
    shown.order(order).page.get_by_text(CATALOGUES["acme"]).wait_for()
    shown.page.get_by_role("button", name="Switch").click()
    shown.page.get_by_role("heading", name="Order desk").wait_for()
    assert CATALOGUES["acme"] not in shown.page.content()
    # the address is the same, the shop is not
    shown.enter("globex").page.get_by_text(CATALOGUES["globex"]).wait_for()
    assert shown.page.url.endswith(f"#/orders/{order}")
    assert CATALOGUES["acme"] not in shown.page.content()
    assert "$" in shown.page.locator("table.lines").inner_text()
    shown.go("Basket").page.get_by_text("It is empty.").wait_for()


def test_another_tenants_order_does_not_exist(desk: Open) -> None:
    shown = desk().enter("globex")
    order = shown.api.new_order(PLENTY, "acme")
    shown.at(f"#/orders/{order}").alert(f"There is no order {order} in this shop.")


@pytest.mark.parametrize("cursor", ["nonsense", "of another tenant"])
def test_a_page_that_is_not_there_leads_back(desk: Open, cursor: str) -> None:
    shown = desk().enter("globex")
    if cursor != "nonsense":
        query = "{ activeOrders(first: 3) { pageInfo { endCursor } } }"
        cursor = shown.api.ask(query, "acme")["activeOrders"]["pageInfo"]["endCursor"]
    first = shown.orders
    shown.page.evaluate("cursor => { location.hash = '#/orders?' + new URLSearchParams({after: cursor}) }", cursor)
    shown.alert("This page of the list no longer exists.")
    shown.page.get_by_role("link", name="Back to the newest orders").click()
    assert shown.orders == first


def test_a_refused_token_leads_back_to_the_sign_in(desk: Open) -> None:
    shown = desk()
    shown.page.route("**/sandbox/token", lambda route: route.fulfill(json={"token": "made.up.token"}))
    shown.page.goto(f"{shown.screen.url}/demo")
    shown.page.get_by_role("button", name="Sign in at acme").click()
    shown.alert("Your session is over. Please sign in again.")
    assert shown.screen.operations, "the gateway was asked, and said no"
    shown.page.unroute("**/sandbox/token")
    shown.page.reload()
    # not signed in again by itself
    shown.page.get_by_role("heading", name="Order desk").wait_for()
    assert shown.enter("acme").orders


def test_a_token_is_renewed_before_it_ends(desk: Open) -> None:
    shown = desk().enter("acme")
    first = shown.orders

    def renewed(route: Any) -> None:
        # the new token lives as long as the old one did, from the moment that it really is
        shown.page.clock.set_fixed_time(time.time())
        route.continue_()

    shown.page.route("**/sandbox/token", renewed)
    shown.page.clock.set_fixed_time(time.time() + LIFE_SECONDS - 30)
    assert shown.turn("Older") != first
    token_requests = [each for each in shown.screen.requests if each.url.endswith("/sandbox/token")]
    assert len(token_requests) == 2
    assert shown.page.get_by_role("heading", name="Orders").is_visible()


def test_no_token_is_stored_and_a_reload_keeps_the_choice(desk: Open) -> None:
    shown = desk().enter("globex", "viewer")
    first = shown.orders
    tokens = [each.headers["authorization"] for each in shown.screen.requests if "authorization" in each.headers]
    assert tokens
    assert [token for token in tokens if token.rpartition(".")[2] in shown.screen.stored] == []
    shown.page.reload()
    assert shown.orders == first
    assert shown.page.locator(".who").inner_text().split()[:2] == ["globex", "viewer"]


def test_a_failure_of_the_gateway_can_be_tried_again(desk: Open) -> None:
    shown = desk().enter("acme")
    first = shown.orders
    shown.go("Basket")
    down = {"errors": [{"message": "no", "extensions": {"code": "UNAVAILABLE", "requestId": "r-1"}}]}
    shown.page.route("**/graphql", lambda route: route.fulfill(status=503, json=down))
    shown.at("#/orders?view=PENDING").alert("The shop cannot be reached right now.")
    assert "r-1" in shown.page.locator("#main").inner_text()
    assert len(shown.sent("OrdersByStatus")) == 3, "it was tried again before anybody was told"
    shown.page.unroute("**/graphql")
    shown.page.get_by_role("button", name="Try again").click()
    assert set(shown.orders) <= set(first) | set(shown.api.active())
    assert all("503" in each for each in shown.screen.failures)
    shown.screen.failures.clear()


def test_the_keyboard_is_enough(desk: Open) -> None:
    shown = desk()
    page = shown.page
    page.goto(f"{shown.screen.url}/demo")
    page.get_by_role("radio", name="editor").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    first = shown.orders
    assert page.locator(".who").inner_text().split()[:2] == ["globex", "admin"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("link", name=first[0]).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Order {first[0]}").wait_for()
    assert page.evaluate("document.activeElement.id") == "main", "the new page is read from its start"


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_follows_the_system_into_the_dark(desk: Open, scheme: str, dark: bool) -> None:
    shown = desk(color_scheme=scheme).enter("acme")
    assert shown.orders
    for element in ("document.body", "document.querySelector('table')"):
        colour = shown.page.evaluate(f"getComputedStyle({element}).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 300) is dark


def test_every_request_goes_to_this_host(desk: Open) -> None:
    shown = desk().enter("acme").take(PLENTY)
    for address in ("#/orders", "#/orders/o-1059", "#/catalogue", "#/basket"):
        shown.at(address)
        shown.page.wait_for_load_state("networkidle")
    assert {json.dumps(each.url.startswith(shown.screen.url)) for each in shown.screen.requests} == {"true"}
    assert len(shown.screen.requests) > 8
    assert shown.screen.foreign == []


def test_the_landing_page_leads_here(desk: Open) -> None:
    shown = desk()
    shown.page.goto(shown.screen.url)
    shown.page.get_by_role("link", name="/demo").click()
    shown.page.get_by_role("heading", name="Order desk").wait_for()


def test_that_an_order_is_placed_is_said_once(desk: Open) -> None:
    shown = desk().enter("acme").take(PLENTY).place("u-1001")
    shown.alert("The order is placed.")
    order = shown.page.url
    shown.page.reload()
    shown.page.locator(".heading").wait_for()
    assert shown.page.get_by_text("The order is placed.").count() == 0
    shown.take(PLENTY).place("u-1001").alert("The order is placed.")
    assert shown.page.url != order
    shown.go("Orders").orders  # noqa: B018  # waits for the list
    shown.page.go_back()
    shown.page.locator(".heading").wait_for()
    assert shown.page.get_by_text("The order is placed.").count() == 0


@pytest.mark.parametrize("address", ["#/nowhere", "#/orders/o-1/lines", "#/basket/p-1001", "#/catalogue/tools/p-1001"])
def test_an_unknown_page_is_reported(desk: Open, address: str) -> None:
    shown = desk().enter("acme").at(address)
    shown.alert("There is no such page.")
    assert shown.page.locator("table.orders").count() == 0
    shown.page.get_by_role("link", name="Go to the orders").click()
    assert shown.orders


def test_orders_and_the_basket_fit_a_phone(desk: Open) -> None:
    shown = desk()
    shown.page.set_viewport_size({"width": 390, "height": 844})
    shown.enter("acme")
    assert len(shown.orders) == PAGE
    fits(shown, "table.orders tbody tr:first-child :is(th, td)", hidden=2)
    shown.api.set_stock(OTHER, 9)
    shown.take(PLENTY, OTHER).page.locator(".basket li").nth(1).wait_for()
    fits(shown, ".basket li:first-child > *")
    shown.page.get_by_role("button", name="Place the order").wait_for()


def fits(shown: Desk, parts: str, hidden: int = 0) -> None:
    """The page is as wide as the window, and of these parts none leaves it or lies upon another."""
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") == 390
    all_boxes = [part.bounding_box() for part in shown.page.locator(parts).all()]
    boxes = [box for box in all_boxes if box is not None]
    assert (len(all_boxes) - len(boxes), len(boxes) >= 4) == (hidden, True)
    for number, box in enumerate(boxes):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        for other in boxes[:number]:
            beside = box["x"] >= other["x"] + other["width"] or other["x"] >= box["x"] + box["width"]
            below = box["y"] >= other["y"] + other["height"] or other["y"] >= box["y"] + box["height"]
            assert beside or below
