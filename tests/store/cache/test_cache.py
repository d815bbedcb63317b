"""What is answered without a call, and what never is."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.errors import Forbidden, IsolationBreach
from gateway.store.access import Access
from tests.store.cache.fixtures import PAGES, SUPPORT, THINGS, CachedStore, listed, policies, session, settle, things
from tests.store.fixtures import ACME, GLOBEX, NOW


async def test_an_item_is_read_once(store: CachedStore) -> None:
    store.put("t")
    access = Access(session())
    assert [await store.rank("t", access) for _ in range(3)] == [1, 1, 1]
    assert store.calls == ["GetItem"]
    assert [(call.source, call.operation, call.items) for call in access.calls] == [
        ("table", "GetItem", 1),
        *[("cache", "GetItem", 1)] * 2,
    ]
    assert access.capacity == 0.5
    assert access.calls[1].statements == access.calls[0].statements != ()


async def test_of_many_items_only_those_that_are_not_known_are_read(store: CachedStore) -> None:
    for name in ("a", "b", "c"):
        store.put(name)
    await store.things("a", "c")
    found = await store.things("a", "b", "c", "a")
    assert [item and item.values["thingId"] for item in found] == ["a", "b", "c", "a"]
    assert store.calls == ["BatchGetItem", "GetItem"]
    assert store.memory.sent[1][1]["Key"]["PK"]["S"].endswith("THING#b")


async def test_a_page_is_read_once(store: CachedStore) -> None:
    store.put("a", rank=1)
    store.put("b", rank=2)
    assert [await store.ranked() for _ in range(3)] == [["a", "b"]] * 3
    assert store.calls == ["Query"]


async def test_each_shard_is_kept_by_itself_and_merged_again(store: CachedStore) -> None:
    for number in range(9):
        store.put(f"t{number}", at=NOW - timedelta(minutes=number))
    first = await store.page("thingsOfKind", kind="k")
    assert store.calls == ["Query"] * 3
    assert await store.page("thingsOfKind", kind="k") == first
    assert [item.values["thingId"] for item in first] == [f"t{number}" for number in range(9)]
    assert len(store.calls) == 3


async def test_what_declares_no_staleness_is_read_each_time(store: CachedStore) -> None:
    store.tag("x")
    for _ in range(2):
        await store.page("tagsOfThing", thingId="t")
    assert store.calls == ["Query"] * 2
    assert store.cache.stats().entries == 0


async def test_strong_reads_pass_the_cache(store: CachedStore) -> None:
    store.put("t", rank=1)
    assert await store.rank("t") == 1
    store.put("t", rank=2)
    [item] = await store.things("t", pattern="freshThing")
    assert item is not None
    assert item.values["rank"] == 2
    assert await store.rank("t") == 1, "what a strong read found is no answer to an eventual one"


async def test_a_strong_page_passes_the_cache(store: CachedStore) -> None:
    store.tag("x")
    plan = listed("looseTags", thingId="t")
    strong = replace(plan, groups=tuple(tuple(replace(each, strong=True) for each in group) for group in plan.groups))
    access = Access(session())
    await store.table.query(access, plan)
    store.tag("y")
    assert len((await store.table.query(access, strong)).items) == 2
    assert len((await store.table.query(access, plan)).items) == 1


async def test_what_is_asked_for_fresh_passes_the_cache(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    store.put("t", rank=2)
    [item] = await store.table.get(Access(session()), replace(things("t"), fresh=True))
    assert item is not None
    assert item.values["rank"] == 2


async def test_a_mutation_reads_past_the_cache(store: CachedStore) -> None:
    writer = store.writer()
    for rank in (1, 2):
        store.put("t", rank=rank)
        peeked = await writer.peek("Thing", {"thingId": "t"}, "rank")
        [listed_now] = await writer.listed("thingsByRank", {"kind": "k"})
        assert peeked is not None
        assert (peeked.values["rank"], listed_now.values["rank"]) == (rank, rank)


async def test_no_keys_ask_nothing(store: CachedStore) -> None:
    assert await store.things() == []
    assert store.calls == []


async def test_absence_is_remembered_for_a_shorter_time(store: CachedStore) -> None:
    assert await store.rank("t") is None
    store.put("t")
    assert await store.rank("t") is None
    store.clock.now += THINGS.absence_seconds
    assert await store.rank("t") == 1
    assert store.calls == ["GetItem"] * 2


async def test_an_empty_page_is_remembered_for_a_shorter_time(store: CachedStore) -> None:
    assert await store.ranked() == []
    store.put("t")
    assert await store.ranked() == []
    store.clock.now += PAGES.absence_seconds
    assert await store.ranked() == ["t"]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
async def test_no_answer_is_older_than_its_declaration_allows(share: float) -> None:
    store = CachedStore(jitter=lambda: share)
    store.put("t", rank=1)
    await store.rank("t")
    store.put("t", rank=2)
    store.memory.script["GetItem"].extend([ConnectionError()] * 50)  # while it cannot be renewed, the old one serves
    for _ in range(8):
        store.clock.now += THINGS.seconds / 10
        assert await store.rank("t") == 1
        await settle()
    store.memory.script.clear()
    store.clock.now = 1_000 + THINGS.seconds
    assert await store.rank("t") == 2
    await store.cache.close()


async def test_what_was_read_at_the_same_time_is_not_renewed_at_the_same_time() -> None:
    shares = iter([0.0, 1.0])
    store = CachedStore(jitter=lambda: next(shares))
    store.put("a")
    store.put("b")
    await store.things("a", "b")
    store.clock.now += 0.7 * THINGS.seconds
    await store.things("a", "b")
    counts = store.cache.stats().total
    assert (counts.hits, counts.stale, counts.renewals) == (1, 1, 1)
    await store.cache.close()


async def test_a_stale_answer_is_given_at_once_and_renewed_behind_it(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    store.put("t", rank=2)
    store.clock.now += 0.7 * THINGS.seconds
    held = store.memory.hold("GetItem")
    # renewed once, however many ask meanwhile
    access = Access(session())
    assert [await store.rank("t", access) for _ in range(5)] == [1] * 5
    await settle()
    assert store.calls == ["GetItem"] * 2
    held.set()
    await settle()
    assert await store.rank("t", access) == 2
    assert [call.stale for call in access.calls] == [True] * 5 + [False]
    counts = store.cache.stats().total
    assert (counts.misses, counts.stale, counts.renewals, counts.hits, counts.renewal_units) == (1, 5, 1, 1, 0.5)


async def test_an_item_that_expires_is_not_shown_from_the_cache(store: CachedStore) -> None:
    for word, seconds in (("a", 5), ("b", None)):
        until = None if seconds is None else NOW + timedelta(seconds=seconds)
        store.tag(word, until=until)
    assert len(await store.page("looseTags", thingId="t")) == 2
    store.clock.now += 6
    # read again: a page that lost a row could not tell whether there are more
    assert [item.values["word"] for item in await store.page("looseTags", thingId="t")] == ["b"]
    assert store.calls == ["Query"] * 2


async def test_what_the_caller_does_to_an_item_does_not_reach_the_cache(store: CachedStore) -> None:
    store.put("t", rank=1)
    for _ in range(3):
        [item] = await store.things("t")
        assert item is not None
        assert item.values["rank"] == 1
        item.values["rank"] = Forbidden("changed by the reader")


async def test_the_policies_are_evaluated_before_every_hit(store: CachedStore) -> None:
    """The same tenant and the same policies, but a session that they do not let in."""
    store.put("t")
    await store.rank("t")
    await store.ranked()
    locked_out = Access(session(of=GLOBEX))
    with pytest.raises(Forbidden):
        await store.rank("t", locked_out)
    with pytest.raises(Forbidden):
        await store.things("t", "u", access=locked_out)
    with pytest.raises(Forbidden):
        await store.ranked(locked_out)
    assert [refusal.what for refusal in locked_out.refusals] == ["GetItem", "BatchGetItem", "Query"]
    assert locked_out.calls == []


async def test_what_one_role_has_read_is_not_served_to_another(store: CachedStore) -> None:
    """Even where our own evaluation would let it pass: AWS is asked with the other role's credentials."""
    store.put("t")
    await store.rank("t")
    other = Access(session(role="viewer", policy=policies(sid="Other")))
    assert await store.rank("t", other) == 1
    assert [call.source for call in other.calls] == ["table"]


