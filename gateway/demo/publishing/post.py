"""Posts: their authors and readers, comments, and drafts, which readers never see: publishing copies them."""

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
    Mutation,
    OnIndex,
    Reference,
    Text,
    Timestamp,
    Traffic,
    create,
    new_id,
    now,
    update,
)
from gateway.demo.publishing.like import LIKES_OF_POST

AUTHOR = Entity(
    name="Author",
    description="A person who writes posts.",
    attributes=(
        Attribute("authorId", Id(), "The author's id, unique in the tenant."),
        # not `name`: that is personal information of users, and IAM hides attributes by their names
        Attribute("penName", Text(200), "The name that readers see."),
        Attribute("bio", Text(2_000), "A short biography.", required=False),
    ),
    key=Key(pk="AUTHOR#{authorId}", sk="PROFILE"),
    relations=(Collection(name="posts", pattern="postsByAuthor", description="The author's posts, newest first."),),
)

READER = Entity(
    name="Reader",
    description="A person who likes posts and comments on them.",
    attributes=(
        # the id of the same person in the shop, if the shop is served too
        Attribute("userId", Id(), "The reader's id, unique in the tenant."),
        # not `name`: that is personal information of users, and IAM hides attributes by their names
        Attribute("nickname", Text(100), "The name that others see."),
        Attribute("joinedAt", Timestamp(), "When the reader joined."),
    ),
    key=Key(pk="READER#{userId}", sk="PROFILE"),
    relations=(Collection(name="likes", pattern="likesOfUser", description="What the reader likes."),),
)

# readers are never removed: their likes and comments stay and refer to them
READING: tuple[Mutation, ...] = (create(READER, filled={"joinedAt": now}), update(READER, but=("joinedAt",)))

TEXT = (
    Attribute("authorId", Id(), "The author.", immutable=True),
    Attribute("title", Text(300), "The title."),
    Attribute("content", Text(200_000), "The text of the post.", compressed=True),
    Attribute("category", Id(), "The category it is published in."),
)

DRAFT = Entity(
    name="Draft",
    description="A post as its author writes it, published or not.",
    attributes=(
        Attribute("postId", Id(), "The id of the post, unique in the tenant.", default=new_id),
        *TEXT,
        Attribute("createdAt", Timestamp(), "When it was created.", default=now, immutable=True),
        Attribute("publishedAt", Timestamp(), "When it was published; null while it is not published.", required=False),
    ),
    key=Key(pk="DRAFT#{postId}", sk="DRAFT"),
    copies=(Copy(name="byAuthor", pk="DRAFT#BY#{authorId}", sk="{createdAt}#{postId}"),),
    relations=(
        Reference(name="author", pattern="author", description="The author.", required=True, on_remove="restrict"),
        Reference(name="post", pattern="post", description="What readers see, once it is published."),
    ),
    # IAM sees partitions and not the values of items, so drafts are in partitions that readers cannot reach
    confidential=True,
)

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

# a list of posts shows all but their texts, which are far longer than the rest
INDEXES = (
    Index(
        "GSI4",
        projection="INCLUDE",
        attributes=("postId", "authorId", "title", "category", "createdAt", "publishedAt"),
    ),
)

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

ENTITIES = (AUTHOR, READER, DRAFT, POST, COMMENT)

PATTERNS = (
    Lookup(
        name="author",
        many="authors",
        entity="Author",
        description="One author by id, or many at once.",
        traffic=Traffic(50, 1, 400),
    ),
    ItemCollection(
        name="authorWithPosts",
        entity="Author",
        collection="posts",
        description="An author and the newest posts in one Query.",
        traffic=Traffic(20, 11, 2_000),
    ),
    Lookup(name="reader", entity="Reader", description="One reader by id.", traffic=Traffic(50, 1, 200)),
    Lookup(name="draft", entity="Draft", description="One draft by id.", traffic=Traffic(5, 1, 2_000)),
    Listing(
        name="draftsByAuthor",
        entity="Draft",
        index="byAuthor",
        between="createdAt",
        newest_first=True,
        description="Drafts of an author, newest first; optionally in a range of dates.",
        traffic=Traffic(2, 10, 2_000),
    ),
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
