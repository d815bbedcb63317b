"""Likes: who likes what, once each, and a counter in shards, since one item takes only so many writes a second.

A like adds to any one of the shards, and the sum of all of them is the number of likes: for a page of posts they are
read in batches of 100 keys, however many posts there are.

The leaderboard is how many likes a post has, as an item that an index can sort. The exact number is a sum over shards,
which no index can sort. So a post that has likes has a score beside it, and the
score is what the boards show: zero-padded, so that texts sort as numbers, in one partition for each month of
publication and in four for all time, which are read in parallel. Only published posts with likes are on a board.

A score is brought up to date in the transaction of a like: always while it is below `EXACT`, and above that with a
chance of `EXACT` in its own value. So a board is exact for small scores and right to about one part in `EXACT` for
large ones, and a post with n likes has cost about EXACT * (1 + ln(n / EXACT)) updates instead of n: 550 for a million.
Each reads the shards once and moves one entry in either index. The exact number is that of `post { likes }`.
"""

import enum

from gateway import (
    Attribute,
    Entity,
    EnumOf,
    Id,
    Integer,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Shards,
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

EXACT = 50
MONTH = KeyString(pattern="[0-9]{4}-(0[1-9]|1[0-2])", example="2026-01")
_BY_SCORE = "{score:10}#{postId}"

SCORE = Entity(
    name="PostScore",
    description=f"A post's score on the leaderboard: exact up to {EXACT} likes, then within about {100 // EXACT} %.",
    attributes=(
        Attribute("postId", Id(), "The post."),
        Attribute("score", Integer(), "The number of likes when they were last counted."),
        Attribute("month", MONTH, "The month in which it was published, such as 2026-01."),
        Attribute("countedAt", Timestamp(), "When its likes were last counted."),
    ),
    key=Key(pk="POST#{postId}", sk="SCORE"),
    indexes=(
        OnIndex(index="GSI2", pk="TOP#{shard}", sk=_BY_SCORE, shards=Shards(4, by="postId")),
        OnIndex(index="GSI3", pk="TOP#{month}", sk=_BY_SCORE),
    ),
    relations=(Reference(name="post", pattern="post", description="The post."),),
)

ENTITIES = (LIKE, COUNTER, SCORE)

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
    Lookup(name="postScore", entity="PostScore", description="The score of one post.", traffic=Traffic(1, 1, 200)),
    Listing(
        name="topPosts",
        entity="PostScore",
        index="GSI2",
        between="score",
        newest_first=True,
        description="The posts with the most likes; read from all shards in parallel.",
        traffic=Traffic(20, 10, 200),
    ),
    Listing(
        name="topPostsOfMonth",
        entity="PostScore",
        index="GSI3",
        between="score",
        newest_first=True,
        description="The posts of a month with the most likes.",
        traffic=Traffic(50, 10, 200),
    ),
)