async def test_a_role_that_may_see_less_is_refused_what_is_kept_for_another(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    with pytest.raises(Forbidden):
        await store.rank("t", Access(session(role="support", policy=SUPPORT)))


async def test_other_policies_of_a_role_drop_what_was_kept_under_the_old_ones(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    await store.rank("t", Access(session(role="viewer", policy=policies(sid="Viewer"))))
    assert store.cache.stats().entries == 2
    await store.rank("t", Access(session(policy=policies(sid="New"))))
    assert store.cache.stats().entries == 2, "the editor's old entry is gone, the viewer's has stayed"
    assert store.cache.stats().total.dropped == 1
    await store.rank("t")
    assert store.cache.stats().entries == 2


async def test_two_roles_with_the_same_policies_do_not_drop_each_others_entries(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    await store.rank("t", Access(session(role="viewer")))
    await store.rank("t", Access(session(role="viewer", policy=policies(sid="New"))))
    assert await store.rank("t") == 1
    assert store.cache.stats().total.dropped == 0


async def test_a_suspended_tenant_leaves_nothing_behind(store: CachedStore) -> None:
    for tenant in (ACME, GLOBEX):
        store.put("t", tenant)
        await store.rank("t", Access(session(tenant)))
    store.cache.forget(ACME)
    assert (store.cache.stats().entries, store.cache.stats().tenants) == (1, 1)
    assert await store.rank("t", Access(session(GLOBEX))) == 1
    assert store.calls == ["GetItem"] * 2
    store.cache.forget(ACME)


async def test_what_was_under_way_when_a_tenant_was_suspended_is_not_kept(store: CachedStore) -> None:
    store.put("t")
    held = store.memory.hold("GetItem")
    reading = asyncio.create_task(store.rank("t"))
    await settle()
    store.cache.forget(ACME)
    held.set()
    assert await reading == 1
    assert (store.cache.stats().entries, store.cache.stats().bytes, store.cache.stats().tenants) == (0, 0, 0)


async def test_a_row_of_another_tenant_is_neither_answered_nor_kept(store: CachedStore) -> None:
    store.put("t", GLOBEX)
    foreign = next(iter(store.memory.rows.values()))

    def poisoned(answer: dict[str, object]) -> dict[str, object]:
        return {**answer, "Items": [foreign]}

    for _ in range(2):
        store.memory.script["Query"].append(poisoned)
        with pytest.raises(IsolationBreach):
            await store.page("looseTags", thingId="t")
    assert store.cache.stats().entries == 0
    assert store.calls == ["Query"] * 2


async def test_a_row_of_another_tenant_in_an_index_is_left_out_of_what_is_kept(store: CachedStore) -> None:
    store.put("t")
    store.put("secret", GLOBEX)
    own, foreign = store.memory.rows.values()
    foreign["GSI2PK"] = own["GSI2PK"]
    for _ in range(2):
        assert await store.ranked() == ["t"]
    assert store.calls == ["Query"]
    assert store.table.foreign_rows == 1


async def test_what_is_explained_shows_the_form_of_what_was_answered(store: CachedStore) -> None:
    store.put("a")
    store.put("b")
    await store.things("a", "b")
    access = Access(session(), explained=True)
    await store.things("a", "b", "c", access=access)
    cached, read = access.calls
    assert [(each.partition, each.sort, each.keys) for each in cached.key_shapes] == [("THING#<thingId>", "DETAILS", 2)]
    assert [(each.partition, each.sort, each.keys) for each in read.key_shapes] == [("THING#<thingId>", "DETAILS", 1)]
    assert (cached.source, cached.operation, cached.items, cached.capacity) == ("cache", "BatchGetItem", 2, 0.0)
    assert (read.source, read.operation) == ("table", "GetItem")


async def test_figures_show_what_was_saved_by_group_of_tenants(store: CachedStore) -> None:
    store.put("t")
    for _ in range(4):
        await store.rank("t")
    stats = store.cache.stats()
    assert set(stats.groups) == {"all"}
    assert (stats.total.hits, stats.total.misses, stats.total.units) == (3, 1, 1.5)
    assert stats.groups["all"].hits == 3
    assert stats.bytes > 0
