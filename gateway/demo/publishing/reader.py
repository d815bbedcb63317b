"""Readers: the only ones who like posts and comment on them."""

from gateway import (
    Attribute,
    Collection,
    Entity,
    Id,
    Key,
    Lookup,
    Mutation,
    Text,
    Timestamp,
    Traffic,
    create,
    now,
    update,
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

ENTITIES = (READER,)

PATTERNS = (Lookup(name="reader", entity="Reader", description="One reader by id.", traffic=Traffic(50, 1, 200)),)

# readers are never removed: their likes and comments stay and refer to them
READING: tuple[Mutation, ...] = (create(READER, filled={"joinedAt": now}), update(READER, but=("joinedAt",)))
