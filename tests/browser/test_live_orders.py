"""Orders that change while somebody looks at them, in Chromium: at the desk, as a customer, after a lost connection."""

import json
from typing import Any

import pytest

from tests.browser.conftest import Look
from tests.browser.desk import Desk, without_socket

PLENTY = "p-1001"
CUSTOMER = "u-1004"


@pytest.fixture
def desk(look: Look, sandbox: str) -> Desk:
    return Desk(look(sandbox))


class Line:
    """The page's connection, which a test can cut; it keeps the subscriptions that went through."""

    def __init__(self, desk: Desk) -> None:
        self.sent: list[dict[str, Any]] = []
        self._sockets: list[Any] = []
        desk.page.route_web_socket("**/graphql", self._connect)

    def _connect(self, socket: Any) -> None:
        server = socket.connect_to_server()
        self._sockets.append((socket, server))

        def pass_on(text: str) -> None:
            message = json.loads(text)
            if message["type"] == "subscribe":
                self.sent.append(message["payload"])
            server.send(text)

        socket.on_message(pass_on)

    def cut(self) -> None:
        for end in self._sockets.pop():
            end.close()


def marked(desk: Desk) -> None:
    """A mark that a reload would lose."""
    desk.page.evaluate("() => { globalThis.notReloaded = true }")


def is_marked(desk: Desk) -> bool:
    return desk.page.evaluate("() => globalThis.notReloaded === true") is True


def as_customer(desk: Desk) -> None:
    desk.page.goto(f"{desk.screen.url}/demo")
    desk.page.get_by_role("radio", name="customer").check(force=True)
    desk.page.get_by_label("Customer of Acme Tools").select_option(CUSTOMER)
    desk.page.get_by_role("button", name="Sign in at acme").click()
    desk.page.get_by_role("heading", name="My orders").wait_for()


def test_a_change_of_somebody_else_is_shown_without_a_reload(desk: Desk) -> None:
    desk.enter("acme")
    order = desk.api.new_order(PLENTY)
    desk.order(order).live()
    marked(desk)
    sent_before = len(desk.screen.operations)
    desk.api.move(order, "REVIEW")
    desk.page.locator(".heading", has_text="version 2").wait_for()
    assert "In review" in desk.heading
    assert (is_marked(desk), len(desk.screen.operations)) == (True, sent_before)
    # the next step is that of the new status, with the new version
    desk.page.get_by_role("button", name="Approve").click()
    desk.alert("The order is confirmed now.")
    assert desk.api.status(order) == ("CONFIRMED", 3)
    desk.api.move(order, "SHIPPED")
    desk.page.locator(".heading", has_text="Shipped").wait_for()
    assert desk.page.get_by_text("The order is confirmed now.").count() == 0


def test_the_list_of_the_desk_follows_its_orders(desk: Desk) -> None:
    desk.enter("acme")
    desk.live()
    marked(desk)
    order = desk.api.new_order(PLENTY)
    row = desk.page.locator("table.orders tr", has_text=order[-8:])
    row.get_by_text("Pending").wait_for()
    desk.api.move(order, "CONFIRMED")
    row.get_by_text("Confirmed").wait_for()
    desk.api.move(order, "CANCELLED")
    row.wait_for(state="detached")
    assert is_marked(desk)


def test_a_cut_connection_goes_on_from_its_position(desk: Desk) -> None:
    line = Line(desk)
    desk.enter("acme")
    order = desk.api.new_order(PLENTY)
    desk.order(order).live()
    line.cut()
    desk.page.locator(".live").wait_for(state="detached")
    desk.api.move(order, "REVIEW")
    desk.page.locator(".heading", has_text="In review").wait_for()
    desk.live()
    first, *_, last = line.sent
    assert "after" not in first.get("extensions", {})
    assert last["extensions"]["after"]


def test_without_a_connection_the_page_shows_what_it_has_read(desk: Desk) -> None:
    without_socket(desk)
    desk.enter("acme")
    order = desk.api.new_order(PLENTY)
    desk.order(order).page.get_by_role("button", name="Confirm").click()
    desk.alert("The order is confirmed now.")
    desk.page.locator(".heading", has_text="version 2").wait_for()
    assert desk.page.locator(".live").count() == 0
    assert desk.page.locator("[role=alert]").count() == 0


def test_a_customer_sees_its_order_move_on(desk: Desk) -> None:
    order = desk.api.new_order(PLENTY, user=CUSTOMER)
    as_customer(desk)
    desk.live()
    marked(desk)
    card = desk.page.get_by_role("listitem", name=f"Order {order}")
    card.get_by_text("Pending").wait_for()
    desk.api.move(order, "CONFIRMED")
    card.get_by_text("Confirmed").wait_for()
    desk.api.move(order, "SHIPPED")
    card.get_by_text("Shipped").wait_for()
    # what is shipped cannot be called off
    assert card.get_by_role("button", name="Cancel the order").count() == 0
    another = desk.api.new_order(PLENTY, user=CUSTOMER)
    desk.page.get_by_role("listitem", name=f"Order {another}").wait_for()
    assert is_marked(desk)
