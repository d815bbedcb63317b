"""Mutations that write, publish and remove posts and comments."""

from dataclasses import replace
from typing import Any

from gateway import (
    VERSION,
    Field,
    Id,
    Mutation,
    MutationResult,
    Rejected,
    Writer,
    create,
    invalid,
    missing,
    new_id,
    now,
    remove,
    update,
    upserts,
)
from gateway.demo.publishing.comment import COMMENT
from gateway.demo.publishing.liking import UNPUBLISHED, rank, shard_keys
from gateway.demo.publishing.post import POST, PostStatus
from gateway.demo.publishing.records import Post

# with the post, its copy, its score, its shards and the idempotency record: within the 100 of a transaction
MAX_REMOVED_COMMENTS = 80

_POST_ID = Field("postId", Id(), "The post.")
_GATEWAY_SETS = ("status", "createdAt", "publishedAt")


async def create_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    given = {name: value for name, value in values.items() if value is not None}
    change = writer.change()
    post = {"postId": new_id(), **given, "status": PostStatus.DRAFT, "createdAt": now()}
    item = change.create("Post", post)
    return await writer.commit(change, MutationResult(item))


async def publish_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    post = await writer.stored(Post, {"postId": values["postId"]}, values.get("version"))
    if post.status is PostStatus.PUBLISHED:
        raise invalid("the post is already published", "postId")
    change = writer.change()
    item = change.update(post.as_item, {"status": PostStatus.PUBLISHED, "publishedAt": now()})
    # it may have been published and liked before
    await rank(writer, change, item)
    return await writer.commit(change, MutationResult(item))


async def unpublish_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    post = await writer.stored(Post, {"postId": values["postId"]}, values.get("version"))
    if post.status is PostStatus.DRAFT:
        raise Rejected(UNPUBLISHED)
    change = writer.change()
    item = change.update(post.as_item, {"status": PostStatus.DRAFT, "publishedAt": None})
    upserts.discard(change, "PostScore", {"postId": values["postId"]})
    return await writer.commit(change, MutationResult(item))


async def remove_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Only for drafts: nobody can comment on one meanwhile, so that no comment is left behind."""
    key = {"postId": values["postId"]}
    post = await writer.stored(Post, key, values.get("version"))
    if post.status is PostStatus.PUBLISHED:
        raise invalid("the post is published; unpublish it first", "postId")
    comments = await writer.listed("commentsOfPost", key)
    if len(comments) > MAX_REMOVED_COMMENTS:
        raise invalid(f"the post has more than {MAX_REMOVED_COMMENTS} comments; remove some of them first", "postId")
    change = writer.change()
    change.remove(post.as_item)
    for comment in comments:
        change.remove(comment)
    for shard in shard_keys(values["postId"]):
        upserts.discard(change, "Counter", shard)
    upserts.discard(change, "PostScore", key)
    return await writer.commit(change, MutationResult(post.as_item))


async def create_comment(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"postId": values["postId"]}
    if await writer.peek("Post", key) is None:
        raise missing("Post", key)
    change = writer.change()
    change.require("Post", key, UNPUBLISHED, status=PostStatus.PUBLISHED)
    item = change.create("Comment", {**values, "createdAt": now(), "commentId": new_id()})
    return await writer.commit(change, MutationResult(item))


_CREATE = create(POST, filled=dict.fromkeys(_GATEWAY_SETS, now))
_ID = Field("postId", Id(), "An id of your choice; if omitted, the gateway generates one.", required=False)

WRITING: tuple[Mutation, ...] = (
    replace(
        _CREATE,
        description="Create a post as a draft.",
        input=(*(each for each in _CREATE.input if each.name != "postId"), _ID),
        run=create_post,
    ),
    update(POST, but=(*_GATEWAY_SETS, "authorId")),
    Mutation(
        name="publishPost",
        description="Publish a draft, which adds it to its category.",
        returns="Post",
        input=(_POST_ID, VERSION),
        run=publish_post,
    ),
    Mutation(
        name="unpublishPost",
        description="Turn a post back into a draft: it leaves its category and the leaderboard, and keeps its likes.",
        returns="Post",
        input=(_POST_ID, VERSION),
        run=unpublish_post,
        removes=True,
    ),
    replace(
        remove(POST),
        description="Remove a draft with its comments and likes; unpublish a published post first.",
        run=remove_post,
        removes=True,
    ),
    replace(
        create(COMMENT, filled={"createdAt": now, "commentId": new_id}),
        description="Comment on a published post.",
        run=create_comment,
    ),
    update(COMMENT, but=("userId",)),
    remove(COMMENT),
)
