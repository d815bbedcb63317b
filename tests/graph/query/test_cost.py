"""The limit on cost: exceeding it is refused before anything runs; each role has its own; requests can ask for it."""

from typing import Any

import pytest

from gateway.errors import LimitExceeded
from gateway.graph.query.operation import Admitted
from gateway.graph.query.price import CostLimits, Price
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import HELLO, code

ORDERS = "query ($n: Int) { activeOrders(first: $n) { nodes { user { name } lines { product { title } } } } }"


async def post(api: MemoryEndpoint, query: str, variables: dict[str, Any] | None = None, **more: Any) -> Any:
    return await api.post(query, variables, f"acme/{more.pop('role', 'viewer')}", extensions=more)


async def test_a_query_that_is_too_expensive_is_refused_with_its_cost_before_it_runs() -> None:
    api = MemoryEndpoint(cost_limits=CostLimits(20))
    response = await post(api, ORDERS, {"n": 50})
    assert code(response) == "LIMIT_EXCEEDED"
    message = response.json()["errors"][0]["message"]
    assert "may take 241 capacity units, at most 20 are allowed for the role `viewer`" in message
    assert "data" not in response.json()
    assert api.memory.sent == []
    assert (await post(api, ORDERS, {"n": 1})).json()["data"]["activeOrders"]["nodes"]


async def test_a_change_that_is_too_expensive_writes_nothing() -> None:
    api = MemoryEndpoint(cost_limits=CostLimits(1))
    mutation = 'mutation { removeProduct(input: {productId: "p-1001"}) { errors { code } } }'
    assert code(await post(api, mutation, role="admin")) == "LIMIT_EXCEEDED"
    assert api.memory.sent == []


async def test_a_role_may_have_a_limit_of_its_own() -> None:
    api = MemoryEndpoint(cost_limits=CostLimits(20, {"admin": 1_000, "support": 0.25}))
    assert code(await post(api, ORDERS, {"n": 50})) == "LIMIT_EXCEEDED"
    assert "errors" not in (await post(api, ORDERS, {"n": 50}, role="admin")).json()
    assert "errors" not in (await post(api, HELLO)).json()
    assert "at most 0.25" in (await post(api, HELLO, role="support")).text


async def test_the_cost_is_shown_to_those_who_ask(api: MemoryEndpoint) -> None:
    assert "extensions" not in (await post(api, HELLO)).json()
    assert "extensions" not in (await post(api, HELLO, cost=1)).json()
    shown = (await post(api, HELLO, cost=True)).json()["extensions"]
    assert shown == {"cost": {"estimate": 0.5, "actual": 0.5}}


async def test_a_refusal_shows_the_estimate_too() -> None:
    shown = (await post(MemoryEndpoint(cost_limits=CostLimits(1)), ORDERS, {"n": 50}, cost=True)).json()["extensions"]
    assert shown == {"cost": {"estimate": 241, "actual": 0}}


async def test_an_explanation_comes_with_the_cost() -> None:
    shown = (await post(MemoryEndpoint(explain=True), HELLO, explain=True)).json()["extensions"]
    assert shown["cost"] == {"estimate": 0.5, "actual": shown["explain"]["capacity"]}


async def test_what_is_read_twice_is_counted_once_in_the_actual_cost(api: MemoryEndpoint) -> None:
    twice = '{ a: product(productId: "p-1001") { title } b: product(productId: "p-1001") { title } }'
    assert (await post(api, twice, cost=True)).json()["extensions"]["cost"] == {"estimate": 1, "actual": 0.5}


def test_an_operation_is_bound_and_priced_once_for_each_choice_of_its_conditions(api: MemoryEndpoint) -> None:
    text = 'query A($on: Boolean!) { user(userId: "u") { name orders @include(if: $on) { nodes { total } } } }'
    operation = api.endpoint.documents.get(text).operation("A")
    assert operation is not None
    variants = [operation.variant({"on": on}) for on in (True, False, True, False)]
    assert variants[0] is variants[2]
    assert variants[1] is variants[3]
    assert variants[0].price.estimate({"on": True}) > variants[1].price.estimate({"on": False})


def test_an_estimate_is_remembered_by_every_variable_that_it_reads(api: MemoryEndpoint) -> None:
    text = """query ($n: Int, $m: Int, $x: String) {
      activeOrders(first: $n) { nodes { user { orders(first: $m) { nodes { total } } } } } __typename @skip(if: false)
      userByEmail(email: $x) { name } }""".replace("$x: String", "$x: String!")
    operation = api.endpoint.documents.get(text).operation(None)
    assert operation is not None
    price = operation.variant({}).price
    assert price.names == ("m", "n"), "one item costs the same whatever its key is"
    for n in (1, 50):
        for m in (1, 50):
            variables = {"n": n, "m": m, "x": f"{n} {m}"}
            decisions = [operation.admit(variables), operation.admit({**variables, "x": "another"})]
            assert [each.estimate for each in decisions if isinstance(each, Admitted)] == [_anew(price, variables)] * 2
    assert len(price.known) == 4


def _anew(price: Price, variables: dict[str, Any]) -> float:
    return Price(price.reads, None).estimate(variables)


@pytest.mark.parametrize("info", ["", "pageInfo { hasNextPage }"])
def test_pages_of_one_listing_share_an_estimate(api: MemoryEndpoint, info: str) -> None:
    page = f"activeOrders(first: $n, after: $after) {{ nodes {{ total }} {info} }}"
    text = f"query ($after: String, $n: Int) {{ {page} }}"
    operation = api.endpoint.documents.get(text).operation(None)
    assert operation is not None
    price = operation.variant({}).price
    sent: list[dict[str, Any]] = [{"n": 5}, {"n": 5, "after": None}, *({"n": 5, "after": f"c{n}"} for n in range(9))]
    for variables in sent:
        decision = operation.admit(variables)
        assert isinstance(decision, Admitted)
        assert decision.estimate == _anew(price, variables)
    assert len(price.known) == 2, "the first page, and any other"


def test_no_long_text_of_a_caller_is_kept_with_an_estimate(api: MemoryEndpoint) -> None:
    """They would fill the memory of the process, however little a caller may read."""
    text = "query ($id: ID!, $n: Int) { emailsOfUser(userId: $id, first: $n) { nodes { email } } }"
    operation = api.endpoint.documents.get(text).operation(None)
    assert operation is not None
    price = operation.variant({}).price
    for name in ("u-1001", "u" * 900_000):
        decision = operation.admit({"id": name, "n": 5})
        assert isinstance(decision, Admitted)
        assert decision.estimate == _anew(price, {"id": name, "n": 5})
    assert [key for key in price.known if "u-1001" in key] == [*price.known]


def test_an_estimate_that_depends_on_a_list_is_made_each_time(api: MemoryEndpoint) -> None:
    text = "query ($ids: [ID!]!) { products(productIds: $ids) { title } }"
    operation = api.endpoint.documents.get(text).operation(None)
    assert operation is not None
    decisions = [operation.admit({"ids": ["p"] * count}) for count in (1, 7, 1)]
    assert [each.estimate for each in decisions if isinstance(each, Admitted)] == [0.5, 3.5, 0.5]


@pytest.mark.parametrize(("estimate", "refused"), [(9.5, False), (10, False), (10.5, True), (1e15, True)])
def test_the_limit_itself_is_allowed(estimate: float, refused: bool) -> None:
    if refused:
        with pytest.raises(LimitExceeded):
            CostLimits(10).check(estimate, "viewer")
    else:
        CostLimits(10).check(estimate, "viewer")
