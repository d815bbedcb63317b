"""Devices and posts on an engine: bulk writes, the latest reading, counters in shards, and conditions across types."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.demo.publishing.liking import shard_keys
from gateway.errors import GatewayError
from gateway.store.plan import Range, Window, plan_listing
from gateway.store.rows import Item
from gateway.store.write.faults import Rejected
from gateway.store.write.writer import MutationResult, Writer
from tests.engines.engine import Quirks
from tests.engines.shop import Shop
from tests.store.editing import editing
from tests.store.fixtures import tenancy

pytestmark = pytest.mark.slow

RUN = {mutation.name: mutation.run for mutation in MODEL.mutations}
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def writer(shop: Shop) -> Writer:
    return editing(shop.client, shop.tenant, place=tenancy(shop.url, shop.table))


async def run(writer: Writer, name: str, **values: Any) -> MutationResult:
    return await RUN[name](writer, values)


async def listed(writer: Writer, name: str, **arguments: Any) -> list[Item]:
    listing = MODEL.listing(name)
    names = frozenset(MODEL.entities[listing.entity].attribute)
    plan = plan_listing(MODEL, listing, writer.tenant, arguments, Window(100), names)
    return list((await writer.table.query(writer.access, plan)).items)


def reading(minutes: int) -> dict[str, Any]:
    return {"recordedAt": NOW - timedelta(minutes=minutes), "value": Decimal(minutes)}


async def latest(writer: Writer) -> Decimal | None:
    found = await writer.find("LatestReading", {"deviceId": "d"})
    return found.values["value"] if found is not None else None


async def test_readings_are_written_in_bulk_and_read_over_hours(writer: Writer) -> None:
    await run(writer, "registerDevice", deviceId="d", title="Thermometer")
    given = [reading(7 * number) for number in range(60)]
    done = await run(writer, "recordReadings", deviceId="d", readings=[*given, *given[:5]])
    assert done.extras == {"written": 60}
    span = Range(NOW - timedelta(hours=8), NOW)
    found = await listed(writer, "readings", deviceId="d", recordedAt=span)
    assert [item.values["value"] for item in found] == [Decimal(7 * number) for number in range(60)]


async def test_the_latest_reading_is_the_newest_in_whatever_order_they_come(writer: Writer) -> None:
    await run(writer, "registerDevice", deviceId="d", title="Thermometer")
    for minutes in (30, 10, 20):
        await run(writer, "recordReading", deviceId="d", **reading(minutes))
    assert await latest(writer) == 10
    await run(writer, "recordReadings", deviceId="d", readings=[reading(5), reading(40)])
    await run(writer, "recordReadings", deviceId="d", readings=[reading(6)])
    assert await latest(writer) == 5
    await run(writer, "removeDevice", deviceId="d")
    assert await latest(writer) is None


async def _published(writer: Writer) -> None:
    await run(writer, "createAuthor", authorId="a", penName="Ada")
    for user in ("u", *(f"u{number}" for number in range(12))):
        await run(writer, "createReader", userId=user, nickname=user)
    await run(writer, "createDraft", postId="p", authorId="a", title="T", content="text", category="news")
    await run(writer, "publishPost", postId="p")


async def _likes(writer: Writer) -> list[int]:
    shards = await writer.many("Counter", shard_keys("p"))
    return [shard.values["count"] for shard in shards if shard is not None]


async def test_likes_are_counted_in_shards_and_ranked(shop: Shop, writer: Writer) -> None:
    await _published(writer)
    place = tenancy(shop.url, shop.table)
    # several at once, each as a request of its own, so that transactions meet
    for start in range(0, 12, 3):
        writers = [editing(shop.client, shop.tenant, place=place) for _ in range(3)]
        jobs = (run(each, "likePost", postId="p", userId=f"u{start + n}") for n, each in enumerate(writers))
        await asyncio.gather(*jobs)
    assert sum(await _likes(writer)) == 12
    with pytest.raises(Rejected):
        await run(writer, "likePost", postId="p", userId="u3")
    await run(writer, "unlikePost", postId="p", userId="u3")
    assert sum(await _likes(writer)) == 11
    assert [item.values["score"] for item in await listed(writer, "topPosts")] == [11]
    [month] = await listed(writer, "topPostsOfMonth", month=f"{datetime.now(UTC):%Y-%m}")
    assert month.values["postId"] == "p"


async def test_a_post_leaves_every_list_with_its_publication(writer: Writer) -> None:
    await _published(writer)
    await run(writer, "likePost", postId="p", userId="u")
    await run(writer, "createComment", postId="p", userId="u", body="Well said.")
    assert len(await listed(writer, "postsByCategory", category="news")) == 1
    await run(writer, "unpublishPost", postId="p")
    assert await listed(writer, "postsByCategory", category="news") == []
    assert await listed(writer, "topPosts") == []
    with pytest.raises(Rejected, match="there is no Post"):
        await run(writer, "createComment", postId="p", userId="u", body="Too late.")
    assert await listed(writer, "postsByAuthor", authorId="a") == []
    [copy] = await listed(writer, "draftsByAuthor", authorId="a")
    assert "publishedAt" not in copy.values


async def test_a_draft_is_removed_with_everything_that_belongs_to_it(writer: Writer, quirks: Quirks) -> None:
    await _published(writer)
    await run(writer, "likePost", postId="p", userId="u")
    await run(writer, "createComment", postId="p", userId="u", body="Well said.")
    await run(writer, "unpublishPost", postId="p")
    if quirks.largest_transaction < 100:
        # an engine that takes no transaction of that size refuses it, and everything is still there
        with pytest.raises(GatewayError):
            await run(writer, "removeDraft", postId="p")
        assert len(await listed(writer, "commentsOfPost", postId="p")) == 1
        return
    await run(writer, "removeDraft", postId="p")
    assert await listed(writer, "commentsOfPost", postId="p") == []
    assert await _likes(writer) == []
