"""What runs in a lane, what must not step back from it, and what it must never do."""

import asyncio
import gc
import re
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graphql import OperationDefinitionNode, OperationType, parse

from gateway.errors import Unavailable
from gateway.graph.query.lane.fallback import NoLane
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.operation import bytes_of
from gateway.iam.dynamodb.residual import Residual
from gateway.store.access import Access
from tests.fixtures import EXAMPLES
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers, no_lanes
from tests.graph.query.test_call_counts import OPERATIONS

ROOT = Path(__file__).parents[4]
USER, ORDER = ("TENANT#acme#USER#u-1001", "PROFILE"), ("TENANT#acme#ORDER#o-1001", "META")
# every form of query that the model has
FORMS = {
    "a lookup": '{ product(productId: "p-1001") { title price tags version id __typename } }',
    "many lookups": '{ products(productIds: ["p-1001", "nobody", "p-1002", "p-1001"]) { title } }',
    "roots that ask for the same entity": '{ a: user(userId: "u-1001") { name } b: user(userId: "u-1002") { email } }',
    "a page": "{ reviewQueue(first: 2) { nodes { orderId } } }",
    "a page backwards": "{ reviewQueue(last: 2) { nodes { orderId } pageInfo { hasPreviousPage } } }",
    "the other order": "{ activeOrders(first: 7, order: OLDEST_FIRST) { nodes { orderId } } }",
    "a filter": "{ activeOrders(first: 2, filter: {status: {eq: SHIPPED}}) { nodes { orderId } } }",
    "shards": "{ activeOrders(first: 7) { edges { cursor node { orderId placedAt } } pageInfo { endCursor } } }",
    "a range": """{ ordersOfUser(userId: "u-1001", placedAt: {from: "2026-01-01T00:00:00Z"}, first: 2) {
        nodes { orderId } } }""",
    "buckets": '{ readings(deviceId: "d-1001", lastHours: 5, first: 3) { nodes { recordedAt value } } }',
    "rows that expire": '{ notificationsOfUser(userId: "u-1001") { nodes { createdAt read } } }',
    "references": "{ reviewQueue { nodes { user { name } lines { product { title stock { available } } } } } }",
    "a collection by keys": '{ orders(orderIds: ["o-1001", "o-1002"]) { lines { title quantity } } }',
    "nested pages": "{ categories(first: 2) { nodes { products(first: 2) { nodes { title } } } } }",
    "an item with its collection": '{ user(userId: "u-1001") { name orders(first: 2) { nodes { orderId } } } }',
    "an item with its members": '{ order(orderId: "o-1001") { total lines { title } } }',
    "an item found by a listing": '{ userByEmail(email: "jonas.kaya@acme.example") { name } }',
    "a total": '{ posts(postIds: ["post-1001", "post-1002"]) { title likes } }',
    "a struct": '{ user(userId: "u-1001") { address { street city __typename } } }',
    "conditions": 'query ($on: Boolean = true) { user(userId: "u-1") { name @include(if: $on) email @skip(if: $on) } }',
    "fragments": '{ user(userId: "u-1001") { ...F ... on User { email } } } fragment F on User { name }',
    "nothing": '{ product(productId: "nobody") { title } users(userIds: []) { name } node(id: "x") { id } }',
}


