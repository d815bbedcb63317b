"""A hostile customer: every way to ask for another subject's rows, on the sandbox, which enforces the policies."""

import hashlib
from typing import Any

import pytest
from httpx2 import AsyncClient

from gateway.sandbox.sandbox import Sandbox
from tests.demo.sandbox_shop import SandboxShop, codes
from tests.demo.test_roles import BOB, UNKNOWN

ANN = "u-1001"
ORDERS = "query($user: ID!) { ordersOfUser(userId: $user, first: 2) { nodes { orderId userId total } } }"
USERS = "query($ids: [ID!]!) { users(userIds: $ids) { userId email } }"


async def test_aliases_find_nothing_more(shop: SandboxShop) -> None:
    names = [f"u-{number}" for number in range(1_001, 1_021)]
    query = "{ " + " ".join(f'a{at}: user(userId: "{name}") {{ userId }}' for at, name in enumerate(names)) + " }"
    for _ in range(3):
        found = (await shop.answer_for(query, ANN))["data"]
        assert [value for value in found.values() if value] == [{"userId": ANN}]


async def test_a_batch_with_others_answers_with_ones_own_alone(shop: SandboxShop) -> None:
    for _ in range(3):
        answer = await shop.answer_for(USERS, ANN, ids=[BOB, ANN, "u-1003"])
        assert [user and user["userId"] for user in answer["data"]["users"]] == [None, ANN, None]


async def test_what_one_subject_has_read_is_not_served_to_another(shop: SandboxShop) -> None:
    theirs = (await shop.answer_for(ORDERS, BOB, user=BOB))["data"]["ordersOfUser"]["nodes"]
    assert theirs
    for _ in range(3):
        assert (await shop.answer_for(ORDERS, ANN, user=BOB))["data"]["ordersOfUser"]["nodes"] == []
        assert (await shop.answer_for(ORDERS, BOB, user=BOB))["data"]["ordersOfUser"]["nodes"] == theirs


async def test_a_document_that_another_subject_registered_runs_for_its_caller(
    sandbox: Sandbox, client: AsyncClient
) -> None:
    query = "{ me { userId email } ordersOfUser(first: 1) { nodes { userId } } }"
    extensions = {"persistedQuery": {"version": 1, "sha256Hash": hashlib.sha256(query.encode()).hexdigest()}}

    async def post_as(subject: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {sandbox.token('acme', 'customer', subject)}"}
        return (await client.post("/graphql", json={"extensions": extensions, **body}, headers=headers)).json()

    assert (await post_as(BOB, query=query))["data"]["me"]["userId"] == BOB
    for _ in range(3):
        found = (await post_as(ANN))["data"]
        assert found["me"]["userId"] == ANN
        assert {order["userId"] for order in found["ordersOfUser"]["nodes"]} == {ANN}


LOOKALIKES = (
    *("u-1001#", "u-1001#USER", "*", "u-100*", "u-100?", "?", "${aws:PrincipalTag/Subject}", "u-1001*"),
    *("u\u20111001", "\uff55-1001", "\u1d58-1001", " u-1001"),
)


@pytest.mark.parametrize("subject", LOOKALIKES)
async def test_a_token_whose_subject_resembles_another_is_refused(shop: SandboxShop, subject: str) -> None:
    answer = await shop.answer_for(ORDERS, subject, user=ANN)
    assert not answer.get("data")
    assert codes(answer) == {"FORBIDDEN"}


@pytest.mark.parametrize("subject", [*LOOKALIKES, "", "u-1001\u200b", "u-1001\n", "u-1001\x00"])
async def test_an_argument_that_resembles_a_subject_finds_nothing(shop: SandboxShop, subject: str) -> None:
    answer = await shop.answer_for(ORDERS, BOB, user=subject)
    assert ((answer.get("data") or {}).get("ordersOfUser") or {"nodes": []}) == {"nodes": []}
    assert codes(answer) <= {"BAD_USER_INPUT"}


MUTATIONS = (
    'createUserSubscription(input: {userId: "u-1002", subscriptionId: "s-x", topic: "t"})',
    'updateUserSubscription(input: {userId: "u-1002", subscriptionId: "sub-1002", topic: "t"})',
    'removeUserSubscription(input: {userId: "u-1002", subscriptionId: "sub-1002"})',
    'placeOrder(input: {userId: "u-1002", lines: [{productId: "p-1001", quantity: 1}]})',
)


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_a_mutation_with_the_id_of_another_subject_is_refused(shop: SandboxShop, mutation: str) -> None:
    before = await shop.answer_for("{ subscriptionsOfUser { nodes { subscriptionId topic } } }", BOB)
    assert "errors" not in before
    assert codes(await shop.answer_for(f"mutation {{ {mutation} {{ errors {{ code }} }} }}", ANN)) == {"FORBIDDEN"}
    assert await shop.answer_for("{ subscriptionsOfUser { nodes { subscriptionId topic } } }", BOB) == before


async def test_an_idempotency_key_of_another_subject_answers_with_nothing_of_its(shop: SandboxShop) -> None:
    place = """mutation { placeOrder(input: {lines: [{productId: "p-1001", quantity: 1}]}, idempotencyKey: "shared") {
      order { orderId userId } errors { code } } }"""
    theirs = (await shop.answer_for(place, BOB))["data"]["placeOrder"]["order"]
    mine = (await shop.answer_for(place, ANN))["data"]["placeOrder"]["order"]
    assert (theirs["userId"], mine["userId"]) == (BOB, ANN)
    assert theirs["orderId"] != mine["orderId"]


@pytest.mark.parametrize(
    "query",
    [
        '{ order(orderId: "o-1001") { total } }',
        "{ allUsers { nodes { userId } } }",
        '{ userByEmail(email: "robin.hale@example.com") { userId } }',
        'mutation { updateOrder(input: {orderId: "o-1001", status: PAID}) { errors { code } } }',
        'mutation { removeUser(input: {userId: "u-1002"}) { errors { code } } }',
        '{ __type(name: "Supplier") { name } supplier(supplierId: "s-1") { title } }',
    ],
)
async def test_what_a_customer_can_never_use_is_unknown_to_it(shop: SandboxShop, query: str) -> None:
    assert codes(await shop.answer_for(query, ANN)) == UNKNOWN


async def test_the_ids_of_rows_of_another_subject_open_nothing(shop: SandboxShop) -> None:
    listed = "query($user: ID!) { ordersOfUser(userId: $user, first: 1) { nodes { id } } user(userId: $user) { id } }"
    theirs = (await shop.answer_for(listed, BOB, user=BOB))["data"]
    staff = (await shop.answer_for(listed, "clerk", role="viewer", user=BOB))["data"]
    node = "query($id: ID!) { node(id: $id) { id ... on Order { total } ... on User { email } } }"
    for found in (theirs, staff):
        for taken in (found["user"]["id"], found["ordersOfUser"]["nodes"][0]["id"]):
            for _ in range(3):
                answer = await shop.answer_for(node, ANN, id=taken)
                assert (answer.get("data") or {"node": None})["node"] is None
