"""The customer of the demo shop: its own rows, through the gateway and, with the gateway's checks removed, at AWS."""

import pytest

from gateway.demo import MODEL
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.residual import Residual
from gateway.iam.language.verdict import Allow
from gateway.model.role_reach import visible_patterns
from gateway.testing import GraphQLErrors, serve
from tests.demo.sandbox_shop import SandboxShop, codes

ANN, BOB = "u-1001", "u-1002"
CONFIDENTIAL = {"session", "sessionsOfUser", "draft", "draftsByAuthor"}
CLOSED = (
    '{ session(sessionId: "sess-1001") { userId } }',
    '{ sessionsOfUser(userId: "u-1001") { nodes { sessionId } } }',
    '{ user(userId: "u-1001") { userId sessions { nodes { sessionId } } } }',
    '{ draft(postId: "post-1006") { title } }',
    '{ draftsByAuthor(authorId: "a-1002") { nodes { content } } }',
)
MINE = """query($user: ID!, $after: String) {
  user(userId: $user) { id userId name email }
  ordersOfUser(userId: $user, first: 1, after: $after) { edges { cursor node { orderId userId note } } }
  sessionsOfUser(userId: $user) { nodes { sessionId userId } }
}"""
SUBSCRIBE = """mutation($user: ID!, $key: String) {
  createUserSubscription(input: {userId: $user, subscriptionId: "s-roles", topic: "news"}, idempotencyKey: $key) {
    userSubscription { userId topic } errors { code } } }"""


async def test_a_customer_reads_its_own_rows(shop: SandboxShop) -> None:
    for _ in range(4):  # by the reference, then by a lane
        answer = await shop.answer_for(MINE, ANN, user=ANN)
        assert "errors" not in answer
        assert answer["data"]["user"]["userId"] == ANN
        assert answer["data"]["user"]["email"]
        assert {edge["node"]["userId"] for edge in answer["data"]["ordersOfUser"]["edges"]} == {ANN}


async def test_the_rows_of_another_subject_look_like_missing_ones(shop: SandboxShop) -> None:
    for _ in range(4):
        foreign, missing = [await shop.answer_for(MINE, ANN, user=user) for user in (BOB, "u-nobody")]
        assert foreign == missing
        assert foreign["data"] == {"user": None, "ordersOfUser": {"edges": []}, "sessionsOfUser": {"nodes": []}}
        # what one subject has just read is not shown to another
        assert (await shop.answer_for(MINE, BOB, user=BOB))["data"]["user"]["userId"] == BOB


FILTERED = "query($user: ID!) { ordersOfUser(userId: $user STATUS filter: {total: {ge: 0}}) { nodes { userId } } }"


@pytest.mark.parametrize("status", ["", "status: DELIVERED"])
async def test_a_filtered_list_of_another_subject_looks_like_a_missing_one(shop: SandboxShop, status: str) -> None:
    query = FILTERED.replace("STATUS", status)
    for _ in range(4):  # by the reference, then by a lane
        assert await shop.answer_for(query, ANN, user=BOB) == {"data": {"ordersOfUser": {"nodes": []}}}
        assert await shop.answer_for(query, ANN, user="u-nobody") == {"data": {"ordersOfUser": {"nodes": []}}}
        mine = (await shop.answer_for(query, ANN, user=ANN))["data"]["ordersOfUser"]["nodes"]
        assert {each["userId"] for each in mine} == {ANN}


UNKNOWN = {"GRAPHQL_VALIDATION_FAILED"}


async def test_what_does_not_hold_the_owner_is_unknown(shop: SandboxShop) -> None:
    order = (await shop.answer_for(MINE, ANN, user=ANN))["data"]["ordersOfUser"]["edges"][0]["node"]["orderId"]
    assert codes(await shop.answer_for("query($id: ID!) { order(orderId: $id) { total } }", ANN, id=order)) == UNKNOWN
    assert codes(await shop.answer_for("{ activeOrders { nodes { orderId } } }", ANN)) == UNKNOWN
    assert codes(await shop.answer_for('{ supplier(supplierId: "s-1") { title } }', ANN)) == UNKNOWN


