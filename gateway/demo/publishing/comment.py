"""Comments on posts."""

from gateway import Attribute, Entity, Id, Key, Listing, Lookup, Reference, Text, Timestamp, Traffic

COMMENT = Entity(
    name="Comment",
    description="A reader's comment on a post.",
    attributes=(
        Attribute("postId", Id(), "The post."),
        Attribute("createdAt", Timestamp(), "When it was written."),
        Attribute("commentId", Id(), "The comment's id, unique for the post."),
        Attribute("userId", Id(), "The reader who wrote it."),
        Attribute("body", Text(5_000), "The text of the comment."),
    ),
    key=Key(pk="POST#{postId}", sk="COMMENT#{createdAt}#{commentId}"),
    owner="userId",
    relations=(
        Reference(name="post", pattern="post", description="The post."),
        Reference(name="reader", pattern="reader", description="Who wrote it.", required=True),
    ),
)

ENTITIES = (COMMENT,)

PATTERNS = (
    Lookup(name="comment", entity="Comment", description="One comment on a post.", traffic=Traffic(1, 1, 400)),
    Listing(
        name="commentsOfPost",
        entity="Comment",
        between="createdAt",
        newest_first=True,
        description="Comments on a post, newest first.",
        traffic=Traffic(50, 20, 400),
    ),
)
