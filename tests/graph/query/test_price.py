"""Estimates in capacity units follow from the model and the request: pages, shards, buckets, sizes, strong reads."""

from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Admitted, Documents
from gateway.graph.query.price import CostLimits
from gateway.graph.schema.schema import core_schema
from gateway.model.entity import Total
from gateway.store.capacity_units import query_units
from gateway.store.plan import ReadLimits
from tests.fixtures import EXAMPLES
from tests.graph.fixtures import SCHEMA, MemoryEndpoint
from tests.graph.query.test_call_counts import OPERATIONS, _orders

LIMITS = ReadLimits(page=100, default_page=20)
DOCUMENTS = Documents(
    MODEL, core_schema(SCHEMA), DocumentLimits(fields=5_000, members=5_000), introspection=True, reads=LIMITS
)
SHARDS = 4


def estimate(query: str, name: str | None = None, **variables: Any) -> float:
    document = DOCUMENTS.get(query)
    assert document.errors == ()
    operation = document.operation(name)
    assert operation is not None
    admitted = operation.admit(variables)
    assert isinstance(admitted, Admitted), admitted
    return admitted.estimate


def page(count: int, size: int) -> float:
    """One Query of a page and one item more."""
    return query_units(count + 1, size)


@pytest.mark.parametrize(
    ("query", "units"),
    [
        ("{ __typename }", 0),
        ("{ __schema { types { name } } }", 0),
        ("mutation { __typename }", 0),
        ('{ user(userId: "u") { name } }', 0.5),
        ('{ a: user(userId: "u") { name } b: user(userId: "v") { name } }', 1),
        ('{ users(userIds: ["a", "b", "c"]) { name } }', 1.5),
        ('{ users(userIds: "a") { name } }', 0.5),
        ('{ nodes(ids: ["a", "b"]) { id } }', 1 * 2),
        ('{ latestReading(deviceId: "d") { value } }', 1),
        ('{ order(orderId: "o") { status user { name } } }', 1),
        ('{ userByEmail(email: "e") { name } }', 1),
    ],
)
def test_single_items_cost_what_their_reads_do(query: str, units: float) -> None:
    assert estimate(query) == units


def test_a_page_is_read_from_every_shard() -> None:
    assert estimate("{ activeOrders(first: 50) { nodes { orderId } } }") == SHARDS * page(50, 600)
    assert estimate("{ activeOrders(last: 50) { nodes { orderId } } }") == SHARDS * page(50, 600)
    assert estimate("{ reviewQueue(first: 50) { nodes { orderId } } }") == page(50, 600)


def test_without_a_size_the_default_page_counts() -> None:
    assert estimate("{ activeOrders { nodes { orderId } } }") == SHARDS * page(LIMITS.default_page, 600)


@pytest.mark.parametrize("given", [-5, 100_000, None])
def test_a_size_that_will_be_refused_counts_within_the_limits(given: Any) -> None:
    found = estimate("query ($n: Int) { reviewQueue(first: $n) { nodes { orderId } } }", n=given)
    assert page(0, 600) <= found <= page(LIMITS.page, 600)


def test_variables_and_their_defaults_count() -> None:
    query = "query ($n: Int = 7) { reviewQueue(first: $n) { nodes { user { name } } } }"
    assert estimate(query) == page(7, 600) + 7 * 0.5
    assert estimate(query, n=90) == page(90, 600) + 90 * 0.5
    assert estimate(query, n=None) == page(LIMITS.default_page, 600) + LIMITS.default_page * 0.5
    many = "query ($ids: [ID!]!) { users(userIds: $ids) { name } }"
    assert estimate(many, ids=["a"] * 60) == 30
    assert estimate(many, ids=["a"] * 5_000) == LIMITS.page * 0.5, "more are refused when it runs"


def test_what_lies_below_a_page_counts_for_each_item() -> None:
    lines = 4  # as the model says of an order
    nested = "{ reviewQueue(first: 10) { nodes { lines { product { stock { available } } } } } }"
    stock = 1  # is read strongly
    assert estimate(nested) == page(10, 600) + 10 * lines * (0.5 + 0.5 + stock)


