"""Mutations: typed results, versions, idempotency, and everything that must change together."""

import asyncio
import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from graphql import GraphQLObjectType

from gateway.aws.wire.errors import CancellationReason, TransactionCancelled
from gateway.demo import MODEL
from tests.graph.fixtures import MemoryEndpoint

EDITOR = "acme/admin"
PLACE = """mutation ($input: PlaceOrderInput!, $key: String) {
  placeOrder(input: $input, idempotencyKey: $key) {
    order { orderId version status total note user { userId } lines { productId quantity } }
    errors { code field message }
  }
}"""


async def change(api: MemoryEndpoint, query: str, variables: dict[str, Any] | None = None) -> Any:
    data = await api.ask(query, variables, token=EDITOR)
    [payload] = data.values()
    return payload


def row(api: MemoryEndpoint, pk: str, sk: str, tenant: str = "acme") -> dict[str, Any] | None:
    return api.memory.rows.get((f"TENANT#{tenant}#{pk}", sk))


def stock(api: MemoryEndpoint, product: str) -> int:
    found = row(api, f"PRODUCT#{product}", "STOCK")
    assert found is not None
    return int(found["available"]["N"])


def fill(api: MemoryEndpoint, product: str, available: int) -> None:
    api.change(f"TENANT#acme#PRODUCT#{product}", "STOCK", available={"N": str(available)})


def basket(*lines: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {"userId": "u-1001", "lines": [{"productId": name, "quantity": n} for name, n in lines], **more}


async def test_an_order_is_placed_with_lines_stock_copy_and_indexes(api: MemoryEndpoint) -> None:
    fill(api, "p-1001", 10)
    fill(api, "p-1002", 10)
    placed = await change(api, PLACE, {"input": basket(("p-1001", 2), ("p-1002", 3), orderId="mine", note="x" * 5_000)})
    assert placed["errors"] == []
    assert placed["order"]["version"] == 1
    assert placed["order"]["note"] == "x" * 5_000
    assert [line["quantity"] for line in placed["order"]["lines"]] == [2, 3]
    assert (stock(api, "p-1001"), stock(api, "p-1002")) == (8, 7)
    original = row(api, "ORDER#mine", "META")
    assert original is not None
    assert "B" in original["note"], "large text is stored compressed"
    rows = [each for each in api.memory.rows.values() if each.get("orderId") == {"S": "mine"}]
    copies = [each for each in rows if "CopyOf" in each]
    assert [each["PK"]["S"] for each in copies] == ["TENANT#acme#USER#u-1001"]
    assert not any(name.startswith("GSI") for name in copies[0])
    active = await api.ask("{ activeOrders(first: 1) { nodes { orderId } } }")
    assert active["activeOrders"]["nodes"] == [{"orderId": "mine"}]


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        (basket(("p-1001", 1), ("p-1002", 99_999)), "INVALID", "lines.1.quantity"),
        (basket(("p-1001", 1), ("p-1002", 9_999)), "OUT_OF_STOCK", "lines.1.productId"),
        (basket(("p-1001", 0)), "INVALID", "lines.0.quantity"),
        (basket(), "INVALID", "lines"),
        (basket(("p-1001", 1), ("p-1001", 1)), "INVALID", "lines"),
        (basket(("p-1001", 1), ("nothing", 1)), "NOT_FOUND", "lines.1.productId"),
        (basket(("a#b", 1)), "INVALID", "lines.0.productId"),
        ({**basket(("p-1001", 1)), "userId": "nobody"}, "NOT_FOUND", "userId"),
        ({**basket(("p-1001", 1)), "orderId": "o-1001"}, "ALREADY_EXISTS", "orderId"),
    ],
)
async def test_an_order_that_cannot_be_placed_writes_nothing(
    api: MemoryEndpoint, given: dict[str, Any], code: str, field: str
) -> None:
    fill(api, "p-1001", 5)
    before = {key: dict(value) for key, value in api.memory.rows.items()}
    refused = await change(api, PLACE, {"input": given})
    assert refused["order"] is None
    assert (refused["errors"][0]["code"], refused["errors"][0]["field"]) == (code, field)
    assert api.memory.rows == before


