"""The playground's token in Chromium: seen and copied, kept nowhere, and asked for in production."""

import json
from typing import Any

from tests.browser.conftest import Look
from tests.fixtures import CATALOGUES

PRODUCT = 'query Secret { product(productId: "p-1001") { title description } }'


def test_the_token_can_be_seen_and_copied(look: Look, sandbox: str) -> None:
    screen = look(sandbox, permissions=["clipboard-read", "clipboard-write"]).open()
    screen.run()
    sent = screen.graphql_requests[-1].headers["authorization"].removeprefix("Bearer ")
    screen.page.get_by_role("button", name="Token", exact=False).first.click()
    panel = screen.page.locator("#token-panel")
    assert panel.get_by_label("The token").input_value() == sent
    assert "viewer@acme.example" in panel.inner_text()
    screen.page.keyboard.press("Escape")
    assert not panel.is_visible()
    screen.page.get_by_role("button", name="Copy token").click()
    screen.page.get_by_text("Copied").wait_for()
    assert screen.page.evaluate("navigator.clipboard.readText()") == sent


def test_no_token_is_stored_and_a_reload_keeps_the_choice(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.choose("Tenant", "globex")
    screen.became("globex")
    screen.run()
    assert "UserWithOrders" in screen.panel("History").inner_text()
    # GraphiQL writes with a delay
    screen.page.wait_for_function("() => localStorage.getItem('graphiql:tabState') !== null")
    tokens = [
        each.headers["authorization"].split(".")[-1] for each in screen.requests if "authorization" in each.headers
    ]
    assert tokens
    assert [token for token in tokens if token in screen.stored] == []
    screen.page.reload()
    screen.ready()
    assert screen.page.title() == "globex · viewer · Playground"


def test_a_token_that_is_not_accepted_any_more_is_renewed(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    refusals = iter([True])

    def refuse_once(route: Any) -> None:
        if next(refusals, False):
            route.fulfill(status=401, json={"errors": [{"message": "expired"}]})
        else:
            route.continue_()

    screen.page.route("**/graphql", refuse_once)
    assert screen.run()["data"]["user"]["name"]
    token_requests = [each.url for each in screen.requests if each.url.endswith("/sandbox/token")]
    assert len(token_requests) == 2


def test_a_header_typed_by_hand_does_not_change_who_asks(look: Look, sandbox: str) -> None:
    screen = look(sandbox).open()
    screen.page.get_by_role("button", name="Headers").click()
    screen.page.locator(".graphiql-editor-tool .monaco-editor:visible").click(position={"x": 90, "y": 30})
    screen.page.keyboard.insert_text('{"AUTHORIZATION": "Bearer forged", "x-request-id": "by-hand"}')
    assert screen.run()["data"]["user"]["name"]
    headers = screen.graphql_requests[-1].headers
    assert headers["authorization"] != "Bearer forged"
    assert headers["x-request-id"] == "by-hand"


def test_in_production_a_visitor_needs_a_token(look: Look, production: str) -> None:
    screen = look(production)
    page = screen.page
    page.goto(f"{production}/playground")
    page.get_by_label("Bearer token").fill("guessed")
    page.get_by_role("button", name="Open the playground").click()
    page.get_by_text("UNAUTHENTICATED: the token is not valid").wait_for()
    assert page.locator(".graphiql-container").count() == 0
    page.get_by_label("Bearer token").fill("Bearer globex/viewer")
    page.get_by_role("button", name="Open the playground").click()
    screen.ready()
    assert page.locator(".who").inner_text().split() == ["globex", "viewer"]
    screen.write(PRODUCT)
    assert CATALOGUES["globex"] in json.dumps(screen.run())
    assert "globex/viewer" not in screen.stored
    page.reload()
    page.get_by_label("Bearer token").wait_for()


def test_in_production_a_refused_token_leads_back_to_the_sign_in(look: Look, production: str) -> None:
    screen = look(production)
    page = screen.page
    page.goto(f"{production}/playground")
    page.get_by_label("Bearer token").fill("acme/viewer")
    page.get_by_role("button", name="Open the playground").click()
    screen.ready()
    page.route("**/graphql", lambda route: route.fulfill(status=401, json={"errors": [{"message": "expired"}]}))
    page.get_by_role("button", name="Execute query").click()
    page.get_by_text("The token is not accepted any more.").wait_for()
    assert page.locator(".graphiql-container").count() == 0