def test_edges_cost_what_nodes_do() -> None:
    edges = "{ reviewQueue(first: 10) { edges { cursor node { user { name } } } } }"
    nodes = "{ reviewQueue(first: 10) { nodes { user { name } } } }"
    assert estimate(edges) == estimate(nodes) == page(10, 600) + 5


def test_a_list_in_a_list_is_a_query_for_each_item() -> None:
    query = "{ categories(first: 10) { nodes { products(first: 5) { nodes { stock { available } } } } } }"
    inner = estimate('{ productsByCategory(categoryId: "c", first: 5) { nodes { stock { available } } } }')
    outer = estimate("{ categories(first: 10) { nodes { title } } }")
    assert estimate(query) == outer + 10 * inner


def test_an_item_with_a_collection_from_one_query_costs_one_query() -> None:
    assert estimate('{ order(orderId: "o") { status lines { title } } }') == query_units(6, 500)
    twice = '{ order(orderId: "o") { a: lines { title } b: lines { title } } }'
    assert estimate(twice) == 0.5 + 2 * 4 * 0.5, "asked for twice, they are read by their keys"


def test_page_info_with_a_cursor_may_probe() -> None:
    plain = "query ($c: String) { activeOrders(first: 5, after: $c) { pageInfo { hasPreviousPage } } }"
    assert estimate(plain, c="cursor") == estimate(plain) + SHARDS * 0.5


def test_totals_read_all_their_shards() -> None:
    [total] = [each for each in MODEL.entities["Post"].relations if isinstance(each, Total)]
    base = estimate('{ post(postId: "p") { title } }')
    assert estimate(f'{{ post(postId: "p") {{ {total.name} }} }}') == base + total.count * 0.5


def test_buckets_of_a_range_are_read() -> None:
    query = """query ($h: Int, $r: DateTimeRange) {
      readings(deviceId: "d", first: 10, lastHours: $h, recordedAt: $r) { nodes { value } } }"""
    full, empty = page(10, 200), 0.5
    assert estimate(query) == 8 * full + (26 - 8) * empty, "the last 24 hours lie in 25 buckets or 26"
    assert estimate(query, h=2) == 4 * full
    hours = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T05:00:00Z"}
    assert estimate(query, r=hours) == 7 * full
    assert estimate(query, r={"from": "2000-01-01T00:00:00Z"}) == 8 * full + (1_000 - 8) * empty
    assert estimate(query, r={"to": "2026-01-01T05:00:00Z"}) == estimate(query)
    assert estimate(query, h=-1) == 2 * full
    assert estimate(query, h=10**9) == 8 * full + (1_000 - 8) * empty, "refused when it runs"


def test_a_literal_range_with_variables_in_it_counts() -> None:
    query = """query ($f: DateTime) {
      readings(deviceId: "d", first: 1, recordedAt: {from: $f, to: "2026-01-01T05:00:00Z"}) { nodes { value } } }"""
    assert estimate(query, f="2026-01-01T04:00:00Z") < estimate(query, f="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("directive", "variables", "counts"),
    [
        ("@include(if: $yes)", {"yes": True}, True),
        ("@include(if: $yes)", {"yes": False}, False),
        ("@skip(if: $yes)", {"yes": True}, False),
        ("@skip(if: $yes)", {"yes": False}, True),
        ("@include(if: false)", {"yes": True}, False),
        ("@skip(if: true)", {"yes": True}, False),
    ],
)
def test_what_is_left_out_costs_nothing(directive: str, variables: dict[str, Any], counts: bool) -> None:
    query = 'query ($yes: Boolean!) { a: __typename @include(if: $yes) order(orderId: "o") { status %s } }'
    for part in (f"user {directive} {{ name }}", f"... {directive} {{ user {{ name }} }}"):
        assert estimate(query % part, **variables) == (1 if counts else 0.5)
    root = "query ($yes: Boolean!) { a: __typename @include(if: $yes) %s }"
    assert estimate(root % f'user(userId: "u") {directive} {{ name }}', **variables) == (0.5 if counts else 0)


