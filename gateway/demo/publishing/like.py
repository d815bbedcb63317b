"""Likes: who likes what, once each, and a counter in shards, since one item takes only so many writes a second.

A like adds to any one of the shards, and the sum of all of them is the number of likes: for a page of posts they are
read in batches of 100 keys, however many posts there are.
"""

import enum

from gateway.model.entity import Attribute, Entity, Key, Reference, Total
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.types import EnumOf, Id, Integer, Timestamp

SHARDS = 8


class CounterName(enum.Enum):
    """What is counted."""

    LIKES = "likes of a post"


COUNTER = Entity(
    name="Counter",
    description="One shard of a counter; only the sum of all of them says something.",
    attributes=(
        Attribute("counter", EnumOf(CounterName), "What is counted."),
        Attribute("subjectId", Id(), "Of what it is counted."),
        Attribute("slot", Integer(), "Which shard it is, from 0."),
        Attribute("count", Integer(), "What was added to this shard."),
    ),
    key=Key(pk="COUNTER#{counter}#{subjectId}#{slot:2}", sk="COUNT"),
)
LIKE = Entity(
    name="Like",
    description="That a user likes a post: once, however often it is said.",
    attributes=(
        Attribute("userId", Id(), "Who likes it."),
        Attribute("postId", Id(), "The post."),
        Attribute("likedAt", Timestamp(), "Since when."),
        Attribute("slot", Integer(), "The shard of the counter that it was added to."),
    ),
    # by user: under the post they would all go to one partition, which is what the shards avoid
    key=Key(pk="LIKES#{userId}", sk="POST#{postId}"),
    relations=(Reference(name="post", pattern="post", description="The post."),),
)

ENTITIES = (LIKE, COUNTER)

PATTERNS = (
    Lookup(name="like", entity="Like", description="Whether a user likes a post.", traffic=Traffic(50, 1, 200)),
    Listing(name="likesOfUser", entity="Like", description="What a user likes.", traffic=Traffic(5, 20, 200)),
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
    description="How many users like it.",
)
