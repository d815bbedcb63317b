"""The token's subject as an argument: `me`, lists and mutations of callers who name nobody."""

from typing import Any

import pytest

from tests.demo.sandbox_shop import SandboxShop, codes

ANN, BOB = "u-1005", "u-1006"
ME = """query($after: String) {
  me { id userId name orders(first: 1) { nodes { userId } } }
  again: me { email }
  ordersOfUser(first: 1, after: $after) { edges { cursor node { orderId userId } } pageInfo { hasNextPage } }
  ordersOfUser_: ordersOfUser(status: DELIVERED) { nodes { userId } }
  notificationsOfUser { nodes { userId } }
  emailsOfUser { nodes { userId email } }
}"""
SUBSCRIBE = """mutation($user: ID) {
  createUserSubscription(input: {userId: $user, subscriptionId: "s-me", topic: "news"}) {
    userSubscription { userId } errors { code field } } }"""
UNSUBSCRIBE = """mutation($user: ID) {
  removeUserSubscription(input: {userId: $user, subscriptionId: "s-me"}) {
    userSubscription { userId } errors { code } } }"""
LIKE = 'mutation { likePost(input: {postId: "post-1002"}) { like { userId } errors { code message field } } }'
UNLIKE = 'mutation { unlikePost(input: {postId: "post-1002"}) { like { userId } errors { code } } }'
COMMENT = """mutation { createComment(input: {postId: "post-1002", body: "good"}) {
  comment { userId postId createdAt commentId } errors { code message } } }"""


def users_in(answer: Any) -> set[str]:
    """Every user that an answer names, wherever it does."""
    if isinstance(answer, dict):
        own = {answer["userId"]} if "userId" in answer else set()
        return own.union(*(users_in(each) for each in answer.values()))
    return set[str]().union(*(users_in(each) for each in answer)) if isinstance(answer, list) else set()


@pytest.mark.parametrize("role", ["customer", "viewer"])
async def test_a_caller_that_names_nobody_asks_for_its_own(shop: SandboxShop, role: str) -> None:
    for _ in range(4):  # by the reference, then by a lane
        for subject in (ANN, BOB):
            answer = await shop.answer_for(ME, subject, role)
            assert "errors" not in answer
            assert users_in(answer) == {subject}
            assert answer["data"]["me"]["orders"]["nodes"]
            assert answer["data"]["again"]["email"] in {
                each["email"] for each in answer["data"]["emailsOfUser"]["nodes"]
            }


async def test_a_cursor_of_my_list_goes_on_in_my_list_only(shop: SandboxShop) -> None:
    cursor = (await shop.answer_for(ME, ANN))["data"]["ordersOfUser"]["edges"][0]["cursor"]
    for _ in range(3):
        assert users_in((await shop.answer_for(ME, ANN, after=cursor))["data"]) == {ANN}
        for role in ("customer", "viewer"):
            assert codes(await shop.answer_for(ME, BOB, role, after=cursor)) == {"BAD_USER_INPUT"}


async def test_a_subject_without_an_item_is_null(shop: SandboxShop) -> None:
    for _ in range(3):
        assert await shop.answer_for("{ me { userId } }", "nobody-here") == {"data": {"me": None}}
        assert await shop.answer_for("{ me { userId } }", "nobody-here", "viewer") == {"data": {"me": None}}


async def test_a_null_is_as_good_as_no_argument(shop: SandboxShop) -> None:
    query = "query($user: ID) { ordersOfUser(userId: $user, first: 1) { nodes { userId } } }"
    for _ in range(3):
        assert users_in(await shop.answer_for(query, ANN, "viewer", user=None)) == {ANN}
        assert users_in(await shop.answer_for(query, ANN, "viewer")) == {ANN}
        assert users_in(await shop.answer_for(query, ANN, "viewer", user=BOB)) == {BOB}


async def test_a_subject_that_is_not_an_id_is_told_what_to_do(shop: SandboxShop) -> None:
    for _ in range(3):
        answer = await shop.answer_for("{ me { userId } ordersOfUser { nodes { userId } } }", "auth0|123", "viewer")
        assert codes(answer) == {"FORBIDDEN"}
        assert "`subject_claim`" in answer["errors"][0]["message"]
        assert answer["data"] == {"me": None, "ordersOfUser": None}


async def test_a_change_is_made_for_the_caller(shop: SandboxShop) -> None:
    made = await shop.answer_for(SUBSCRIBE, ANN)
    assert made["data"]["createUserSubscription"]["userSubscription"] == {"userId": ANN}
    # naming somebody else is refused, whether they have such an item or not
    assert codes(await shop.answer_for(UNSUBSCRIBE, BOB, user=ANN)) == {"FORBIDDEN"}
    assert codes(await shop.answer_for(UNSUBSCRIBE, BOB, user="u-nobody")) == {"FORBIDDEN"}
    theirs = await shop.answer_for(UNSUBSCRIBE, BOB)
    assert theirs["data"]["removeUserSubscription"]["errors"] == [{"code": "NOT_FOUND"}]
    assert users_in(await shop.answer_for(UNSUBSCRIBE, ANN)) == {ANN}


async def test_likes_and_comments_are_those_of_the_caller(shop: SandboxShop) -> None:
    liked = await shop.answer_for(LIKE, ANN, "admin")
    assert users_in(liked) == {ANN}, liked
    commented = await shop.answer_for(COMMENT, ANN, "admin")
    assert users_in(commented) == {ANN}, commented
    mine = "{ likesOfUser { nodes { userId postId } } }"
    assert users_in(await shop.answer_for(mine, ANN, "viewer")) == {ANN}
    assert users_in(await shop.answer_for(UNLIKE, ANN, "admin")) == {ANN}
    comment = {name: commented["data"]["createComment"]["comment"][name] for name in ("createdAt", "commentId")}
    remove = """mutation($createdAt: DateTime!, $commentId: ID!) { removeComment(
      input: {postId: "post-1002", createdAt: $createdAt, commentId: $commentId}) { errors { code } } }"""
    assert "errors" not in await shop.answer_for(remove, ANN, "admin", **comment)