async def test_a_customer_reads_the_catalogue(shop: SandboxShop) -> None:
    answer = await shop.answer_for('{ product(productId: "p-1001") { title } }', ANN)
    assert answer["data"]["product"]["title"]


async def test_cursors_and_ids_of_one_subject_are_worth_nothing_to_another(shop: SandboxShop) -> None:
    mine = (await shop.answer_for(MINE, ANN, user=ANN))["data"]
    node = "query($id: ID!) { node(id: $id) { ... on User { userId } } }"
    assert (await shop.answer_for(node, ANN, id=mine["user"]["id"]))["data"]["node"] == {"userId": ANN}
    assert (await shop.answer_for(node, BOB, id=mine["user"]["id"]))["data"]["node"] is None
    cursor = mine["ordersOfUser"]["edges"][0]["cursor"]
    listing = 'query($after: String) { productsByCategory(categoryId: "tools", first: 1, after: $after) %s }'
    page = listing % "{ edges { cursor } }"
    edges = (await shop.answer_for(page, ANN))["data"]["productsByCategory"]["edges"]
    for taken in [cursor, *(edge["cursor"] for edge in edges)]:
        assert codes(await shop.answer_for(page, BOB, after=taken)) == {"BAD_USER_INPUT"}


async def test_a_customer_writes_for_itself_only(shop: SandboxShop) -> None:
    remove = """mutation($user: ID!) { removeUserSubscription(input: {userId: $user, subscriptionId: "s-roles"}) {
      errors { code } } }"""
    try:
        for _ in range(2):
            answer = await shop.answer_for(SUBSCRIBE, ANN, user=ANN, key="once")
            assert answer["data"]["createUserSubscription"]["userSubscription"] == {"userId": ANN, "topic": "news"}
        # the same key is another's own: its change is made, not answered from the record of somebody else
        theirs = await shop.answer_for(SUBSCRIBE, BOB, user=BOB, key="once")
        assert theirs["data"]["createUserSubscription"]["userSubscription"]["userId"] == BOB
        assert codes(await shop.answer_for(SUBSCRIBE, ANN, user=BOB)) == {"FORBIDDEN"}
        assert codes(await shop.answer_for(SUBSCRIBE, ANN, user="u-1003")) == {"FORBIDDEN"}
    finally:
        for user in (ANN, BOB):
            assert "errors" not in await shop.answer_for(remove, user, user=user)


async def test_a_mutation_that_the_role_may_not_call_is_refused(shop: SandboxShop) -> None:
    rename = 'mutation { updateUser(input: {userId: "u-1001", name: "Ann"}) { errors { code } } }'
    assert codes(await shop.answer_for(rename, ANN)) == UNKNOWN
    remove = 'mutation { removeUser(input: {userId: "u-1001"}) { errors { code } } }'
    assert "may not call `removeUser`" in (await shop.answer_for(remove, "ed", role="editor"))["errors"][0]["message"]


@pytest.mark.parametrize("subject", ["auth0|ann", "a b", "ann/1", "+ann", "u" * 129])
async def test_a_subject_that_is_not_safe_in_a_key_is_refused(shop: SandboxShop, subject: str) -> None:
    answer = await shop.answer_for(MINE, subject, user=ANN)
    assert codes(answer) == {"FORBIDDEN"}
    assert "subject" in answer["errors"][0]["message"]
    assert "errors" not in await shop.answer_for(MINE, subject, role="editor", user=ANN)


async def test_aws_refuses_other_subjects_when_the_gateway_checks_nothing(
    shop: SandboxShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Permissions, "check", lambda *given: Allow(("nobody/Asked",)))
    monkeypatch.setattr(Permissions, "foreign", lambda *given: False)
    monkeypatch.setattr(Residual, "allows_text", lambda *given: True)
    for _ in range(4):
        answer = await shop.answer_for(MINE, ANN, user=BOB)
        assert not any((answer.get("data") or {}).values())
        assert codes(answer) == {"FORBIDDEN"}
    assert codes(await shop.answer_for(SUBSCRIBE, ANN, user=BOB)) == {"FORBIDDEN"}
    assert (await shop.answer_for(MINE, ANN, user=ANN))["data"]["user"]["userId"] == ANN


