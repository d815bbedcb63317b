"""A post: under its own partition, once more under its author, and in its category while it is published."""

import enum

from gateway import (
    Attribute,
    Collection,
    Copy,
    Entity,
    EnumOf,
    Id,
    Index,
    ItemCollection,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Text,
    Timestamp,
    Traffic,
    When,
)
from gateway.demo.publishing.like import LIKES_OF_POST


class PostStatus(enum.Enum):
    """Whether readers can find a post."""

    DRAFT = "being written; in no category"
    PUBLISHED = "found in its category"


POST = Entity(
    name="Post",
    description="A post by an author.",
    attributes=(
        Attribute("postId", Id(), "The post's id, unique in the tenant."),
        Attribute("authorId", Id(), "The author."),
        Attribute("title", Text(300), "The title."),
        Attribute("content", Text(200_000), "The text of the post.", compressed=True),
        Attribute("category", Id(), "The category it is published in."),
        Attribute("status", EnumOf(PostStatus), "Whether readers can find it."),
        Attribute("createdAt", Timestamp(), "When it was created."),
        Attribute("publishedAt", Timestamp(), "When it was published.", required=False),
    ),
    key=Key(pk="POST#{postId}", sk="META"),
    copies=(Copy(name="byAuthor", pk="AUTHOR#{authorId}", sk="POST#{createdAt}#{postId}"),),
    indexes=(
        OnIndex(
            index="GSI4",
            pk="POSTS#{category}",
            sk="{publishedAt}#{postId}",
            when=When("status", (PostStatus.PUBLISHED.name,)),
        ),
    ),
    relations=(
        Reference(name="author", pattern="author", description="The author.", required=True, on_remove="restrict"),
        Collection(name="comments", pattern="commentsOfPost", description="Comments on the post, newest first."),
        LIKES_OF_POST,
    ),
)

ENTITIES = (POST,)

# a list of posts shows all but their texts, which are far longer than the rest
INDEXES = (
    Index(
        "GSI4",
        projection="INCLUDE",
        attributes=("postId", "authorId", "title", "category", "status", "createdAt", "publishedAt"),
    ),
)

PATTERNS = (
    Lookup(
        name="post",
        many="posts",
        entity="Post",
        description="One post by id, or many at once.",
        traffic=Traffic(200, 1, 2_000),
    ),
    ItemCollection(
        name="postWithComments",
        entity="Post",
        collection="comments",
        description="A post and the newest comments in one Query.",
        traffic=Traffic(100, 21, 500),
    ),
    Listing(
        name="postsByAuthor",
        entity="Post",
        index="byAuthor",
        between="createdAt",
        newest_first=True,
        description="Posts of an author, including drafts, newest first; optionally in a range of dates.",
        traffic=Traffic(20, 10, 2_000),
    ),
    Listing(
        name="postsByCategory",
        entity="Post",
        index="GSI4",
        between="publishedAt",
        newest_first=True,
        description="Published posts of a category, newest first; optionally in a range of dates.",
        traffic=Traffic(100, 20, 400),
    ),
)
