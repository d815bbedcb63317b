"""Mutations that add and remove likes, and keep the leaderboard up to date."""

import random
from typing import Any

from gateway import (
    Change,
    Fault,
    Field,
    Id,
    Item,
    Mutation,
    MutationResult,
    Subject,
    UserErrorCode,
    Writer,
    gather_or_cancel,
    missing,
    now,
    upserts,
)
from gateway.demo.publishing.like import EXACT, SHARDS, CounterName

UNPUBLISHED = Fault(UserErrorCode.INVALID, "the post is not published", "postId")
_READER = "The reader who likes the post; by default the caller."
_INPUT = (
    Field("postId", Id(), "The post."),
    Field("userId", Id(), _READER, required=False, default=Subject()),
)


def shard_keys(post_id: str) -> list[dict[str, Any]]:
    return [{"counter": CounterName.LIKES, "subjectId": post_id, "slot": slot} for slot in range(SHARDS)]


async def like_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    post, score = await _standing(writer, values["postId"])
    if post is None:
        raise missing("Post", {"postId": values["postId"]})
    slot = random.randrange(SHARDS)  # noqa: S311  any shard will do
    change = writer.change()
    like = change.create("Like", {**values, "likedAt": now(), "slot": slot})
    upserts.tally(change, "Counter", shard_keys(values["postId"])[slot], {"count": 1})
    await _rank(writer, change, (post, score), by=1)
    return await writer.commit(change, MutationResult(like))


async def unlike_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    like = await writer.stored("Like", values)
    post, score = await _standing(writer, values["postId"])
    change = writer.change()
    change.remove(like)
    # an unpublished post keeps its likes
    if post is not None or await writer.peek("Draft", {"postId": values["postId"]}, "postId") is not None:
        # from the shard that counted it, so that no shard falls below zero
        upserts.tally(change, "Counter", shard_keys(values["postId"])[like.values["slot"]], {"count": -1})
    if post is not None:
        await _rank(writer, change, (post, score), by=-1)
    return await writer.commit(change, MutationResult(like))


async def _standing(writer: Writer, post_id: str) -> tuple[Item | None, Item | None]:
    """The items that a like depends on: the post without its content, and its score."""
    key = {"postId": post_id}
    post, score = await gather_or_cancel(
        [writer.peek("Post", key, "postId", "publishedAt"), writer.peek("PostScore", key, "score")]
    )
    return post, score


async def _rank(writer: Writer, change: Change, standing: tuple[Item, Item | None], by: int) -> None:
    """Recounts at random: the larger the score, the less one like changes it."""
    post, score = standing
    old_score = score.values["score"] if score is not None else 0
    if random.random() * old_score < EXACT:  # noqa: S311  no secret
        # a post that is unpublished at the same time must not return to the leaderboard
        change.require("Post", {"postId": post.values["postId"]}, UNPUBLISHED)
        await rank(writer, change, post, by)


async def rank(writer: Writer, change: Change, post: Item, by: int = 0) -> None:
    """Counts the likes and puts the post on the leaderboard, or removes it if it has none."""
    post_id, counted = post.values["postId"], now()
    shards = await writer.many("Counter", shard_keys(post_id))
    likes = by + sum(shard.values["count"] for shard in shards if shard is not None)
    if likes > 0:
        month = f"{post.values['publishedAt']:%Y-%m}"
        standing = {"postId": post_id, "score": likes, "month": month, "countedAt": counted}
        upserts.newest(change, "PostScore", standing, by="countedAt")
    else:
        upserts.discard(change, "PostScore", {"postId": post_id})


LIKING = (
    Mutation(
        name="likePost",
        description="Like a published post; a reader can like a post only once.",
        returns="Like",
        input=_INPUT,
        run=like_post,
    ),
    Mutation(
        name="unlikePost",
        description="Remove a like from a post.",
        returns="Like",
        input=_INPUT,
        run=unlike_post,
        removes=True,
    ),
)
