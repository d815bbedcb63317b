"""Compiled queries answer exactly what graphql-core answers, and call DynamoDB as often or less for each root."""

import json
from typing import Any

import pytest
from graphql import GraphQLObjectType, execute, get_named_type
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.domains import MODEL
from gateway.errors import Unavailable
from gateway.graph.compile import Programs
from gateway.graph.context import Context
from gateway.graph.reader import Reader, ReadLimits
from gateway.graph.run import run_program
from gateway.graph.schema import core_schema
from gateway.graph.selection import Selections
from gateway.model.entity import Collection, Reference
from gateway.store.access import Access
from gateway.store.writer import Writer
from tests.graph.world import SCHEMA, World, authenticate, open_session

CORE = core_schema(SCHEMA)
ROOTS = (
    'user(userId: "u-1001")',
    'user(userId: "nobody")',
    'users(userIds: ["u-1001", "nobody", "u-1002", "u-1001"])',
    'userByEmail(email: "jonas.kaya@acme.example")',
    'order(orderId: "o-1001")',
    'orders(orderIds: ["o-1001", "o-1002"])',
    "ordersByStatus(status: DELIVERED, first: 3)",
    "activeOrders(last: 2)",
    'ordersOfUser(userId: "u-1001", placedAt: {from: "2026-01-20T00:00:00Z"}, first: 2)',
    "reviewQueue",
    'product(productId: "p-1001")',
    'productsByCategory(categoryId: "tools", price: {to: "40"}, first: 4)',
    'category(categoryId: "tools")',
    "categories",
    'linesOfProduct(productId: "p-1001", first: 2)',
    'stock(productId: "p-1001")',
)
PAGED = ("(first: 2)", "(last: 1)", "(first: 0)", "")


def _names(owner: GraphQLObjectType) -> list[str]:
    return [*owner.fields, "__typename"]


def _compilable(owner: GraphQLObjectType, name: str) -> bool:
    """What graphql-core alone runs is not what is compared here."""
    entity = MODEL.entities.get(owner.name)
    relation = entity.relation.get(name) if entity else None
    return relation is None or isinstance(relation, Collection | Reference)


@st.composite
def selections(draw: Any, owner: GraphQLObjectType, depth: int) -> str:
    names = [name for name in _names(owner) if _compilable(owner, name) and (depth > 0 or not _is_object(owner, name))]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    return "{ " + " ".join([draw(fields(owner, name, depth)) for name in chosen]) + " }"


def _is_object(owner: GraphQLObjectType, name: str) -> bool:
    return name in owner.fields and isinstance(get_named_type(owner.fields[name].type), GraphQLObjectType)


@st.composite
def fields(draw: Any, owner: GraphQLObjectType, name: str, depth: int) -> str:
    alias = draw(st.sampled_from(("", "", f"x{draw(st.integers(0, 99))}_{name}: ")))
    if not _is_object(owner, name):
        return f"{alias}{name}"
    definition = owner.fields[name]
    target = get_named_type(definition.type)
    assert isinstance(target, GraphQLObjectType)
    # the same field with other arguments needs another name
    paged = draw(st.sampled_from(PAGED)) if "first" in definition.args else ""
    number = draw(st.integers(0, 9_999))
    alias = f"y{number}_{name}: " if paged else alias
    inner = draw(selections(target, depth - 1))
    if draw(st.booleans()):
        inner = "{ ... on " + target.name + " " + inner + " }"
    return f"{alias}{name}{paged} {inner}"


@st.composite
def roots(draw: Any) -> list[str]:
    assert CORE.query_type is not None
    parts = []
    for number, root in enumerate(draw(st.lists(st.sampled_from(ROOTS), min_size=1, max_size=3))):
        target = get_named_type(CORE.query_type.fields[root.split("(")[0]].type)
        assert isinstance(target, GraphQLObjectType)
        parts.append(f"r{number}: {root} {draw(selections(target, 5))}")
    return parts


async def _both(world: World, query: str, token: str = "acme/viewer") -> tuple[Any, Any, int, int]:
    session = await open_session(await authenticate(f"Bearer {token}"))
    document = world.endpoint.documents.get(query)
    assert document.ast is not None, document.errors
    program = Programs(MODEL, CORE).get(document, None)
    assert program is not None
    readers = [
        Reader(MODEL, world.endpoint.table, Access(session), world.endpoint.cursors, ReadLimits(queries=1_000))
        for _ in range(2)
    ]
    ours = await run_program(program, CORE, readers[0], {})
    context = Context(readers[1], Writer(MODEL, world.endpoint.table, readers[1].access), Selections(MODEL))
    theirs: Any = execute(CORE, document.ast, context_value=context)
    if hasattr(theirs, "__await__"):
        theirs = await theirs
    assert not theirs.errors
    return ours, theirs.data, len(readers[0].access.calls), len(readers[1].access.calls)


WORLD = World()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=roots())
async def test_a_compiled_query_answers_what_graphql_core_answers(parts: list[str]) -> None:
    query = f"{{ {' '.join(parts)} }}"
    document = WORLD.endpoint.documents.get(query)
    if document.ast is None:
        return  # too deep, or two fields of one name that differ
    ours, theirs, our_calls, their_calls = await _both(WORLD, query)
    assert json.dumps(ours) == json.dumps(theirs)
    if our_calls > their_calls:
        # roots that are not alike may miss each other's turn; then each reads what it would read alone
        assert len(parts) > 1
        assert our_calls <= sum([(await _both(WORLD, f"{{ {part} }}"))[2] for part in parts])


