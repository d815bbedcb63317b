"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations

from typing import TYPE_CHECKING

from gateway import Record

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.demo.publishing.like import CounterName


class Author(Record):
    """A person who writes posts."""

    authorId: str
    penName: str
    bio: str | None


class Reader(Record):
    """A person who likes posts and comments on them."""

    userId: str
    nickname: str
    joinedAt: datetime


class Draft(Record):
    """A post as its author writes it, published or not."""

    postId: str
    authorId: str
    title: str
    content: str
    category: str
    createdAt: datetime
    publishedAt: datetime | None


class Post(Record):
    """A post that an author has published."""

    postId: str
    authorId: str
    title: str
    content: str
    category: str
    createdAt: datetime
    publishedAt: datetime


class Comment(Record):
    """A reader's comment on a post."""

    postId: str
    createdAt: datetime
    commentId: str
    userId: str
    body: str


class Like(Record):
    """A reader's like of a post; liking again changes nothing."""

    userId: str
    postId: str
    likedAt: datetime
    slot: int


class Counter(Record):
    """One shard of a counter; the sum of all shards is the count."""

    counter: CounterName
    subjectId: str
    slot: int
    count: int


class PostScore(Record):
    """A post's score on the leaderboard: exact up to 50 likes, then within about 2 %."""

    postId: str
    score: int
    month: str
    countedAt: datetime
