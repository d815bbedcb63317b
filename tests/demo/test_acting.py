"""A customer orders for itself: the mutation acts in a narrow session of the same tenant and subject."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import AsyncClient

from gateway.aws.sts.roles import Roles
from gateway.demo import MODEL
from gateway.errors import Forbidden
from gateway.graph.mutation import mutation as running
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.verdict import Allow
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import TenantId
from gateway.sandbox.sandbox import Sandbox
from gateway.store.write.writer import Writer
from gateway.testing.services import token
from tests.demo.sandbox_shop import SandboxShop, codes
from tests.fixtures import MemoryGateway, client_of, data_of, post, sandbox_app
from tests.unmeasured import unmeasured

ANN, BOB = "u-1003", "u-1004"
PLACE = """mutation($user: ID, $key: String) {
  placeOrder(input: {userId: $user, lines: [{productId: "p-1001", quantity: 1}]}, idempotencyKey: $key) {
    order { orderId userId status version } errors { code field } } }"""
CANCEL = """mutation($order: ID!) { cancelOrder(input: {orderId: $order}) {
  order { orderId userId status } errors { code } } }"""
STOCK = '{ stock(productId: "p-1001") { available } }'


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    return []


@pytest.fixture
async def client(sandbox: Sandbox, lines: list[dict[str, Any]]) -> AsyncIterator[AsyncClient]:
    with unmeasured():
        app = sandbox_app(sandbox, write=lines.append)
    async with client_of(app) as client:
        yield client


async def available(shop: SandboxShop) -> int:
    found: int = (await shop.answer_for(STOCK, "clerk", role="viewer"))["data"]["stock"]["available"]
    return found


async def test_a_customer_orders_and_cancels(shop: SandboxShop, lines: list[dict[str, Any]]) -> None:
    before = await available(shop)
    placed = await shop.answer_for(PLACE, ANN, key="ann-orders")
    assert "errors" not in placed
    order = placed["data"]["placeOrder"]["order"]
    assert (order["userId"], order["status"]) == (ANN, "PENDING")
    assert lines[-1]["role"] == "customer"
    assert lines[-1]["acts_as"] == ["ordering"]
    assert await available(shop) == before - 1
    assert "acts_as" not in lines[-1]
    mine = "query($user: ID!) { ordersOfUser(userId: $user, first: 1) { nodes { orderId } } }"
    assert (await shop.answer_for(mine, ANN, user=ANN))["data"]["ordersOfUser"]["nodes"] == [
        {"orderId": order["orderId"]}
    ]
    again = await shop.answer_for(PLACE, ANN, key="ann-orders")
    assert again["data"]["placeOrder"]["order"]["orderId"] == order["orderId"]
    cancelled = await shop.answer_for(CANCEL, ANN, order=order["orderId"])
    assert cancelled["data"]["cancelOrder"]["order"] == {
        "orderId": order["orderId"],
        "userId": ANN,
        "status": "CANCELLED",
    }
    assert await available(shop) == before


async def test_explain_shows_the_role_that_a_mutation_acts_in(sandbox: Sandbox, client: AsyncClient) -> None:
    token = sandbox.token("acme", "customer", ANN)
    body = {"query": CANCEL, "variables": {"order": "o-none"}, "extensions": {"explain": True}}
    headers = {"authorization": f"Bearer {token}"}
    explained = (await client.post("/graphql", json=body, headers=headers)).json()["extensions"]["explain"]
    assert (explained["role"], explained["actsAs"]) == ("customer", ["ordering"])
    assert explained["calls"]


async def test_a_customer_cannot_order_for_somebody_else(shop: SandboxShop) -> None:
    answer = await shop.answer_for(PLACE, ANN, user=BOB)
    assert codes(answer) == {"FORBIDDEN"}
    assert "may name only itself in `userId`" in answer["errors"][0]["message"]
    assert "errors" not in await shop.answer_for(PLACE, ANN, user=ANN)


async def test_the_order_of_somebody_else_looks_like_a_missing_one(shop: SandboxShop) -> None:
    theirs = (await shop.answer_for(PLACE, BOB))["data"]["placeOrder"]["order"]["orderId"]
    for order in (theirs, "o-nothing"):
        answer = await shop.answer_for(CANCEL, ANN, order=order)
        assert answer["data"]["cancelOrder"] == {"order": None, "errors": [{"code": "NOT_FOUND"}]}


async def test_a_repeat_does_not_show_an_order_that_has_been_given_to_somebody_else() -> None:
    gateway = MemoryGateway()

    async def placed() -> Any:
        bearer = token("acme", "customer", ANN, tuple(MODEL.roles))
        return data_of(await post(gateway.client, PLACE, {"key": "once"}, bearer))["placeOrder"]

    order = (await placed())["order"]["orderId"]
    assert (await placed())["order"]["orderId"] == order
    gateway.memory.rows[f"TENANT#acme#ORDER#{order}", "META"]["userId"] = {"S": BOB}
    assert await placed() == {"order": None, "errors": []}


async def test_staff_orders_for_anybody_in_its_own_role(shop: SandboxShop, lines: list[dict[str, Any]]) -> None:
    answer = await shop.answer_for(PLACE, "clerk", role="editor", user=BOB)
    assert answer["data"]["placeOrder"]["order"]["userId"] == BOB
    assert "acts_as" not in lines[-1]


async def test_a_caller_that_may_not_call_a_mutation_does_not_act_in_its_role(
    shop: SandboxShop, lines: list[dict[str, Any]]
) -> None:
    for role in ("viewer", "support"):
        answer = await shop.answer_for(PLACE, ANN, role=role)
        assert codes(answer) == {"FORBIDDEN"}
        assert answer["errors"][0]["message"] == f"the role `{role}` may not change anything"
        assert "acts_as" not in lines[-1]


@pytest.mark.parametrize("at_aws", [False, True], ids=["gateway", "aws"])
async def test_policies_bind_the_acting_session_to_its_subject(
    shop: SandboxShop, monkeypatch: pytest.MonkeyPatch, at_aws: bool
) -> None:
    """With the checks of arguments and owners removed, the gateway's evaluator refuses; without that too, AWS does."""
    theirs = (await shop.answer_for(PLACE, BOB))["data"]["placeOrder"]["order"]["orderId"]
    monkeypatch.setattr(running, "_subjects", lambda mutation, access, values: {})
    monkeypatch.setattr(Writer, "_owned", lambda writer, item: item)
    if at_aws:
        monkeypatch.setattr(Permissions, "check", lambda *given: Allow(("nobody/Asked",)))
        monkeypatch.setattr(Permissions, "foreign", lambda *given: False)
    for query, given in ((PLACE, {"user": BOB}), (CANCEL, {"order": theirs})):
        assert codes(await shop.answer_for(query, ANN, **given)) == {"FORBIDDEN"}


