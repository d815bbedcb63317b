"""The leaderboard: how many likes a post has, as an item that an index can sort.

The exact number is a sum over shards, which no index can sort. So a post that has likes has a score beside it, and the
score is what the boards show: zero-padded, so that texts sort as numbers, in one partition for each month of
publication and in four for all time, which are read in parallel. Only published posts with likes are on a board.

A score is brought up to date in the transaction of a like: always while it is below `EXACT`, and above that with a
chance of `EXACT` in its own value. So a board is exact for small scores and right to about one part in `EXACT` for
large ones, and a post with n likes has cost about EXACT * (1 + ln(n / EXACT)) updates instead of n: 550 for a million.
Each reads the shards once and moves one entry in either index. The exact number is that of `post { likes }`.
"""

from gateway import (
    Attribute,
    Entity,
    Id,
    Integer,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Shards,
    Timestamp,
    Traffic,
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

ENTITIES = (SCORE,)

PATTERNS = (
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
