"""Comments on posts."""

from gateway.model.entity import Attribute, Entity, Key, Reference
from gateway.model.patterns import Listing, Traffic
from gateway.model.types import Id, Text, Timestamp

COMMENT = Entity(
    name="Comment",
    description="A reader's comment on a post.",
    attributes=(
        Attribute("postId", Id(), "The post."),
        Attribute("createdAt", Timestamp(), "When it was written."),
        Attribute("commentId", Id(), "The comment's id, unique for the post."),
        Attribute("userId", Id(), "The user who wrote it."),
        Attribute("body", Text(5_000), "The text of the comment."),
    ),
    key=Key(pk="POST#{postId}", sk="COMMENT#{createdAt}#{commentId}"),
    relations=(Reference(name="post", pattern="post", description="The post."),),
)

ENTITIES = (COMMENT,)

PATTERNS = (
    Listing(
        name="commentsOfPost",
        entity="Comment",
        between="createdAt",
        newest_first=True,
        description="Comments on a post, newest first.",
        traffic=Traffic(50, 20, 400),
    ),
)