@pytest.mark.parametrize("query", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("role", ["viewer", "admin"])
async def test_every_form_of_query_runs_in_a_lane(api: MemoryEndpoint, query: str, role: str) -> None:
    await api.ask(query, token=f"acme/{role}")
    assert api.lanes == {"lane": 1}


async def test_further_pages_by_cursors_run_in_a_lane_both_ways(api: MemoryEndpoint) -> None:
    query = """query ($first: Int, $after: String, $last: Int, $before: String) {
      activeOrders(first: $first, after: $after, last: $last, before: $before) {
        nodes { orderId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
    one = (await api.ask(query, {"first": 3}))["activeOrders"]
    two = (await api.ask(query, {"first": 3, "after": one["pageInfo"]["endCursor"]}))["activeOrders"]
    back = (await api.ask(query, {"last": 3, "before": two["pageInfo"]["startCursor"]}))["activeOrders"]
    assert back["nodes"] == one["nodes"]
    assert two["pageInfo"]["hasPreviousPage"]
    assert back["pageInfo"]["hasNextPage"]
    assert api.lanes == {"lane": 3}


async def test_by_global_id_runs_in_a_lane(api: MemoryEndpoint) -> None:
    ids = [each["id"] for each in (await api.ask('{ users(userIds: ["u-1001", "u-1002"]) { id } }'))["users"]]
    found = await api.ask("query ($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on User { name } } }", {"ids": ids})
    assert [each["__typename"] for each in found["nodes"]] == ["User", "User"]
    assert api.lanes == {"lane": 2}


async def test_what_a_role_may_not_read_is_refused_in_a_lane(api: MemoryEndpoint) -> None:
    query = "{ reviewQueue(first: 2) { nodes { orderId user { userId name email } } } }"
    answer = (await api.post(query, token="acme/support")).json()
    assert api.lanes == {"lane": 1}
    assert {node["user"]["name"] for node in answer["data"]["reviewQueue"]["nodes"]} == {None}
    paths = [error["path"] for error in answer["errors"]]
    assert ["reviewQueue", "nodes", 1, "user", "email"] in paths
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
    assert all("email" not in str(body.get("ExpressionAttributeNames", "")) for _, body in api.memory.sent)


def _without(api: MemoryEndpoint, key: tuple[str, str], name: str) -> None:
    api.memory.rows[key] = {each: value for each, value in api.memory.rows[key].items() if each != name}


def _with(api: MemoryEndpoint, key: tuple[str, str], **values: Any) -> None:
    api.memory.rows[key] = {**api.memory.rows[key], **values}


async def test_rows_that_are_unusual_but_right_do_not_step_back(api: MemoryEndpoint) -> None:
    _without(api, USER, "phone")
    _with(api, USER, name={"S": 'ö "\\ \u2028 𝄞'}, createdAt={"S": "2026-01-31T10:00:00.123456Z"})
    query = """{ user(userId: "u-1001") { name phone createdAt }
      orders(orderIds: ["o-1001", "o-1002", "o-1001"]) { user { name } note total } }"""
    del api.memory.rows["TENANT#acme#USER#u-1002", "PROFILE"]  # a reference that leads to nothing
    data = await api.ask(query)
    assert data["user"] == {"name": 'ö "\\ \u2028 𝄞', "phone": None, "createdAt": "2026-01-31T10:00:00.123456Z"}
    assert api.lanes == {"lane": 1}


async def test_pages_of_the_table_that_are_cut_are_followed_in_a_lane(api: MemoryEndpoint) -> None:
    api.memory.page_bytes = 400
    data = await api.ask("{ categories(first: 50) { nodes { title } } }")
    assert len(data["categories"]["nodes"]) > 3
    assert api.calls.count("Query") > 1
    assert api.lanes == {"lane": 1}


async def test_almost_all_documents_of_the_clients_run_in_a_lane() -> None:
    """In examples, clients and front ends; a mutation is the reference's."""
    texts = [example.query for example in EXAMPLES] + [query for _, query, _ in OPERATIONS]
    texts.append((ROOT / "tests/clients/operations.graphql").read_text())
    for path in (ROOT / "examples/storefront/src").glob("*.ts*"):
        texts += re.findall(r"graphql\(\s*(?:/\* GraphQL \*/)?\s*`(.*?)`", path.read_text(), re.DOTALL)
    api, made, missed = MemoryEndpoint(), 0, list[str]()
    fragments = "\n".join(re.findall(r"fragment \w+ on \w+ \{.*?\n\}", "\n".join(texts), re.DOTALL))
    access = Access((await TrustingCallers().open(b"Bearer acme/viewer", lambda _: None)).session)
    for text in texts:
        used = text if "..." not in text or "fragment" in text else f"{text}\n{fragments}"
        document = api.endpoint.documents.get(used)
        if document.ast is None:
            continue
        for node in parse(used).definitions:
            if isinstance(node, OperationDefinitionNode) and node.operation is OperationType.QUERY:
                operation = document.operation(node.name.value if node.name else None)
                assert operation is not None
                values = dict.fromkeys(operation._conditions, True)
                try:
                    api.endpoint.lanes.make(operation.variant(values).tree, access)
                    made += 1
                except NoLane:
                    missed.append(used[:80])
    assert made >= 30
    assert len(missed) <= 0.05 * (made + len(missed)), missed


@pytest.mark.parametrize(
    "answer", [b"", b"[]", b"null", b"<html>", b'{"Item": {', b'{"Item": 5, "ConsumedCapacity": 5}']
)
async def test_an_answer_that_cannot_be_read_is_asked_for_again(
    api: MemoryEndpoint, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the reference executor does: of DynamoDB's answers, a checksum says whether they are whole."""

    async def damaged(*given: Any, **more: Any) -> bytes:
        return answer

    query = '{ product(productId: "p-1001") { title } }'
    expected = await api.ask(query)
    monkeypatch.setattr(api.memory, "send", damaged)
    assert await api.ask(query) == expected
    assert api.lanes == {"lane": 1, "row": 1}


async def test_a_step_back_reads_nothing_twice(api: MemoryEndpoint) -> None:
    _with(api, ORDER, total={"N": "x"})
    query = (
        '{ orders(orderIds: ["o-1001", "o-1002"]) { total user { name } } reviewQueue(first: 2) { nodes { orderId } } }'
    )
    api.memory.sent.clear()
    answer = (await api.post(query)).json()
    assert api.lanes == {"row": 1}
    assert answer["errors"]
    bodies = [str(body) for _, body in api.memory.sent]
    assert len(bodies) == len(set(bodies))


async def test_a_lane_that_steps_back_sends_nothing_more(api: MemoryEndpoint) -> None:
    query = """{ reviewQueue(first: 2) { nodes { user { name } lines { product { title } } } }
      categories(after: "no cursor") { nodes { title } } }"""
    answer = (await api.post(query)).json()
    assert api.lanes == {"argument": 1}
    [error] = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["categories"], "BAD_USER_INPUT")
    sent = [str(body) for _, body in api.memory.sent]
    assert len(sent) == len(set(sent)), "the reference uses what was under way, and the lane sends nothing after it"
    api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    api.memory.sent.clear()
    assert (await api.post(query)).json()["data"] == answer["data"]
    assert len(api.memory.sent) == len(sent)


@pytest.mark.parametrize(
    "field",
    [
        'order(orderId: "o-1001") { total lines { title } }',
        'userByEmail(email: "jonas.kaya@acme.example") { name }',
        'user(userId: "u-1001") { name orders(first: 2) { nodes { total } } }',
    ],
)
async def test_fields_that_ask_for_the_same_share_their_reads(api: MemoryEndpoint, field: str) -> None:
    alone = await api.ask(f"{{ {field} }}")
    calls = len(api.calls)
    both = await api.ask(f"{{ one: {field} other: {field} }}")
    assert api.lanes == {"lane": 2}
    assert both["one"] == both["other"] == next(iter(alone.values()))
    assert len(api.calls) == calls, "as many as for one of them"


async def test_a_failed_call_is_not_made_again(api: MemoryEndpoint) -> None:
    api.memory.script["GetItem"].append(Unavailable("aws is not reachable"))
    answer = (await api.post('{ product(productId: "p-1001") { title } }')).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert api.calls == ["GetItem"]
    assert api.lanes == {"failed_call": 1}


async def test_a_fault_of_ours_in_a_lane_is_internal_and_logged(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(self: LaneRequest, *_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(LaneRequest, "call", broken)
    response = await api.post("{ categories { nodes { title } } }")
    assert response.json()["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert "ZeroDivisionError" in caplog.text


async def test_where_a_prepared_permission_does_not_say_yes_the_evaluator_decides(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INVARIANT: no request leaves that the policies do not allow."""
    monkeypatch.setattr(Residual, "allows_text", lambda *_: False)
    assert (await api.ask('{ product(productId: "p-1001") { title } }'))["product"]
    session_denies = '{ userByEmail(email: "jonas.kaya@acme.example") { name } }'
    answer = (await api.post(session_denies, token="acme/support")).json()
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_lane_of_one_role_is_not_used_for_another(api: MemoryEndpoint) -> None:
    query = '{ user(userId: "u-1001") { email } }'
    assert (await api.ask(query))["user"]["email"]
    answer = (await api.post(query, token="acme/support")).json()
    assert answer["data"]["user"]["email"] is None
    assert (await api.ask(query, token="acme/admin"))["user"]["email"]


async def test_a_lane_serves_every_tenant_its_own_rows(api: MemoryEndpoint) -> None:
    query = '{ user(userId: "u-1001") { name email } reviewQueue { nodes { orderId user { email } } } }'
    seen = {tenant: await api.ask(query, token=f"{tenant}/viewer") for tenant in ("acme", "globex")}
    assert api.lanes == {"lane": 2}
    assert seen["acme"] != seen["globex"]
    assert all("acme" not in str(seen["globex"]) for _ in seen)


async def test_a_foreign_row_is_never_answered(api: MemoryEndpoint) -> None:
    row = dict(api.memory.rows["TENANT#globex#USER#u-1001", "PROFILE"])
    api.memory.rows[USER] = row  # as if AWS had answered with another tenant's item
    response = await api.post(
        '{ user(userId: "u-1001") { name email } users(userIds: ["u-1001", "u-1002"]) { email } }'
    )
    assert "globex" not in response.text
    assert api.lanes == {"foreign_row": 1}


async def test_a_lane_is_made_at_the_third_use_and_not_too_often() -> None:
    api = MemoryEndpoint(lane_rules=LaneRules(uses=2, per_second=0.001))
    for _ in range(4):
        await api.ask('{ product(productId: "p-1001") { title } }')
    for _ in range(4):
        await api.ask('{ product(productId: "p-1001") { price } }')
    assert api.lanes == {"reference": 6, "lane": 2}, "only one lane may be made in this time"


@pytest.mark.usefixtures("threads")
async def test_a_lane_is_made_once_for_all_who_wait_and_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one takes many milliseconds, in which no other tenant would be served."""
    api, made = MemoryEndpoint(), list[int]()
    real = Lanes.make

    def recorded(self: Lanes, tree: Any, access: Access) -> Any:
        made.append(threading.get_ident())
        return real(self, tree, access)

    monkeypatch.setattr(Lanes, "make", recorded)
    query = '{ product(productId: "p-1001") { title } }'
    answers = await asyncio.gather(*(api.ask(query) for _ in range(5)))
    assert len(made) == 1
    assert made[0] != threading.get_ident()
    assert api.lanes == {"lane": 5}
    assert all(answer == answers[0] for answer in answers)


async def test_a_caller_that_leaves_while_a_lane_is_made_does_not_take_it_from_the_others(api: MemoryEndpoint) -> None:
    query = '{ product(productId: "p-1001") { title } }'
    leaving, staying = (asyncio.ensure_future(api.ask(query)) for _ in range(2))
    async with asyncio.timeout(60):
        while not api.endpoint.lanes._making:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying)["product"]["title"]
    await api.ask(query)
    assert api.lanes == {"lane": 2}


async def test_a_trusted_document_has_its_lane_at_its_first_use() -> None:
    api, query = (
        MemoryEndpoint(lane_rules=LaneRules(uses=2, per_second=0.001)),
        '{ product(productId: "p-1001") { title } }',
    )
    reference = api.endpoint.reference
    trusted = frozenset({api.endpoint.documents.get(query).hash})
    lanes = Lanes(
        reference.model, reference.table, reference.cursors, reference.limits, api.lane_rules, trusted=trusted
    )
    api.endpoint = replace(api.endpoint, lanes=lanes)
    await api.ask(query)
    await api.ask('{ product(productId: "p-1001") { price } }')
    assert api.lanes == {"lane": 1, "reference": 1}


async def test_lanes_are_kept_by_bytes_and_the_one_unused_for_longest_goes() -> None:
    api = MemoryEndpoint(lane_rules=LaneRules(uses=0, per_second=1e9, kept_bytes=100_000))
    lanes = api.endpoint.lanes
    queries = [f'{{ product(productId: "p-1001") {{ {name} }} }}' for name in ("title", "price", "currency", "version")]
    await api.ask(queries[0])
    first = next(iter(lanes._made.values()))
    for query in queries:
        await api.ask(queries[0])
        await api.ask(query)
    assert lanes.kept_bytes <= 100_000
    assert 0 < len(lanes._made) < len(queries)
    assert any(lane is first for lane in lanes._made.values()), "it was used all the time"
    assert lanes.kept_bytes == sum(
        bytes_of(variant.document) + (lane.size if lane else 0) for (variant, _), lane in lanes._made.items()
    )


@pytest.mark.usefixtures("frozen_heap")
async def test_a_lane_takes_about_the_bytes_that_are_counted_for_it() -> None:
    api = MemoryEndpoint()
    access = Access((await TrustingCallers().open(b"Bearer acme/viewer", lambda _: None)).session)
    trees = []
    for query in FORMS.values():
        operation = api.endpoint.documents.get(query).operation(None)
        assert operation is not None
        trees.append(operation.variant({"on": True}).tree)
    made = [api.endpoint.lanes.make(tree, access) for tree in trees]  # once before, for what all of them share
    gc.collect()
    tracemalloc.start()
    try:
        made = [api.endpoint.lanes.make(tree, access) for tree in trees]
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.7 * taken < sum(lane.size for lane in made) < 1.5 * taken
