"""Likes: who likes what, once each, and a counter in shards, since one item takes only so many writes a second.

A like adds to any one of the shards, and the sum of all of them is the number of likes: for a page of posts they are
read in batches of 100 keys, however many posts there are.
"""

import enum

from gateway import (
    Attribute,
    Entity,
    EnumOf,
    Id,
    Integer,
    Key,
    Listing,
    Lookup,
    Reference,
    Subject,
    Timestamp,
    Total,
    Traffic,
)

SHARDS = 8
_MINE = {"userId": Subject()}


class CounterName(enum.Enum):
    """What a counter counts."""

    LIKES = "likes of a post"


COUNTER = Entity(
    name="Counter",
    description="One shard of a counter; the sum of all shards is the count.",
    attributes=(
        Attribute("counter", EnumOf(CounterName), "What the counter counts."),
        Attribute("subjectId", Id(), "The id of the item that the count belongs to."),
        Attribute("slot", Integer(), "The number of the shard, from 0."),
        Attribute("count", Integer(), "The sum of this shard."),
    ),
    key=Key(pk="COUNTER#{counter}#{subjectId}#{slot:2}", sk="COUNT"),
    # callers see the sum of all shards
    internal=True,
)
LIKE = Entity(
    name="Like",
    description="A reader's like of a post; liking again changes nothing.",
    attributes=(
        Attribute("userId", Id(), "The reader who likes the post."),
        Attribute("postId", Id(), "The post."),
        Attribute("likedAt", Timestamp(), "When the user liked it."),
        Attribute("slot", Integer(), "The counter shard that counts this like."),
    ),
    # by user: under the post they would all go to one partition, which is what the shards avoid
    key=Key(pk="LIKES#{userId}", sk="POST#{postId}"),
    owner="userId",
    relations=(
        Reference(name="post", pattern="post", description="The post."),
        Reference(name="reader", pattern="reader", description="Who likes it.", required=True),
    ),
)

ENTITIES = (LIKE, COUNTER)

PATTERNS = (
    Lookup(
        name="like",
        entity="Like",
        defaults=_MINE,
        description="The like of a user for a post, if there is one.",
        traffic=Traffic(50, 1, 200),
    ),
    Listing(
        name="likesOfUser",
        entity="Like",
        defaults=_MINE,
        description="The posts that a user likes.",
        traffic=Traffic(5, 20, 200),
    ),
    Lookup(
        name="counterShard",
        entity="Counter",
        description="One shard of a counter.",
        traffic=Traffic(200, SHARDS, 150),
    ),
)

LIKES_OF_POST = Total(
    name="likes",
    pattern="counterShard",
    attribute="count",
    over="slot",
    count=SHARDS,
    fixed={"counter": CounterName.LIKES},
    bind={"subjectId": "postId"},
    description="The number of users who like it.",
)
