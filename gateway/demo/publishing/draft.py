"""A draft: what an author writes. Readers never see it; publishing copies it into the post that they see."""

from gateway import (
    Attribute,
    Copy,
    Entity,
    Id,
    Key,
    Listing,
    Lookup,
    Reference,
    Text,
    Timestamp,
    Traffic,
    new_id,
    now,
)

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

ENTITIES = (DRAFT,)

PATTERNS = (
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
)