async def test_the_same_key_changes_nothing_again(api: MemoryEndpoint) -> None:
    fill(api, "p-1001", 5)
    variables = {"input": basket(("p-1001", 2)), "key": "once"}
    first = await change(api, PLACE, variables)
    again = await change(api, PLACE, variables)
    assert again == first
    assert stock(api, "p-1001") == 3
    other = await change(api, PLACE, {"input": basket(("p-1001", 1)), "key": "once"})
    assert (other["errors"][0]["code"], other["errors"][0]["field"]) == ("INVALID", "idempotencyKey")
    assert stock(api, "p-1001") == 3


async def test_concurrent_duplicates_run_once(api: MemoryEndpoint) -> None:
    fill(api, "p-1001", 50)
    variables = {"input": basket(("p-1001", 2)), "key": "together"}
    answers = await asyncio.gather(*(api.post(PLACE, variables, EDITOR) for _ in range(10)))
    orders = {answer.json()["data"]["placeOrder"]["order"]["orderId"] for answer in answers}
    assert len(orders) == 1
    assert stock(api, "p-1001") == 48


async def test_a_key_belongs_to_its_tenant(api: MemoryEndpoint) -> None:
    for tenant in ("acme", "globex"):
        data = await api.ask(PLACE, {"input": basket(("p-1001", 1)), "key": "shared"}, token=f"{tenant}/editor")
        assert data["placeOrder"]["errors"] == []


async def test_after_a_refusal_the_same_key_may_be_tried_again(api: MemoryEndpoint) -> None:
    fill(api, "p-1001", 0)
    variables = {"input": basket(("p-1001", 1)), "key": "patient"}
    assert (await change(api, PLACE, variables))["errors"][0]["code"] == "OUT_OF_STOCK"
    fill(api, "p-1001", 1)
    assert (await change(api, PLACE, variables))["errors"] == []


STATUS = """mutation ($input: ChangeOrderStatusInput!) {
  changeOrderStatus(input: $input) { order { status version } errors { code field currentVersion message } } }"""


async def _order(api: MemoryEndpoint) -> str:
    fill(api, "p-1001", 5)
    placed = await change(api, PLACE, {"input": basket(("p-1001", 2))})
    found: str = placed["order"]["orderId"]
    return found


async def test_an_order_moves_between_the_indexes_and_its_copy_follows(api: MemoryEndpoint) -> None:
    order = await _order(api)
    for status, active in (("CONFIRMED", True), ("SHIPPED", True), ("DELIVERED", False)):
        moved = await change(api, STATUS, {"input": {"orderId": order, "status": status}})
        assert moved["order"]["status"] == status
        stored = [each for each in api.memory.rows.values() if each.get("orderId", {}).get("S") == order]
        orders = [each for each in stored if each["EntityType"]["S"] == "Order"]
        assert [each["status"]["S"] for each in orders] == [status, status]
        assert len({each["version"]["N"] for each in orders}) == 1
        [original] = [each for each in orders if "CopyOf" not in each]
        assert original["GSI2PK"]["S"].startswith(f"TENANT#acme#STATUS#{status}#")
        assert ("GSI3PK" in original) is active


@pytest.mark.parametrize(
    ("steps", "status"), [((), "SHIPPED"), ((), "DELIVERED"), (("CANCELLED",), "CONFIRMED"), ((), "PENDING")]
)
async def test_only_legal_steps_are_taken(api: MemoryEndpoint, steps: tuple[str, ...], status: str) -> None:
    order = await _order(api)
    for step in steps:
        await change(api, STATUS, {"input": {"orderId": order, "status": step}})
    refused = await change(api, STATUS, {"input": {"orderId": order, "status": status}})
    assert (refused["order"], refused["errors"][0]["code"]) == (None, "INVALID")


async def test_a_cancelled_order_returns_its_stock_once(api: MemoryEndpoint) -> None:
    order = await _order(api)
    assert stock(api, "p-1001") == 3
    cancel = "mutation ($id: ID!) { cancelOrder(input: {orderId: $id}) { order { status } errors { code } } }"
    assert (await change(api, cancel, {"id": order}))["order"]["status"] == "CANCELLED"
    assert stock(api, "p-1001") == 5
    assert (await change(api, cancel, {"id": order}))["errors"] == [{"code": "INVALID"}]
    assert stock(api, "p-1001") == 5