def test_no_token_opens_a_session_of_an_acting_role() -> None:
    roles = Roles(generated(MODEL).sessions, acting=["ordering"])
    assert "ordering" not in roles.names
    assert roles.role_of(["ordering", "viewer"]) == "viewer"
    with pytest.raises(Forbidden):
        roles.role_of(["ordering"])


DEPLOYMENT = Deployment("aws", "eu-west-1", "123456789012", "shop")
ACTING = permissions_at(generated(MODEL), MODEL)(DEPLOYMENT, TenantId("acme"), "ordering", ANN)


def verdict(operation: str, path: str, index: str | None = None) -> bool:
    key = {"PK": {"S": f"TENANT#acme#{path}"}, "SK": {"S": "X"}}
    bodies: dict[str, dict[str, Any]] = {
        "GetItem": {"Key": key},
        "DeleteItem": {"Key": key},
        "UpdateItem": {"Key": key, "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}},
        "PutItem": {"Item": key},
        "BatchWriteItem": {"RequestItems": {"shop": [{"PutRequest": {"Item": key}}]}},
        "Query": {
            "KeyConditionExpression": f"{index or ''}PK = :pk",
            "ExpressionAttributeValues": {":pk": key["PK"]},
            **({} if index is None else {"IndexName": index}),
        },
    }
    body = bodies[operation] if operation == "BatchWriteItem" else {"TableName": "shop", **bodies[operation]}
    return ACTING.check(operation, body).allowed


@pytest.mark.parametrize(
    ("operation", "path", "index", "allowed"),
    [
        ("GetItem", "ORDER#o-1", None, True),
        ("UpdateItem", "ORDER#o-1", None, True),
        ("UpdateItem", "PRODUCT#p-1", None, True),
        ("PutItem", f"USER#{ANN}", None, True),
        ("PutItem", f"USER#{BOB}", None, False),
        ("UpdateItem", f"USER#{BOB}", None, False),
        ("GetItem", f"USER#{ANN}", None, False),
        ("GetItem", f"USER#{BOB}", None, False),
        ("GetItem", f"IDEMPOTENCY#{ANN}#x", None, True),
        ("GetItem", f"IDEMPOTENCY#{BOB}#x", None, False),
        ("GetItem", "SUPPLIER#s-1", None, False),
        ("PutItem", "CATEGORY#c-1", None, False),
        ("PutItem", "UNIQUE#User#x", None, False),
        ("DeleteItem", "ORDER#o-1", None, False),
        ("DeleteItem", f"USER#{ANN}", None, False),
        ("BatchWriteItem", "ORDER#o-1", None, False),
        ("Query", f"USER#{ANN}", "GSI1", False),
        ("Query", "ACTIVE#0", "GSI3", False),
    ],
)
def test_the_acting_session_reaches_nothing_else(operation: str, path: str, index: str | None, allowed: bool) -> None:
    assert verdict(operation, path, index) is allowed
