"""One read for all who ask the same at one time, and nobody is hurt by another who leaves."""

import asyncio

import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.errors import DeadlineExceeded, Throttled, Unavailable
from gateway.store.access import Access
from gateway.store.cache.keeper import CacheRules
from tests.store.cache.fixtures import CachedStore, policies, session, settle
from tests.store.fixtures import ACME, GLOBEX


async def test_many_requests_that_ask_the_same_read_once(store: CachedStore) -> None:
    store.put("t")
    accesses = [Access(session()) for _ in range(20)]
    assert await asyncio.gather(*(store.rank("t", access) for access in accesses)) == [1] * 20
    assert store.calls == ["GetItem"]
    assert sorted(call.source for access in accesses for call in access.calls) == ["cache"] * 19 + ["table"]
    assert sum(access.capacity for access in accesses) == 0.5
    counts = store.cache.stats().total
    assert (counts.misses, counts.shared, counts.hits) == (1, 19, 0)


async def test_batches_share_what_they_have_in_common(store: CachedStore) -> None:
    for name in ("a", "b", "c"):
        store.put(name)
    first, second = await asyncio.gather(store.things("a", "b"), store.things("b", "c"))
    assert [item and item.values["thingId"] for item in first + second] == ["a", "b", "b", "c"]
    assert store.calls == ["BatchGetItem", "GetItem"]


async def test_pages_are_shared_too(store: CachedStore) -> None:
    store.put("t")
    assert await asyncio.gather(*(store.ranked() for _ in range(5))) == [["t"]] * 5
    assert store.calls == ["Query"]


async def test_other_tenants_and_other_policies_read_for_themselves(store: CachedStore) -> None:
    for tenant in (ACME, GLOBEX):
        store.put("t", tenant)
    others = [session(), session(GLOBEX), session(role="viewer", policy=policies(sid="Viewer"))]
    await asyncio.gather(*(store.rank("t", Access(each)) for each in others))
    assert store.calls == ["GetItem"] * 3


@pytest.mark.parametrize("leaving", [0, 1, 4])
async def test_a_caller_that_is_cancelled_leaves_the_read_to_the_others(store: CachedStore, leaving: int) -> None:
    store.put("t")
    held = store.memory.hold("GetItem")
    waiting = [asyncio.create_task(store.rank("t")) for _ in range(5)]
    await settle()
    waiting[leaving].cancel()
    await settle()
    held.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(answers.pop(leaving), asyncio.CancelledError)
    assert answers == [1] * 4
    assert store.calls == ["GetItem"]


async def test_what_all_have_left_is_still_kept(store: CachedStore) -> None:
    store.put("t")
    held = store.memory.hold("GetItem")
    waiting = asyncio.create_task(store.rank("t"))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    held.set()
    await settle()
    assert await store.rank("t") == 1
    assert store.calls == ["GetItem"]


async def test_a_failure_is_reported_to_each_as_an_error_of_its_own_and_is_not_kept(store: CachedStore) -> None:
    store.put("t")
    store.memory.script["GetItem"].append(ThroughputExceeded("slow down"))
    failures = await asyncio.gather(*(store.rank("t") for _ in range(3)), return_exceptions=True)
    assert all(isinstance(each, Throttled) for each in failures)
    assert {str(each) for each in failures} == {"slow down"}
    assert len({id(each) for each in failures}) == 3
    assert await store.rank("t") == 1


async def test_an_error_of_another_library_is_raised_as_it_is(store: CachedStore) -> None:
    store.memory.script["GetItem"].append(LookupError("a fault of the program"))
    with pytest.raises(LookupError):
        await store.rank("t")


async def test_nobody_waits_beyond_the_deadline(store: CachedStore) -> None:
    store.put("t")
    held = store.memory.hold("GetItem")
    deadline = asyncio.get_running_loop().time() + 0.01
    with pytest.raises(DeadlineExceeded):
        await store.rank("t", Access(session(), deadline))
    patient = asyncio.create_task(store.rank("t"))
    await settle()
    held.set()
    assert await patient == 1
    assert store.calls == ["GetItem"]


async def test_a_cache_that_is_closed_ends_what_is_under_way_and_reads_no_more(store: CachedStore) -> None:
    store.put("t")
    store.memory.hold("GetItem")
    waiting = asyncio.create_task(store.rank("t"))
    await settle()
    await store.cache.close()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await store.rank("t")


async def test_renewals_behind_answers_are_bounded() -> None:
    store = CachedStore(CacheRules(renewals=1))
    store.put("a")
    store.put("b")
    await store.rank("a")
    await store.rank("b")
    store.clock.now += 70
    held = store.memory.hold("GetItem")
    await store.rank("a")
    await settle()
    assert await store.rank("b") == 1
    assert store.calls == ["GetItem"] * 3
    held.set()
    await store.cache.close()


async def test_a_closed_cache_still_serves_what_is_stale_but_renews_nothing(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    store.clock.now += 70
    await store.cache.close()
    assert await store.rank("t") == 1
    assert store.calls == ["GetItem"]