async def test_the_review_queue_is_entered_and_left(api: MemoryEndpoint) -> None:
    order = await _order(api)
    queue = "{ reviewQueue(first: 100) { nodes { orderId } } }"
    hold = "mutation ($id: ID!) { holdOrderForReview(input: {orderId: $id}) { order { status } errors { code } } }"
    release = """mutation ($id: ID!) {
      releaseOrderFromReview(input: {orderId: $id, approve: true}) { order { status } errors { code } } }"""
    assert (await change(api, release, {"id": order}))["errors"] == [{"code": "INVALID"}]
    await change(api, hold, {"id": order})
    assert {"orderId": order} in (await api.ask(queue))["reviewQueue"]["nodes"]
    assert (await change(api, release, {"id": order}))["order"]["status"] == "CONFIRMED"
    assert {"orderId": order} not in (await api.ask(queue))["reviewQueue"]["nodes"]


async def test_a_stale_version_is_a_conflict_that_shows_the_current_one(api: MemoryEndpoint) -> None:
    order = await _order(api)
    await change(api, STATUS, {"input": {"orderId": order, "status": "CONFIRMED", "version": 1}})
    late = await change(api, STATUS, {"input": {"orderId": order, "status": "SHIPPED", "version": 1}})
    assert late["order"] is None
    assert (late["errors"][0]["code"], late["errors"][0]["currentVersion"]) == ("CONFLICT", 2)


async def test_somebody_faster_between_read_and_write_is_a_conflict_too(api: MemoryEndpoint) -> None:
    order = await _order(api)

    def bump(answer: dict[str, Any]) -> dict[str, Any]:
        found = row(api, f"ORDER#{order}", "META")
        assert found is not None
        found["version"] = {"N": "7"}
        return answer

    api.memory.script["GetItem"].append(bump)
    late = await change(api, STATUS, {"input": {"orderId": order, "status": "CONFIRMED"}})
    assert (late["errors"][0]["code"], late["errors"][0]["currentVersion"]) == ("CONFLICT", 7)


def _cancelled(code: str) -> TransactionCancelled:
    error = TransactionCancelled("the transaction was cancelled")
    error.reasons = (CancellationReason(code, ""),)
    return error


async def test_a_transaction_that_meets_another_is_tried_again(api: MemoryEndpoint) -> None:
    fill(api, "p-1001", 5)
    api.memory.script["TransactWriteItems"].extend(_cancelled("TransactionConflict") for _ in range(3))
    assert (await change(api, PLACE, {"input": basket(("p-1001", 1))}))["errors"] == []
    assert stock(api, "p-1001") == 4


async def test_conflicts_without_end_are_reported(api: MemoryEndpoint) -> None:
    api.memory.script["TransactWriteItems"].extend(_cancelled("TransactionConflict") for _ in range(50))
    response = await api.post(PLACE, {"input": basket(("p-1001", 1))}, EDITOR)
    assert response.json()["errors"][0]["extensions"]["code"] == "CONFLICT"


CREATE_USER = """mutation ($input: CreateUserInput!) {
  createUser(input: $input) { user { userId version } errors { code field } } }"""
UPDATE_USER = """mutation ($input: UpdateUserInput!) {
  updateUser(input: $input) {
    user { email phone address { city } emails { nodes { email } } } errors { code field } } }"""


async def test_an_address_is_unique_in_the_tenant_and_free_after_a_change(api: MemoryEndpoint) -> None:
    ada = {"userId": "ada", "name": "Ada", "email": "ada@shop.example", "phone": "+49 1"}
    assert (await change(api, CREATE_USER, {"input": ada}))["errors"] == []
    bob = {"userId": "bob", "name": "Bob", "email": "ada@shop.example"}
    assert (await change(api, CREATE_USER, {"input": bob}))["errors"] == [{"code": "ALREADY_EXISTS", "field": "email"}]
    assert row(api, "USER#bob", "PROFILE") is None
    data = await api.ask(CREATE_USER, {"input": bob}, token="globex/editor")
    assert data["createUser"]["errors"] == [], "another tenant may use the same address"
    moved = await change(api, UPDATE_USER, {"input": {"userId": "ada", "email": "new@shop.example"}})
    assert moved["user"]["emails"]["nodes"] == [{"email": "new@shop.example"}]
    assert moved["user"]["phone"] == "+49 1"
    assert (await change(api, CREATE_USER, {"input": bob}))["errors"] == []


