"""The order desk as somebody sees and uses it, and the API behind its back."""

from typing import Any, Self

from tests.browser.screen import Screen

# all of an order's list that the desk shows at once
PAGE = 10


class Desk:
    """Somebody at the order desk, in a page of their own."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.page = screen.page
        self.api = Api(screen)

    def enter(self, tenant: str, role: str = "admin") -> Self:
        if "/demo" not in self.page.url:
            self.page.goto(f"{self.screen.url}/demo")
        self.page.get_by_role("radio", name=role).check(force=True)
        self.page.get_by_role("button", name=f"Sign in at {tenant}").click()
        self.page.get_by_role("navigation", name="Pages", exact=True).wait_for()
        return self

    def go(self, place: str) -> Self:
        self.page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name=place).click()
        return self

    def at(self, address: str) -> Self:
        self.page.evaluate("address => { location.hash = address }", address)
        return self

    @property
    def orders(self) -> list[str]:
        """The ids of the list that is shown, when it has come."""
        self.page.locator("div[aria-busy=false] > table.orders").wait_for()
        links = self.page.locator("table.orders tbody th a")
        return [str(link).rpartition("/")[2] for link in links.evaluate_all("all => all.map(each => each.hash)")]

    def turn(self, where: str) -> list[str]:
        before = self.orders
        self.page.get_by_role("link", name=where).click()
        self.page.wait_for_function(
            "before => document.querySelector('table.orders tbody th a')?.hash.split('/').at(-1) !== before",
            arg=before[0],
        )
        return self.orders

    def order(self, order_id: str) -> Self:
        self.at(f"#/orders/{order_id}")
        self.page.get_by_role("heading", name=f"Order {order_id}").wait_for()
        return self

    def live(self) -> Self:
        """Waits until the page says that changes arrive."""
        self.page.locator(".live").wait_for()
        return self

    @property
    def heading(self) -> str:
        return str(self.page.locator(".heading").inner_text())

    def take(self, *products: str) -> Self:
        """Puts products into the basket and opens it; each is looked for in its category."""
        for product in products:
            item = self.api.ask("query($id: ID!) { product(productId: $id) { title categoryId } }", id=product)[
                "product"
            ]
            self.at(f"#/catalogue/{item['categoryId']}")
            self.page.get_by_role("button", name=f"Put {item['title']} into the basket").click()
        return self.go("Basket")

    def place(self, customer: str) -> Self:
        self.page.get_by_label("Customer").select_option(customer)
        self.page.get_by_role("button", name="Place the order").click()
        return self

    def alert(self, text: str) -> Any:
        found = self.page.locator("[role=alert], [role=status]").filter(has_text=text).first
        found.wait_for()
        return found

    def sent(self, operation: str) -> list[dict[str, Any]]:
        return [each["variables"] for each in self.screen.operations if each.get("operationName") == operation]


class Api:
    """Asks the gateway as somebody else does at the same time."""

    def __init__(self, screen: Screen) -> None:
        self._url = screen.url
        self._http = screen.context.request

    def ask(self, query: str, /, tenant: str = "acme", role: str = "admin", **variables: Any) -> Any:
        caller = {"tenant": tenant, "role": role}
        token = self._http.post(f"{self._url}/sandbox/token", data=caller).json()["token"]
        answer = self._http.post(
            f"{self._url}/graphql",
            data={"query": query, "variables": variables},
            headers={"authorization": f"Bearer {token}"},
        ).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def active(self, tenant: str = "acme", first: int = 50) -> list[str]:
        query = "query($first: Int) { activeOrders(first: $first) { nodes { orderId } } }"
        return [node["orderId"] for node in self.ask(query, tenant, first=first)["activeOrders"]["nodes"]]

    def stock(self, product: str) -> int:
        query = "query($id: ID!) { stock(productId: $id) { available } }"
        return int(self.ask(query, id=product)["stock"]["available"])

    def set_stock(self, product: str, available: int) -> None:
        query = "mutation($input: SetStockInput!) { setStock(input: $input) { errors { code } } }"
        assert self.ask(query, input={"productId": product, "available": available})["setStock"]["errors"] == []

    def new_order(self, product: str, tenant: str = "acme", user: str = "u-1001", **more: Any) -> str:
        query = "mutation($input: PlaceOrderInput!) { placeOrder(input: $input) { order { orderId } errors { code } } }"
        order = {"userId": user, "lines": [{"productId": product, "quantity": 1}], **more}
        made = self.ask(query, tenant, input=order)["placeOrder"]
        assert made["errors"] == []
        return str(made["order"]["orderId"])

    def move(self, order: str, status: str) -> None:
        query = "mutation($input: ChangeOrderStatusInput!) { changeOrderStatus(input: $input) { errors { code } } }"
        assert self.ask(query, input={"orderId": order, "status": status})["changeOrderStatus"]["errors"] == []

    def status(self, order: str, tenant: str = "acme") -> tuple[str, int]:
        found = self.ask("query($id: ID!) { order(orderId: $id) { status version } }", tenant, id=order)["order"]
        return found["status"], found["version"]


def without_socket(desk: Desk) -> None:
    """As where no WebSocket comes through: it opens, and is closed at once."""
    desk.page.route_web_socket("**/graphql", lambda socket: socket.close())