def test_a_field_that_is_asked_for_in_two_fragments_counts_once() -> None:
    query = """
      { order(orderId: "o") {
          ...A ...B user { name } ... on Order { user { email } } ... on Node { ... on Order { user { phone } } } } }
      fragment A on Order { user { name } ...B }
      fragment B on Order { user { email } }
    """
    assert estimate(query) == 1


def test_the_most_expensive_type_behind_a_global_id_counts() -> None:
    one = '{ node(id: "x") { ... on User { name } } }'
    expensive = (
        '{ node(id: "x") { ... on Order { user { name } } ... on User { orders(first: 100) { nodes { orderId } } } } }'
    )
    assert estimate(one) == 1, "an item may be read strongly"
    assert estimate(expensive) == 1 + page(100, 600)


def test_a_change_costs_its_writes() -> None:
    update = """mutation ($i: UpdateProductInput!, $k: String) {
      updateProduct(input: $i, idempotencyKey: $k) { product { title } } }"""
    plain = estimate(update, i={"productId": "p"})
    assert plain >= 4
    assert estimate(update, i={"productId": "p"}, k="key") == plain + 2
    assert estimate(update, i={"productId": "q"}) == plain, "only whether there is a key matters"
    read = update.replace("{ title }", "{ stock { available } }")
    assert estimate(read, i={"productId": "p"}) == plain + 1


def test_the_lists_of_a_change_count() -> None:
    order = "mutation ($i: PlaceOrderInput!) { placeOrder(input: $i) { order { orderId } errors { code } } }"
    lines = [{"productId": "p", "quantity": 1}]
    assert (
        estimate(order, i={"userId": "u", "lines": lines * 11})
        == estimate(order, i={"userId": "u", "lines": lines}) + 10 * 6
    )
    reading = {"recordedAt": "2026-01-01T00:00:00Z", "value": "1", "unit": "C"}
    bulk = "mutation ($i: RecordReadingsInput!) { recordReadings(input: $i) { written } }"
    assert estimate(bulk, i={"deviceId": "d", "readings": [reading] * 500}) < CostLimits().units
    literal = (
        'mutation { placeOrder(input: {userId: "u", lines: [{productId: "p", quantity: 1}]}) { errors { code } } }'
    )
    assert estimate(literal) == estimate(order, i={"userId": "u", "lines": lines})


def test_an_unknown_operation_has_no_price() -> None:
    document = DOCUMENTS.get('query A { __typename } query B { user(userId: "u") { name } }')
    assert document.operation(None) is None
    assert estimate('query A { __typename } query B { user(userId: "u") { name } }', "B") == 0.5


async def test_queries_take_no_more_than_their_estimate() -> None:
    """With pages as full and items as large as declared, or smaller."""
    api = MemoryEndpoint(cost_limits=CostLimits(1e9))
    api.memory.put(_orders(60))
    examples = [(each.query, dict(each.variables_of("acme"))) for each in EXAMPLES]
    for query, variables in [*examples, *((query, {}) for _, query, _ in OPERATIONS)]:
        if "mutation" not in query:
            response = await api.post(query, variables, "acme/admin", extensions={"cost": True})
            cost = response.json()["extensions"]["cost"]
            assert 0 <= cost["actual"] <= cost["estimate"], query


def test_an_event_of_a_list_on_an_index_may_have_the_page_and_changes() -> None:
    page, changes = "page { nodes { status } }", "changes { kind nodeId node { status } }"

    def events(field: str) -> tuple[float, float, float]:
        parts = (page, changes, f"{page} {changes}")
        only_page, only_changes, both = (estimate(f"subscription {{ {field} {{ {part} }} }}") for part in parts)
        return only_page, only_changes, both

    only_page, only_changes, both = events("activeOrdersChanged")
    assert 0 < only_changes < only_page
    assert both == only_page + only_changes
    only_page, only_changes, both = events('ordersOfUserChanged(userId: "u-1001")')
    assert both == max(only_page, only_changes)
