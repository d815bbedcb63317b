"""One read for all who ask the same at one time, and nobody is hurt by another who leaves."""

import asyncio

import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.errors import DeadlineExceeded, Throttled, Unavailable
from gateway.store.access import Access
from gateway.store.cache.keeper import CacheRules
from tests.store.cache.fixtures import World, policies, session, settle
from tests.store.fixtures import ACME, GLOBEX


async def test_many_requests_that_ask_the_same_read_once(world: World) -> None:
    world.put("t")
    accesses = [Access(session()) for _ in range(20)]
    assert await asyncio.gather(*(world.rank("t", access) for access in accesses)) == [1] * 20
    assert world.calls == ["GetItem"]
    assert sorted(call.source for access in accesses for call in access.calls) == ["cache"] * 19 + ["table"]
    assert sum(access.capacity for access in accesses) == 0.5
    counts = world.cache.stats().total
    assert (counts.misses, counts.shared, counts.hits) == (1, 19, 0)


async def test_batches_share_what_they_have_in_common(world: World) -> None:
    for name in ("a", "b", "c"):
        world.put(name)
    first, second = await asyncio.gather(world.things("a", "b"), world.things("b", "c"))
    assert [item and item.values["thingId"] for item in first + second] == ["a", "b", "b", "c"]
    assert world.calls == ["BatchGetItem", "GetItem"]


async def test_pages_are_shared_too(world: World) -> None:
    world.put("t")
    assert await asyncio.gather(*(world.ranked() for _ in range(5))) == [["t"]] * 5
    assert world.calls == ["Query"]


async def test_other_tenants_and_other_policies_read_for_themselves(world: World) -> None:
    for tenant in (ACME, GLOBEX):
        world.put("t", tenant)
    others = [session(), session(GLOBEX), session(role="viewer", policy=policies(sid="Viewer"))]
    await asyncio.gather(*(world.rank("t", Access(each)) for each in others))
    assert world.calls == ["GetItem"] * 3


@pytest.mark.parametrize("leaving", [0, 1, 4])
async def test_who_is_cancelled_leaves_the_read_to_the_others(world: World, leaving: int) -> None:
    world.put("t")
    held = world.memory.hold("GetItem")
    waiting = [asyncio.create_task(world.rank("t")) for _ in range(5)]
    await settle()
    waiting[leaving].cancel()
    await settle()
    held.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(answers.pop(leaving), asyncio.CancelledError)
    assert answers == [1] * 4
    assert world.calls == ["GetItem"]


async def test_what_all_have_left_is_still_kept(world: World) -> None:
    world.put("t")
    held = world.memory.hold("GetItem")
    waiting = asyncio.create_task(world.rank("t"))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    held.set()
    await settle()
    assert await world.rank("t") == 1
    assert world.calls == ["GetItem"]


async def test_a_failure_is_told_to_each_as_an_error_of_its_own_and_is_not_kept(world: World) -> None:
    world.put("t")
    world.memory.script["GetItem"].append(ThroughputExceeded("slow down"))
    failures = await asyncio.gather(*(world.rank("t") for _ in range(3)), return_exceptions=True)
    assert all(isinstance(each, Throttled) for each in failures)
    assert {str(each) for each in failures} == {"slow down"}
    assert len({id(each) for each in failures}) == 3
    assert await world.rank("t") == 1


async def test_what_is_no_error_of_ours_is_told_as_it_is(world: World) -> None:
    world.memory.script["GetItem"].append(LookupError("a fault of the program"))
    with pytest.raises(LookupError):
        await world.rank("t")


async def test_nobody_waits_beyond_the_deadline(world: World) -> None:
    world.put("t")
    held = world.memory.hold("GetItem")
    deadline = asyncio.get_running_loop().time() + 0.01
    with pytest.raises(DeadlineExceeded):
        await world.rank("t", Access(session(), deadline))
    patient = asyncio.create_task(world.rank("t"))
    await settle()
    held.set()
    assert await patient == 1
    assert world.calls == ["GetItem"]


async def test_a_cache_that_is_closed_ends_what_is_under_way_and_reads_no_more(world: World) -> None:
    world.put("t")
    world.memory.hold("GetItem")
    waiting = asyncio.create_task(world.rank("t"))
    await settle()
    await world.cache.close()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await world.rank("t")


async def test_renewals_behind_answers_are_bounded() -> None:
    world = World(CacheRules(renewals=1))
    world.put("a")
    world.put("b")
    await world.rank("a")
    await world.rank("b")
    world.clock.moment += 70
    held = world.memory.hold("GetItem")
    await world.rank("a")
    await settle()
    assert await world.rank("b") == 1
    assert world.calls == ["GetItem"] * 3
    held.set()
    await world.cache.close()


async def test_a_closed_cache_still_serves_what_is_stale_but_renews_nothing(world: World) -> None:
    world.put("t")
    await world.rank("t")
    world.clock.moment += 70
    await world.cache.close()
    assert await world.rank("t") == 1
    assert world.calls == ["GetItem"]
