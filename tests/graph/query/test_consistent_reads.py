"""`consistent: true`: a strongly consistent read where the pattern declares it, in lanes and by the reference."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.graph.schema.schema import build_schema
from gateway.model.model import Model
from gateway.model.patterns import Choice, Listing
from gateway.store.cache.cache import ReadCache
from gateway.store.table import Table
from tests.graph.fixtures import DEMO_SHOP, IN_LANES, MemoryEndpoint, ServedModel, no_lanes, no_renewal

QUERY = """query ($c: Boolean) {
  one: user(userId: "u-1001", consistent: $c) { name }
  many: products(productIds: ["p-1001", "p-1002"], consistent: $c) { title }
  ordersOfUser(userId: "u-1001", first: 2, consistent: $c) { nodes { orderId } pageInfo { endCursor } } }"""
TOGETHER = """{ user(userId: "u-1001", consistent: true) {
  name orders(first: 2, consistent: true) { nodes { orderId } } } }"""


def strengths(api: MemoryEndpoint) -> set[bool]:
    """Whether the calls were strongly consistent."""
    bodies = [
        part
        for _, body in api.memory.sent
        for part in (body["RequestItems"].values() if "RequestItems" in body else [body])
    ]
    return {body.get("ConsistentRead", False) for body in bodies}


@pytest.fixture(params=["lane", "reference"])
def place(request: pytest.FixtureRequest, api: MemoryEndpoint) -> MemoryEndpoint:
    if request.param == "reference":
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


async def test_the_variable_of_each_request_decides(place: MemoryEndpoint) -> None:
    answers = []
    for given, strong in (({}, False), ({"c": True}, True), ({"c": False}, False), ({"c": None}, False)):
        answers.append(await place.ask(QUERY, given))
        assert strengths(place) == {strong}, given
        assert len(place.memory.sent) == 3
    assert answers == answers[:1] * 4


async def test_a_literal_asks_for_it_on_every_level(place: MemoryEndpoint) -> None:
    assert (await place.ask(TOGETHER))["user"]["orders"]["nodes"]
    assert strengths(place) == {True}
    # a Query of both would be another read than the one that was asked for
    assert place.calls == ["GetItem", "Query"]


async def test_both_reads_of_one_item_and_of_one_page_stay_apart(place: MemoryEndpoint) -> None:
    query = """{ a: user(userId: "u-1001") { name } b: user(userId: "u-1001", consistent: true) { name }
      c: ordersOfUser(userId: "u-1001") { nodes { orderId } }
      d: ordersOfUser(userId: "u-1001", consistent: true) { nodes { orderId } } }"""
    data = await place.ask(query)
    assert (data["a"], data["c"]) == (data["b"], data["d"])
    found = sorted((operation, body["ConsistentRead"]) for operation, body in place.memory.sent)
    assert found == [("GetItem", False), ("GetItem", True), ("Query", False), ("Query", True)]


async def test_a_cursor_serves_both_kinds_of_read(place: MemoryEndpoint) -> None:
    cursor = (await place.ask(QUERY, {"c": True}))["ordersOfUser"]["pageInfo"]["endCursor"]
    query = """query ($c: Boolean, $after: String) {
      ordersOfUser(userId: "u-1001", after: $after, consistent: $c) { nodes { orderId } } }"""
    pages = [
        (await place.ask(query, {"c": consistent, "after": cursor}))["ordersOfUser"] for consistent in (True, False)
    ]
    assert pages[0] == pages[1]
    assert pages[0]["nodes"]


async def test_it_runs_in_a_lane_and_costs_twice_as_much(api: MemoryEndpoint) -> None:
    await api.ask(QUERY, {"c": True})
    await api.ask(TOGETHER)
    assert api.lanes == {"lane": 2}
    operation = api.endpoint.documents.get(QUERY).by_name[None]
    plain, strong = (
        operation.variant({"c": consistent}).price.estimate({"c": consistent}) for consistent in (False, True)
    )
    assert strong == 2 * plain


@pytest.mark.parametrize("lanes", [True, False])
async def test_the_cache_is_passed_by(api: MemoryEndpoint, lanes: bool) -> None:
    table = Table(api.memory, MODEL, no_renewal, cache=ReadCache(MODEL))
    reference = replace(api.endpoint.reference, table=table)
    rules = IN_LANES if lanes else LaneRules(uses=10**9)
    made = Lanes(MODEL, table, reference.cursors, reference.limits, rules)
    api.endpoint = replace(api.endpoint, reference=reference, lanes=made)
    query = 'query ($c: Boolean) { product(productId: "p-1001", consistent: $c) { title } }'
    calls = []
    for given in ({}, {}, {"c": True}, {"c": True}):
        await api.ask(query, given)
        calls.append(api.calls)
    assert calls == [["GetItem"], [], ["GetItem"], ["GetItem"]]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("{ activeOrders(consistent: true) { nodes { orderId } } }", "Query.activeOrders"),
        ('{ user(userId: "u") { sessions(consistent: true) { nodes { sessionId } } } }', "User.sessions"),
    ],
)
async def test_elsewhere_the_error_says_why_and_what_to_do(api: MemoryEndpoint, query: str, field: str) -> None:
    [error] = (await api.post(query)).json()["errors"]
    assert error["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert error["message"].startswith(f"'{field}' cannot be read consistently: it reads an index, or")
    assert "send the consistency token" in error["message"]
    assert not api.memory.sent


async def test_a_choice_refuses_it_where_an_index_would_answer(api: MemoryEndpoint) -> None:
    query = """query ($c: Boolean, $status: OrderStatus) {
      ordersOfUser(userId: "u-1001", status: $status, consistent: $c) { nodes { orderId } } }"""
    [error] = (await api.post(query, {"c": True, "status": "DELIVERED"})).json()["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["message"].startswith("`ordersOfUser` cannot be read consistently with these arguments; leave out")
    assert (await api.ask(query, {"status": "DELIVERED"}))["ordersOfUser"]["nodes"]


@pytest.fixture(scope="module")
def single_phone() -> ServedModel:
    """With a listing of a single item on the table: the demo has none."""
    domain = MODEL.domains[0]
    single = Listing(name="firstPhoneOfUser", entity="Phone", description="One phone.", single=True, consistent=True)
    model = Model(domains=(replace(domain, patterns=(*domain.patterns, single)), *MODEL.domains[1:]))
    return replace(DEMO_SHOP, model=model, schema=build_schema(model))


@pytest.mark.parametrize("lanes", [True, False])
async def test_a_listing_of_a_single_item_takes_it_too(single_phone: ServedModel, lanes: bool) -> None:
    api = MemoryEndpoint(served=single_phone)
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    query = '{ firstPhoneOfUser(userId: "u-1001", consistent: true) { phone } }'
    assert (await api.ask(query, token="acme/admin"))["firstPhoneOfUser"]
    assert strengths(api) == {True}
    assert not lanes or api.lanes == {"lane": 1}


def _faults(name: str, **changes: Any) -> str:
    domain = MODEL.domains[0]
    changed = tuple(
        replace(pattern, **changes) if not isinstance(pattern, Choice) and pattern.name == name else pattern
        for pattern in domain.patterns
    )
    with pytest.raises(Exception, match="consistent") as refused:
        Model(domains=(replace(domain, patterns=changed), *MODEL.domains[1:]))
    return str(refused.value)


def test_an_index_is_refused_when_the_model_is_loaded() -> None:
    faults = _faults("activeOrders", consistent=True)
    assert "pattern activeOrders: an index cannot be read consistently; leave out `consistent`" in faults


def test_a_pattern_is_not_declared_both_ways() -> None:
    faults = _faults("user", strong=True)
    assert "pattern user: with `strong` every read is consistent; leave out `consistent`" in faults
