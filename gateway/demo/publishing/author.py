"""Authors of posts."""

from gateway import Attribute, Collection, Entity, Id, ItemCollection, Key, Lookup, Text, Traffic

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

ENTITIES = (AUTHOR,)

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
)
