"""The playground as somebody sees and uses it."""

import json
from typing import Any, Self
from urllib.parse import urlsplit

_SECONDS = 30
_RESPONSE = """() => globalThis.__MONACO?.editor.getModels()
    .find(model => model.uri.path.endsWith("response.json"))?.getValue() ?? "" """
_STORED = """() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"""


class Screen:
    """A page of its own, with nothing remembered; it notes every request and every failure."""

    def __init__(self, browser: Any, url: str, **look: Any) -> None:
        self.url = url
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **look)
        self.context.set_default_timeout(_SECONDS * 1_000)
        self.page = self.context.new_page()
        self.requests: list[Any] = []
        self.failures: list[str] = []
        self.page.on("request", self._note_request)
        self.page.on("pageerror", self._note_error)
        self.page.on("console", self._note_message)

    def _note_request(self, request: Any) -> None:
        self.requests.append(request)

    def _note_error(self, error: Any) -> None:
        self.failures.append(str(error))

    def _note_message(self, message: Any) -> None:
        # a refused token is a failed request to Chromium, and part of some tests
        if message.type == "error" and "401" not in message.text:
            self.failures.append(message.text)

    def open(self) -> Self:
        self.page.goto(f"{self.url}/playground")
        return self.ready()

    def ready(self) -> Self:
        self.page.wait_for_selector(".graphiql-query-editor .view-line")
        # completion and docs come with the schema
        self.page.wait_for_selector(".graphiql-sidebar svg.graphiql-spin", state="detached")
        return self

    def close(self) -> None:
        self.context.close()

    @property
    def foreign(self) -> list[str]:
        """Requests to other hosts; data: is no request."""
        own = urlsplit(self.url).netloc
        return [each.url for each in self.requests if urlsplit(each.url).netloc not in (own, "")]

    @property
    def graphql_requests(self) -> list[Any]:
        """The requests of operations, without those for the schema."""
        sent = [each for each in self.requests if urlsplit(each.url).path == "/graphql"]
        return [each for each in sent if each.post_data_json.get("operationName") != "IntrospectionQuery"]

    @property
    def operations(self) -> list[dict[str, Any]]:
        return [each.post_data_json for each in self.graphql_requests]

    def write(self, query: str, variables: str = "") -> None:
        for editor, text in ((".graphiql-query-editor", query), (".graphiql-editor-tool", variables)):
            self.page.locator(f"{editor} .monaco-editor:visible").click(position={"x": 90, "y": 30})
            self.page.keyboard.press("Control+A")
            self.page.keyboard.insert_text(text or " ")

    def tab(self, title: str) -> None:
        self.page.get_by_role("tab", name=title).click()

    def run(self) -> Any:
        self.page.get_by_role("button", name="Execute query").click()
        return self.answer()

    def answer(self, *, containing: str = "{") -> Any:
        self.page.wait_for_function(f"text => ({_RESPONSE})().includes(text)", arg=containing)
        return json.loads(self.page.evaluate(_RESPONSE))

    @property
    def response(self) -> str:
        return str(self.page.evaluate(_RESPONSE))

    def choose(self, group: str, name: str) -> None:
        self.page.get_by_role("group", name=group).get_by_text(name, exact=True).click()

    def became(self, who: str) -> None:
        """Waits until the page is somebody's, such as `acme · viewer`."""
        # functions, since the page's own rules do not let it evaluate a text
        self.page.wait_for_function("who => document.title.startsWith(who)", arg=who)

    def panel(self, title: str) -> Any:
        shown = self.page.get_by_role("button", name=f"Show {title}")
        if shown.count():
            shown.click()
        return self.page.locator(".graphiql-plugin")

    @property
    def stored(self) -> str:
        return str(self.page.evaluate(_STORED))
