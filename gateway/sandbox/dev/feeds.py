"""Demo data of a shop: devices with a day of readings, and posts with comments and likes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from gateway.demo.publishing.like import SHARDS, CounterName
from gateway.sandbox.dev.shops import FAMILY_NAMES, GIVEN_NAMES, Shop

Values = dict[str, Any]
Record = tuple[str, Values]

_DEVICES = (("Cold room", "°C", 4), ("Shop floor", "°C", 21), ("Front door", "visitors", 30))
_READINGS = 12
_RETENTION = (30, 30, 90)
_TITLES = ("Meet the makers", "What is new", "Five questions", "Behind the counter", "A season in numbers", "Open day")
_REMARKS = ("Well said.", "More of this, please.", "I saw it at the counter!", "Is there a second part?")
_DRAFTS = 1


def measured(shop: Shop, now: datetime) -> Iterator[Record]:
    random = Random(f"{shop.tenant} devices")  # noqa: S311  every start must produce the same rows
    for number, (title, unit, usual) in enumerate(_DEVICES):
        device_id, days = f"d-{shop.first + number}", _RETENTION[number]
        registered = now - timedelta(days=100 + number)
        device = {"deviceId": device_id, "title": f"{title} of {shop.title}", "location": shop.cities[number]}
        yield "Device", {**device, "retentionDays": days, "registeredAt": registered}
        for step in reversed(range(_READINGS)):
            recorded = now - timedelta(hours=2 * step, minutes=random.randint(1, 50))
            value = Decimal(usual * 10 + random.randint(-15, 15)) / 10
            expires = recorded + timedelta(days=days)
            reading = {
                "deviceId": device_id,
                "recordedAt": recorded,
                "value": value,
                "unit": unit,
                "expiresAt": expires,
            }
            yield "Reading", reading
        yield "LatestReading", reading


def published(shop: Shop, users: list[Values], now: datetime) -> Iterator[Record]:
    random = Random(f"{shop.tenant} posts")  # noqa: S311
    authors = [f"a-{shop.first + number}" for number in range(2)]
    for number, author in enumerate(authors):
        given, family = GIVEN_NAMES[-number - 1], FAMILY_NAMES[-number - 1]
        yield "Author", {"authorId": author, "penName": f"{given} {family}", "bio": f"Writes for {shop.title}."}
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
            yield "Post", {**post, "status": "DRAFT"}


def _read(post: Values, users: list[Values], random: Random) -> Iterator[Record]:
    """A published post with its comments and likes."""
    appeared = post["createdAt"] + timedelta(hours=20)
    yield "Post", {**post, "status": "PUBLISHED", "publishedAt": appeared}
    for number in range(random.randint(2, 5)):
        said = {"userId": random.choice(users)["userId"], "body": random.choice(_REMARKS)}
        at = {"createdAt": appeared + timedelta(hours=3 * number + 1), "commentId": f"c-{number}"}
        yield "Comment", {"postId": post["postId"], **at, **said}
    likers = random.sample(users, random.randint(1, 12))
    slots = [random.randrange(SHARDS) for _ in likers]
    for user, slot in zip(likers, slots, strict=True):
        liked = appeared + timedelta(hours=random.randint(1, 100))
        yield "Like", {"userId": user["userId"], "postId": post["postId"], "likedAt": liked, "slot": slot}
    for slot in sorted(set(slots)):
        shard = {"counter": CounterName.LIKES, "subjectId": post["postId"], "slot": slot}
        yield "Counter", {**shard, "count": slots.count(slot)}
    counted = appeared + timedelta(hours=100)
    standing = {"score": len(likers), "month": f"{appeared:%Y-%m}", "countedAt": counted}
    yield "PostScore", {"postId": post["postId"], **standing}