def test_the_customer_sees_the_patterns_whose_partition_holds_the_owner() -> None:
    found = set(visible_patterns(MODEL, MODEL.roles["customer"]))
    assert {"user", "userWithOrders", "ordersOfUser", "sessionsOfUser", "product"} <= found
    assert found.isdisjoint({"order", "orderWithLines", "ordersByStatus", "activeOrders", "session", "userByEmail"})
    for role, closed in (("admin", set()), ("editor", set()), ("support", CONFIDENTIAL), ("viewer", CONFIDENTIAL)):
        assert set(visible_patterns(MODEL, MODEL.roles[role])) == set(MODEL.patterns) - closed


@pytest.mark.parametrize("role", ["viewer", "support"])
@pytest.mark.parametrize("query", CLOSED)
async def test_those_who_only_read_see_no_session_and_no_draft(shop: SandboxShop, role: str, query: str) -> None:
    for _ in range(4):
        assert codes(await shop.answer_for(query, "someone", role=role)) == {"FORBIDDEN"}
    assert "errors" not in await shop.answer_for(query, "someone", role="editor")


@pytest.mark.parametrize("role", ["viewer", "support"])
@pytest.mark.parametrize("query", CLOSED)
async def test_aws_refuses_what_is_confidential_when_the_gateway_checks_nothing(
    shop: SandboxShop, monkeypatch: pytest.MonkeyPatch, role: str, query: str
) -> None:
    monkeypatch.setattr(Permissions, "check", lambda *given: Allow(("nobody/Asked",)))
    monkeypatch.setattr(Permissions, "foreign", lambda *given: False)
    monkeypatch.setattr(Residual, "allows_text", lambda *given: True)
    for _ in range(4):
        assert codes(await shop.answer_for(query, "someone", role=role)) == {"FORBIDDEN"}


FIND = "query($email: String!) { userByEmail(email: $email) { %s } }"
ADDRESS = "robin.hale@example.com"


async def test_support_finds_a_customer_by_the_exact_address_and_reads_no_address(shop: SandboxShop) -> None:
    for _ in range(4):  # by the reference, then by a lane
        answer = await shop.answer_for(
            FIND % "userId createdAt orders { nodes { orderId } }", "sue", role="support", email=ADDRESS
        )
        assert "errors" not in answer
        assert answer["data"]["userByEmail"]["userId"] == ANN
        assert answer["data"]["userByEmail"]["orders"]["nodes"]
        hidden = await shop.answer_for(
            FIND % "userId email emails { nodes { email verified } }", "sue", role="support", email=ADDRESS
        )
        assert codes(hidden) == {"FORBIDDEN"}
        assert hidden["data"]["userByEmail"]["userId"] == ANN
        assert ADDRESS not in str(hidden)
    for email in ("robin.hale@example.co", "nobody@example.com"):
        nobody = await shop.answer_for(FIND % "userId", "sue", role="support", email=email)
        assert nobody == {"data": {"userByEmail": None}}
    phone = '{ userByPhone(phone: "+4930123456") { userId } }'
    assert codes(await shop.answer_for(phone, "sue", role="support")) == {"FORBIDDEN"}


@pytest.mark.slow
def test_a_role_that_reads_from_indexes_only_reads_attributes() -> None:
    orders = "ordersByStatus(status: DELIVERED, first: 2) { nodes { orderId total } }"
    listed = "{ allUsers(first: 2) { nodes { userId name createdAt } } " + orders + " }"
    with serve("tests.demo.index_only", on="sandbox", demo=True) as served:
        for _ in range(4):  # by the reference, then by a lane
            found = served.query(listed, role="phone-book")
            assert all(user["name"] for user in found["allUsers"]["nodes"])
            assert found["allUsers"]["nodes"]
            assert found["ordersByStatus"]["nodes"][0]["total"]
        for secret in ('{ user(userId: "u-1001") { name } }', "{ allUsers { nodes { address { city } } } }"):
            with pytest.raises(GraphQLErrors) as refused:
                served.query(secret, role="phone-book")
            assert refused.value.codes == ["GRAPHQL_VALIDATION_FAILED"]
