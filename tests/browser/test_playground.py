"""The playground in Chromium: whose data is shown, what is refused, what is explained, and what is kept."""

import json
import re
from typing import Any

import pytest

from tests.browser.conftest import Look
from tests.browser.screen import Screen
from tests.fixtures import CATALOGUES, EXAMPLES

PRODUCT = 'query Secret { product(productId: "p-1001") { title description } }'
CHANGE = 'mutation Late { updateProduct(input: {productId: "p-1002", tags: ["late"]}) { product { description } } }'
TABS = [example for example in EXAMPLES if example.tab]


def test_it_opens_with_examples_documentation_and_the_explorer(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    titles = screen.page.get_by_role("tab").all_inner_texts()
    assert len(titles) == len(TABS)
    assert titles[0] == "UserWithOrders"
    assert "Root Types" in screen.panel("Documentation Explorer").inner_text()
    assert "activeOrders" in screen.panel("GraphiQL Explorer").inner_text()
    assert screen.page.title() == "acme · viewer · Playground"


def test_a_tenant_sees_its_own_data_and_a_switch_asks_again(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.write(PRODUCT)
    assert CATALOGUES["acme"] in json.dumps(screen.run())
    colour = "getComputedStyle(document.getElementById('bar')).borderTopColor"
    before = screen.page.evaluate(colour)
    screen.choose("Tenant", "globex")
    screen.answer(containing=CATALOGUES["globex"])
    assert CATALOGUES["acme"] not in screen.response
    assert screen.page.title() == "globex · viewer · Playground"
    assert screen.page.evaluate(colour) != before
    first, second = screen.operations
    assert first == second, "the same operation, asked by somebody else"


def test_the_examples_follow_the_tenant(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Tenant", "initech")
    screen.became("initech")
    assert screen.run()["data"]["user"]["orders"]["nodes"]
    assert screen.operations[-1]["variables"] == {"userId": "u-5001"}


def test_two_choices_in_a_row_are_both_made(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Tenant", "globex")
    screen.choose("Role", "editor")
    screen.became("globex · editor")
    screen.run()
    assert screen.panel("Explain").locator(".operation").inner_text().split() == ["UserWithOrders", "globex", "editor"]


def test_support_may_not_read_a_name_and_is_told_why(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    assert screen.run()["data"]["user"]["name"]
    screen.choose("Role", "support")
    answer = screen.answer(containing="FORBIDDEN")
    assert answer["data"]["user"]["name"] is None
    assert answer["data"]["user"]["orders"]["nodes"]
    [error] = answer["errors"]
    assert (error["extensions"]["code"], error["path"]) == ("FORBIDDEN", ["user", "name"])
    refused = screen.panel("Explain").locator(".refused li").inner_text()
    assert refused.startswith("name")
    assert "NeverHidden" in refused


def test_the_plan_of_the_last_operation_is_explained(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.tab("ActiveOrders")
    answer = screen.run()
    assert "explain" not in json.dumps(answer), "it has a panel of its own"
    panel = screen.panel("Explain")
    heads = panel.locator(".calls .head").all_inner_texts()
    assert [re.split(r"\s+", head)[:4] for head in heads] == [
        ["Query", "GSI3", "×", "4"],
        ["BatchGetItem", "table", "×", "4"],
    ]
    text = panel.inner_text()
    for word in (
        "ACTIVE#0",
        "USER#<userId>",
        "ITEM#<productId>",
        "capacity units",
        "identity OwnItems",
        "session OwnItems",
    ):
        assert word in text
    assert screen.graphql_requests[-1].response().headers["x-request-id"] in text
    assert "8 DynamoDB calls" in screen.page.locator(".summary").inner_text()


def test_a_change_is_never_repeated_by_a_switch(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Role", "editor")
    screen.became("acme · editor")
    screen.tab("PlaceOrder")
    assert screen.run()["data"]["placeOrder"]["order"]["status"] == "PENDING"
    assert "TransactWriteItems" in screen.panel("Explain").inner_text()
    screen.choose("Tenant", "globex")
    screen.became("globex")
    # somebody else's answer is gone, and a query that follows is the next that is asked
    assert screen.response == ""
    screen.tab("UserWithOrders")
    screen.run()
    assert [each["operationName"] for each in screen.operations] == ["PlaceOrder", "UserWithOrders"]


def test_other_tabs_forget_the_answers_of_the_tenant_before(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.write(PRODUCT)
    screen.run()
    screen.tab("ActiveOrders")
    screen.choose("Tenant", "globex")
    screen.became("globex")
    screen.tab("Secret")
    assert screen.response == ""


def test_an_answer_that_comes_too_late_is_not_shown(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Role", "editor")
    screen.became("acme · editor")
    screen.write(CHANGE)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    screen.page.route("**/graphql", hold)
    with screen.page.expect_request("**/graphql"):
        screen.page.get_by_role("button", name="Execute query").click()
    screen.choose("Tenant", "globex")
    screen.became("globex · editor")
    with screen.page.expect_response("**/graphql") as late:
        held[0].continue_()
    assert CATALOGUES["acme"] in late.value.text()
    # what the page does with an answer, it does at once
    screen.page.wait_for_timeout(300)
    assert screen.response == ""
    assert screen.panel("Explain").locator(".calls li").count() == 0


def test_the_keyboard_is_enough(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    page = screen.page
    page.keyboard.press("Control+Enter")
    screen.answer()
    page.locator(".graphiql-query-editor .monaco-editor").click(position={"x": 90, "y": 30})
    with page.expect_response("**/graphql"):
        page.keyboard.press("Control+Enter")
    screen.answer()
    assert len(screen.graphql_requests) == 2, "once for each, wherever it was pressed"
    page.get_by_role("group", name="Tenant").get_by_label("acme").focus()
    page.keyboard.press("ArrowRight")
    screen.became("globex")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    screen.became("globex · support")
    screen.answer(containing="FORBIDDEN")


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_follows_the_system_into_the_dark(look: Look, sandbox: str, scheme: str, dark: bool) -> None:
    screen = look(sandbox, color_scheme=scheme).open()
    for element in ("document.body", "document.querySelector('.graphiql-container')"):
        colour = screen.page.evaluate(f"getComputedStyle({element}).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 300) is dark


def test_the_landing_page_leads_here(look: Look, sandbox: str) -> None:
    screen = look(sandbox)
    screen.page.goto(sandbox)
    screen.page.get_by_role("link", name="/playground").click()
    screen.ready()


def test_a_refusal_names_the_call_that_was_made(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Role", "support")
    screen.became("acme · support")
    screen.run()
    panel = screen.panel("Explain")
    assert panel.locator(".calls .head .badge").first.inner_text() == "Query"
    refused = panel.locator(".refused li").inner_text()
    assert "dynamodb:Query" in refused
    assert "GetItem" not in refused


def test_footer_and_explain_follow_the_tab(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.run()
    summary, panel = screen.page.locator(".summary"), screen.panel("Explain")
    assert "1 DynamoDB call" in summary.inner_text()
    screen.tab("ActiveOrders")
    summary.get_by_text("Ctrl-Enter runs the operation.").wait_for()
    assert panel.locator(".operation").count() == 0
    screen.run()
    panel.locator(".operation", has_text="ActiveOrders").wait_for()
    screen.tab("UserWithOrders")
    panel.locator(".operation", has_text="UserWithOrders").wait_for()
    assert "1 DynamoDB call" in summary.inner_text()


def inside(screen: Screen, part: str, whole: str) -> bool:
    """Whether all of these parts lie inside the whole, and inside the window."""
    found = screen.page.evaluate(
        """([part, whole]) => {
            const box = document.querySelector(whole).getBoundingClientRect();
            return [...document.querySelectorAll(part)].map(each => each.getBoundingClientRect()).map(
                each => each.width > 0 && each.left >= box.left - 1 && each.right <= Math.min(box.right, innerWidth) + 1
                    && each.top >= box.top - 1 && each.bottom <= Math.min(box.bottom, innerHeight) + 1)
        }""",
        [part, whole],
    )
    assert found
    return all(found)


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_every_tab_is_seen_however_many_there_are(look: Look, sandbox: str, width: int) -> None:
    screen = look(sandbox)
    screen.page.set_viewport_size({"width": width, "height": 900})
    screen.open()
    for _ in range(4):
        screen.page.get_by_role("button", name="New tab").click()
    screen.page.wait_for_function(f"() => document.querySelectorAll('.graphiql-tab').length === {len(TABS) + 4}")
    assert inside(screen, ".graphiql-tab", ".graphiql-session-header")


def test_a_phone_shows_the_query_and_the_answer_and_no_panel(look: Look, sandbox: str) -> None:
    screen = look(sandbox)
    screen.page.set_viewport_size({"width": 390, "height": 844})
    screen.open()
    screen.run()
    page = screen.page
    assert page.locator(".graphiql-plugin > *").count() == 0, "Explain is closed until somebody opens it"
    for part, height in ((".graphiql-query-editor", 150), (".graphiql-response .result-window", 200)):
        box = page.locator(part).bounding_box()
        assert box["width"] > 340
        assert box["height"] > height
        assert inside(screen, part, "body")
    for part in ("#bar label", "#bar button", ".graphiql-sidebar > button", ".graphiql-tab", ".summary"):
        assert inside(screen, part, "body")
    page.locator(".graphiql-response").get_by_text('"orderId"').first.wait_for()
    assert "1 DynamoDB call" in page.locator(".summary").inner_text()
    panel = screen.panel("Explain")
    panel.get_by_text("UserWithOrders").wait_for()
    assert panel.bounding_box()["width"] > 340
    page.get_by_role("button", name="Hide Explain").click()
    page.get_by_role("button", name="Execute query").click()