async def test_null_removes_and_absence_keeps(api: MemoryEndpoint) -> None:
    place = {"street": "Main 1", "city": "Ulm", "postalCode": "1", "country": "DE"}
    await change(api, CREATE_USER, {"input": {"userId": "ada", "name": "A", "email": "a@b.example", "phone": "1"}})
    kept = await change(api, UPDATE_USER, {"input": {"userId": "ada", "address": place}})
    assert (kept["user"]["address"], kept["user"]["phone"]) == ({"city": "Ulm"}, "1")
    gone = await change(api, UPDATE_USER, {"input": {"userId": "ada", "address": None, "phone": None}})
    assert (gone["user"]["address"], gone["user"]["phone"]) == (None, None)
    assert (await api.ask('{ userByPhone(phone: "1") { userId } }'))["userByPhone"] is None
    refused = await change(api, UPDATE_USER, {"input": {"userId": "ada", "email": None}})
    assert refused["errors"] == [{"code": "INVALID", "field": "email"}]


async def test_a_removed_user_leaves_nothing_but_orders(api: MemoryEndpoint) -> None:
    ada = {"userId": "ada", "name": "Ada", "email": "ada@shop.example", "phone": "+49 1"}
    await change(api, CREATE_USER, {"input": ada})
    more = 'mutation { addEmail(input: {userId: "ada", email: "b@shop.example"}) { email { email } errors { code } } }'
    assert (await change(api, more))["errors"] == []
    removed = await change(api, 'mutation { removeUser(input: {userId: "ada"}) { user { name } errors { code } } }')
    assert removed["user"] == {"name": "Ada"}
    assert not [key for key in api.memory.rows if "ada@shop" in str(key) or "#ada" in str(key) or "b@shop" in str(key)]


async def test_the_main_address_is_not_removed_by_the_way(api: MemoryEndpoint) -> None:
    ada = {"userId": "ada", "name": "Ada", "email": "ada@shop.example"}
    await change(api, CREATE_USER, {"input": ada})
    remove = 'mutation { removeEmail(input: {userId: "ada", email: "ada@shop.example"}) { errors { code field } } }'
    assert (await change(api, remove))["errors"] == [{"code": "INVALID", "field": "email"}]
    unknown = 'mutation { addEmail(input: {userId: "nobody", email: "x@y.example"}) { errors { code field } } }'
    assert (await change(api, unknown))["errors"] == [{"code": "NOT_FOUND", "field": "userId"}]


async def test_a_product_is_created_changed_and_removed(api: MemoryEndpoint) -> None:
    product = (
        '{productId: "new", title: "Lamp", price: "12.50", currency: "EUR", categoryId: "tools", tags: ["a", "b"]}'
    )
    created = await change(
        api, f"mutation {{ createProduct(input: {product}) {{ product {{ version tags }} errors {{ code }} }} }}"
    )
    assert created == {"product": {"version": 1, "tags": ["a", "b"]}, "errors": []}
    assert (await change(api, f"mutation {{ createProduct(input: {product}) {{ errors {{ code }} }} }}"))["errors"] == [
        {"code": "ALREADY_EXISTS"}
    ]
    moved = await change(
        api,
        """mutation { updateProduct(input: {productId: "new", price: "8", version: 1}) {
             product { price version } errors { code } } }""",
    )
    assert moved["product"] == {"price": "8.00", "version": 2}
    found = row(api, "PRODUCT#new", "DETAILS")
    assert found is not None
    assert found["GSI1SK"]["S"] == "PRICE#0000000008.00#new"
    await change(api, 'mutation { removeProduct(input: {productId: "new"}) { errors { code } } }')
    assert row(api, "PRODUCT#new", "DETAILS") is None
    gone = await change(api, 'mutation { removeProduct(input: {productId: "new"}) { errors { code } } }')
    assert gone["errors"] == [{"code": "NOT_FOUND"}]


async def test_an_item_that_is_too_large_is_refused_with_its_size(api: MemoryEndpoint) -> None:
    create = """mutation ($text: String) {
      createProduct(input: {
        productId: "big", title: "t", price: "1", currency: "EUR", categoryId: "tools", description: $text
      }) { errors { code message } } }"""
    random = Random(1)
    noise = "".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(199_000))
    refused = await change(api, create, {"text": noise})
    assert refused["errors"][0]["code"] == "INVALID"
    assert re.search(r"has \d{6} bytes; an item may have 409600", refused["errors"][0]["message"])
    assert row(api, "PRODUCT#big", "DETAILS") is None
    assert (await change(api, create, {"text": "x" * 199_000}))["errors"] == [], "compressed, it is small"
    assert (await change(api, create, {"text": "x" * 200_001}))["errors"][0]["code"] == "INVALID"


