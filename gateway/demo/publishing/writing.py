"""Mutations that write drafts, publish them as posts, and write comments."""

from dataclasses import replace
from typing import Any

from gateway import (
    VERSION,
    Field,
    Id,
    Mutation,
    MutationResult,
    Writer,
    create,
    crud,
    invalid,
    missing,
    new_id,
    now,
    remove,
    update,
    upserts,
)
from gateway.demo.publishing.liking import UNPUBLISHED, rank, shard_keys
from gateway.demo.publishing.post import COMMENT, DRAFT, TEXT

# with the draft, its copy, the score, its shards and the idempotency record: within the 100 of a transaction
MAX_REMOVED_COMMENTS = 80

_POST_ID = Field("postId", Id(), "The post.")


async def publish_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"postId": values["postId"]}
    draft = await writer.stored("Draft", key, values.get("version"))
    text = {attribute.name: draft[attribute.name] for attribute in TEXT}
    change = writer.change()
    if draft["publishedAt"] is None:
        times = {"createdAt": draft["createdAt"], "publishedAt": now()}
        item = change.create("Post", {**key, **text, **times})
        change.update(draft, {"publishedAt": times["publishedAt"]})
        # it may have been published and liked before
        await rank(writer, change, item)
    else:
        item = change.update(await writer.stored("Post", key), text)
        change.unchanged(draft)
    return await writer.commit(change, MutationResult(item))


async def unpublish_post(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"postId": values["postId"]}
    post = await writer.stored("Post", key, values.get("version"))
    change = writer.change()
    change.update(await writer.stored("Draft", key), {"publishedAt": None})
    change.remove(post)
    upserts.discard(change, "PostScore", key)
    return await writer.commit(change, MutationResult(post))


async def remove_draft(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Only while it is unpublished: then no one can add a comment that would be left behind."""
    key = {"postId": values["postId"]}
    draft = await writer.stored("Draft", key, values.get("version"))
    if draft["publishedAt"] is not None:
        raise invalid("the post is published; unpublish it first", "postId")
    comments = await writer.listed("commentsOfPost", key)
    if len(comments) > MAX_REMOVED_COMMENTS:
        raise invalid(f"the post has more than {MAX_REMOVED_COMMENTS} comments; remove some of them first", "postId")
    change = writer.change()
    change.remove(draft)
    for comment in comments:
        change.remove(comment)
    for shard in shard_keys(values["postId"]):
        upserts.discard(change, "Counter", shard)
    upserts.discard(change, "PostScore", key)
    return await writer.commit(change, MutationResult(draft))


async def create_comment(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"postId": values["postId"]}
    if await writer.peek("Post", key) is None:
        raise missing("Post", key)
    change = writer.change()
    change.require("Post", key, UNPUBLISHED)
    item = change.create("Comment", {**values, "createdAt": now(), "commentId": new_id()})
    return await writer.commit(change, MutationResult(item))


# the gateway sets when it was created and when it was published
_CREATE, _UPDATE, _REMOVE = crud(DRAFT)
_SET = ("createdAt", "publishedAt")

WRITING: tuple[Mutation, ...] = (
    replace(_CREATE, input=tuple(field for field in _CREATE.input if field.name not in _SET)),
    replace(_UPDATE, input=tuple(field for field in _UPDATE.input if field.name not in _SET)),
    replace(
        _REMOVE,
        description="Remove a draft with the comments and likes of its post; unpublish a published post first.",
        run=remove_draft,
    ),
    Mutation(
        name="publishPost",
        description="Publish a draft as a post, or update the post with what has changed in the draft since.",
        returns="Post",
        input=(_POST_ID, replace(VERSION, description="The version of the draft that you have read.")),
        run=publish_post,
    ),
    Mutation(
        name="unpublishPost",
        description="Take a post back: it leaves its category and the leaderboard. Its draft, comments and likes stay.",
        returns="Post",
        input=(_POST_ID, VERSION),
        run=unpublish_post,
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