async def test_variables_and_defaults_reach_a_compiled_query(world: World) -> None:
    query = """query ($status: OrderStatus = DELIVERED, $first: Int, $range: DateTimeRange) {
      ordersByStatus(status: $status, first: $first, placedAt: $range) { nodes { orderId status } } }"""
    document = world.endpoint.documents.get(query)
    assert world.endpoint.programs.get(document, None) is not None
    given_variables: list[dict[str, Any]] = [
        {},
        {"first": 2},
        {"status": "SHIPPED"},
        {"range": {"from": "2026-02-01T00:00:00Z"}},
    ]
    for variables in given_variables:
        data = await world.ask(query, variables)
        assert len(data["ordersByStatus"]["nodes"]) <= variables.get("first", 20)
        wanted = variables.get("status", "DELIVERED")
        assert {node["status"] for node in data["ordersByStatus"]["nodes"]} <= {wanted}


@pytest.mark.parametrize(
    "query",
    [
        "{ __schema { queryType { name } } }",
        '{ user(userId: "u-1001") { name @skip(if: false) } }',
        'query @skip(if: false) { user(userId: "u-1001") { name } }',
        '{ node(id: "x") { id } }',
        'mutation { removeProduct(input: {productId: "x"}) { errors { code } } }',
    ],
)
async def test_what_is_not_compiled_is_left_to_graphql_core(world: World, query: str) -> None:
    document = world.endpoint.documents.get(query)
    assert world.endpoint.programs.get(document, None) is None


async def test_a_failure_below_is_not_asked_for_again(world: World) -> None:
    world.memory.script["GetItem"].append(Unavailable("aws is not reachable"))
    world.memory.script["Query"].append(Unavailable("aws is not reachable"))
    response = await world.post('{ product(productId: "p-1001") { title } categories { nodes { title } } }')
    assert response.json()["data"] is None
    assert {error["extensions"]["code"] for error in response.json()["errors"]} == {"UNAVAILABLE"}
    assert sorted(world.calls) == ["GetItem", "Query"]


async def test_what_a_row_lacks_is_worded_by_graphql_core(world: World) -> None:
    row = world.memory.rows["TENANT#acme#PRODUCT#p-1001", "DETAILS"]
    del row["title"]
    response = await world.post('{ product(productId: "p-1001") { title price } }')
    assert response.json()["data"] == {"product": None}
    assert len(response.json()["errors"]) == 1


async def test_an_item_with_its_collection_is_read_once_also_where_something_beside_it_fails(world: World) -> None:
    world.memory.script["GetItem"].append(Unavailable("aws is not reachable"))
    query = (
        '{ product(productId: "p-1001") { title } user(userId: "u-1001") { orders(first: 1) { nodes { orderId } } } }'
    )
    answer = (await world.post(query)).json()
    assert answer["data"]["product"] is None
    assert answer["data"]["user"]["orders"]["nodes"]
    assert sorted(world.calls) == ["GetItem", "Query"]


async def test_an_item_with_its_collection_that_fails_is_not_asked_for_again(world: World) -> None:
    world.memory.script["Query"].append(Unavailable("aws is not reachable"))
    answer = (await world.post('{ user(userId: "u-1001") { orders(first: 1) { nodes { orderId } } } }')).json()
    assert answer["data"] == {"user": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert world.calls == ["Query"]


async def test_a_page_that_is_too_large_is_an_error_of_its_own_field(world: World) -> None:
    answer = (await world.post('{ user(userId: "u-1001") { orders(first: 1000) { nodes { orderId } } } }')).json()
    assert [error["path"] for error in answer["errors"]] == [["user", "orders"]]


@pytest.mark.parametrize(
    "query",
    [
        '{ product(productId: "no id") { title } categories(first: 1) { nodes { title } } }',
        '{ categories(first: 1) { nodes { title } } product(productId: "no id") { title } }',
        '{ user(userId: "u-1001") { orders(first: 999) { nodes { note } } } categories(first: 1) { nodes { title } } }',
    ],
)
async def test_what_fails_at_once_does_not_take_along_what_is_still_read(world: World, query: str) -> None:
    response = await world.post(query)
    assert response.status_code == 200
    assert [error["extensions"]["code"] for error in response.json()["errors"]] == ["BAD_USER_INPUT"]
    assert response.json()["data"]["categories"]["nodes"]
    assert world.calls.count("Query") == 1


async def test_a_page_that_two_fields_wait_for_outlives_either_of_them(world: World) -> None:
    """The one of `a` is given up, since a list that cannot be null fails beside it."""
    query = """query ($on: Boolean!) {
      a: user(userId: "u-1001") { emails(first: 1) { nodes { email } } phones(first: 1000) { nodes { phone } } }
      b: user(userId: "u-1001") { emails(first: 1) { nodes { email } } name @include(if: $on) } }"""
    response = await world.post(query, {"on": True})
    assert response.status_code == 200
    assert response.json()["data"]["a"] is None
    assert len(response.json()["data"]["b"]["emails"]["nodes"]) == 1
