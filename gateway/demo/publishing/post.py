"""A post that is published: under its own partition, once more under its author, and in its category."""

from gateway import (
    Attribute,
    Collection,
    Copy,
    Entity,
    Id,
    Index,
    ItemCollection,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Timestamp,
    Traffic,
)
from gateway.demo.publishing.draft import TEXT
from gateway.demo.publishing.like import LIKES_OF_POST

POST = Entity(
    name="Post",
    description="A post that an author has published.",
    attributes=(
        Attribute("postId", Id(), "The post's id, unique in the tenant."),
        *TEXT,
        Attribute("createdAt", Timestamp(), "When it was created."),
        Attribute("publishedAt", Timestamp(), "When it was published."),
    ),
    key=Key(pk="POST#{postId}", sk="META"),
    copies=(Copy(name="byAuthor", pk="AUTHOR#{authorId}", sk="POST#{createdAt}#{postId}"),),
    indexes=(OnIndex(index="GSI4", pk="POSTS#{category}", sk="{publishedAt}#{postId}"),),
    relations=(
        # its draft keeps the author from being removed
        Reference(name="author", pattern="author", description="The author."),
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
        attributes=("postId", "authorId", "title", "category", "createdAt", "publishedAt"),
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
        description="Posts of an author, newest first; optionally in a range of dates.",
        traffic=Traffic(20, 10, 2_000),
    ),
    Listing(
        name="postsByCategory",
        entity="Post",
        index="GSI4",
        between="publishedAt",
        newest_first=True,
        description="Posts of a category, newest first; optionally in a range of dates.",
        traffic=Traffic(100, 20, 400),
    ),
)
