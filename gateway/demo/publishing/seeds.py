"""Demo rows of publishing: posts with their authors, comments and likes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from gateway import SeedRow
from gateway.demo.publishing.like import SHARDS, CounterName
from gateway.demo.shops import BY_TENANT, FAMILY_NAMES, GIVEN_NAMES, USERS

Values = dict[str, Any]

_TITLES = ("Meet the makers", "What is new", "Five questions", "Behind the counter", "A season in numbers", "Open day")
_REMARKS = ("Well said.", "More of this, please.", "I saw it at the counter!", "Is there a second part?")
_DRAFTS = 1


def rows(tenant: str, now: datetime) -> Iterator[SeedRow]:
    shop, now = BY_TENANT[tenant], now.replace(microsecond=0)
    users = [f"u-{shop.first + number}" for number in range(USERS)]
    random = Random(f"{shop.tenant} posts")  # noqa: S311
    for number, user in enumerate(users):
        nickname = f"{GIVEN_NAMES[number % len(GIVEN_NAMES)]}{number}"
        yield "Reader", {"userId": user, "nickname": nickname, "joinedAt": now - timedelta(days=100 + number)}
    authors = [f"a-{shop.first + number}" for number in range(2)]
    for number, author in enumerate(authors):
        given_name, family = GIVEN_NAMES[-number - 1], FAMILY_NAMES[-number - 1]
        yield "Author", {"authorId": author, "penName": f"{given_name} {family}", "bio": f"Writes for {shop.title}."}
    for number, title in enumerate(_TITLES):
        created = now - timedelta(days=9 * (len(_TITLES) - number), hours=random.randint(0, 9))
        post = {
            "postId": f"post-{shop.first + number}",
            "authorId": authors[number % len(authors)],
            "title": title,
            "content": f"{title}, from the pages of the {shop.catalogue}.",
            "category": ("news", "stories")[number % 2],
            "createdAt": created,
        }
        if number < len(_TITLES) - _DRAFTS:
            yield from _read(post, users, random)
        else:
            yield "Draft", post


def _read(post: Values, users: list[str], random: Random) -> Iterator[SeedRow]:
    """A published post with its comments and likes."""
    appeared = post["createdAt"] + timedelta(hours=20)
    yield from ((entity, {**post, "publishedAt": appeared}) for entity in ("Draft", "Post"))
    for number in range(random.randint(2, 5)):
        said = {"userId": random.choice(users), "body": random.choice(_REMARKS)}
        at = {"createdAt": appeared + timedelta(hours=3 * number + 1), "commentId": f"c-{number}"}
        yield "Comment", {"postId": post["postId"], **at, **said}
    likers = random.sample(users, random.randint(1, 12))
    slots = [random.randrange(SHARDS) for _ in likers]
    for user, slot in zip(likers, slots, strict=True):
        liked = appeared + timedelta(hours=random.randint(1, 100))
        yield "Like", {"userId": user, "postId": post["postId"], "likedAt": liked, "slot": slot}
    for slot in sorted(set(slots)):
        shard = {"counter": CounterName.LIKES, "subjectId": post["postId"], "slot": slot}
        yield "Counter", {**shard, "count": slots.count(slot)}
    counted = appeared + timedelta(hours=100)
    standing = {"score": len(likers), "month": f"{appeared:%Y-%m}", "countedAt": counted}
    yield "PostScore", {"postId": post["postId"], **standing}