async def test_unknown_attributes_of_an_item_survive_a_change(api: MemoryEndpoint) -> None:
    await change(api, 'mutation { updateProduct(input: {productId: "p-1001", title: "New"}) { errors { code } } }')
    found = row(api, "PRODUCT#p-1001", "DETAILS")
    assert found is not None
    assert found["canary"]["S"].startswith("canary-acme-")


STOCKS: list[tuple[str, Callable[[int], int], list[dict[str, str]]]] = [
    ("adjustStock(input: {productId: $p, by: 3})", lambda before: before + 3, []),
    ("adjustStock(input: {productId: $p, by: -1})", lambda before: before - 1, []),
    ("adjustStock(input: {productId: $p, by: -999})", lambda before: before, [{"code": "OUT_OF_STOCK"}]),
    ("adjustStock(input: {productId: $p, by: 2147483647})", lambda before: before, [{"code": "OUT_OF_RANGE"}]),
    ("setStock(input: {productId: $p, available: 12})", lambda _: 12, []),
    ("setStock(input: {productId: $p, available: -1})", lambda before: before, [{"code": "INVALID"}]),
]


@pytest.mark.parametrize(("call", "after", "errors"), STOCKS)
async def test_stock_is_counted(
    api: MemoryEndpoint, call: str, after: Callable[[int], int], errors: list[dict[str, str]]
) -> None:
    fill(api, "p-1001", 5)
    changed = await change(
        api, f"mutation ($p: ID!) {{ {call} {{ stock {{ available }} errors {{ code }} }} }}", {"p": "p-1001"}
    )
    assert changed["errors"] == errors
    assert stock(api, "p-1001") == after(5)
    assert changed["stock"] == (None if errors else {"available": after(5)})


@pytest.mark.parametrize("role", ["viewer", "support"])
async def test_a_role_that_may_not_write_is_refused_before_anything_is_read(api: MemoryEndpoint, role: str) -> None:
    response = await api.post(PLACE, {"input": basket(("p-1001", 1))}, f"acme/{role}")
    assert response.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert api.memory.sent == []


async def test_sessions_end_when_they_expire(api: MemoryEndpoint) -> None:
    create = """mutation ($until: DateTime!) { createSession(input: {userId: "u-1001", expiresAt: $until}) {
      session { sessionId } errors { code } } }"""
    for _ in range(2):
        made = await change(api, create, {"until": "2999-01-01T00:00:00Z"})
    query, session = "query ($id: ID!) { session(sessionId: $id) { sessionId } }", made["session"]["sessionId"]
    assert (await api.ask(query, {"id": session}, "acme/editor"))["session"] is not None
    # time passes, and DynamoDB has not deleted it yet
    api.memory.rows[f"TENANT#acme#SESSION#{session}", "META"]["ttl"] = {"N": "1000"}
    assert (await api.ask(query, {"id": session}, "acme/editor"))["session"] is None
    listed = '{ user(userId: "u-1001") { sessions { nodes { expiresAt } } } }'
    found = (await api.ask(listed, token="acme/editor"))["user"]["sessions"]
    assert found["nodes"] == [{"expiresAt": "2999-01-01T00:00:00Z"}]


async def test_within_one_operation_a_later_field_sees_what_an_earlier_one_changed(api: MemoryEndpoint) -> None:
    query = """mutation {
      a: updateProduct(input: {productId: "p-1001", title: "One"}) { ...Neighbours }
      b: updateProduct(input: {productId: "p-1001", title: "Two"}) { ...Neighbours }
    }
    fragment Neighbours on UpdateProductPayload { product { category { products { nodes { title } } } } }"""
    data = await api.ask(query, token=EDITOR)
    titles = [node["title"] for node in data["b"]["product"]["category"]["products"]["nodes"]]
    assert "Two" in titles
    assert "One" not in titles


def test_every_mutation_takes_an_idempotency_key_and_answers_with_errors() -> None:
    from gateway.graph.schema.schema import core_schema
    from tests.graph.fixtures import SCHEMA

    mutation = core_schema(SCHEMA).mutation_type
    assert mutation is not None
    assert len(mutation.fields) == len(MODEL.mutations)
    for field in mutation.fields.values():
        assert set(field.args) == {"input", "idempotencyKey"}
        assert isinstance(field.type, GraphQLObjectType), "it may be null, so that it takes no other with it"
        assert "errors" in field.type.fields
