"""What is answered without a call, and what never is."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.errors import Forbidden, IsolationBreach
from gateway.store.access import Access
from tests.store.cache.fixtures import PAGES, SUPPORT, THINGS, World, listed, policies, session, settle, things
from tests.store.fixtures import ACME, GLOBEX, NOW


async def test_an_item_is_read_once(world: World) -> None:
    world.put("t")
    access = Access(session())
    assert [await world.rank("t", access) for _ in range(3)] == [1, 1, 1]
    assert world.calls == ["GetItem"]
    assert [(call.source, call.operation, call.items) for call in access.calls] == [
        ("table", "GetItem", 1),
        *[("cache", "GetItem", 1)] * 2,
    ]
    assert access.capacity == 0.5
    assert access.calls[1].statements == access.calls[0].statements != ()


async def test_of_many_items_only_those_that_are_not_known_are_read(world: World) -> None:
    for name in ("a", "b", "c"):
        world.put(name)
    await world.things("a", "c")
    found = await world.things("a", "b", "c", "a")
    assert [item and item.values["thingId"] for item in found] == ["a", "b", "c", "a"]
    assert world.calls == ["BatchGetItem", "GetItem"]
    assert world.memory.sent[1][1]["Key"]["PK"]["S"].endswith("THING#b")


async def test_a_page_is_read_once(world: World) -> None:
    world.put("a", rank=1)
    world.put("b", rank=2)
    assert [await world.ranked() for _ in range(3)] == [["a", "b"]] * 3
    assert world.calls == ["Query"]


async def test_each_shard_is_kept_by_itself_and_merged_anew(world: World) -> None:
    for number in range(9):
        world.put(f"t{number}", at=NOW - timedelta(minutes=number))
    first = await world.page("thingsOfKind", kind="k")
    assert world.calls == ["Query"] * 3
    assert await world.page("thingsOfKind", kind="k") == first
    assert [item.values["thingId"] for item in first] == [f"t{number}" for number in range(9)]
    assert len(world.calls) == 3


async def test_what_declares_no_staleness_is_read_each_time(world: World) -> None:
    world.tag("x")
    for _ in range(2):
        await world.page("tagsOfThing", thingId="t")
    assert world.calls == ["Query"] * 2
    assert world.cache.stats().entries == 0


async def test_strong_reads_pass_the_cache(world: World) -> None:
    world.put("t", rank=1)
    assert await world.rank("t") == 1
    world.put("t", rank=2)
    [item] = await world.things("t", pattern="freshThing")
    assert item is not None
    assert item.values["rank"] == 2
    assert await world.rank("t") == 1, "what a strong read found is no answer to an eventual one"


async def test_a_strong_page_passes_the_cache(world: World) -> None:
    world.tag("x")
    plan = listed("looseTags", thingId="t")
    strong = replace(plan, groups=tuple(tuple(replace(each, strong=True) for each in group) for group in plan.groups))
    access = Access(session())
    await world.table.query(access, plan)
    world.tag("y")
    assert len((await world.table.query(access, strong)).items) == 2
    assert len((await world.table.query(access, plan)).items) == 1


async def test_what_is_asked_for_fresh_passes_the_cache(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    world.put("t", rank=2)
    [item] = await world.table.get(Access(session()), replace(things("t"), fresh=True))
    assert item is not None
    assert item.values["rank"] == 2


async def test_a_mutation_reads_past_the_cache(world: World) -> None:
    writer = world.writer()
    for rank in (1, 2):
        world.put("t", rank=rank)
        peeked = await writer.peek("Thing", {"thingId": "t"}, "rank")
        [listed_now] = await writer.listed("thingsByRank", {"kind": "k"})
        assert peeked is not None
        assert (peeked.values["rank"], listed_now.values["rank"]) == (rank, rank)


async def test_no_keys_ask_nothing(world: World) -> None:
    assert await world.things() == []
    assert world.calls == []


async def test_absence_is_remembered_for_a_shorter_time(world: World) -> None:
    assert await world.rank("t") is None
    world.put("t")
    assert await world.rank("t") is None
    world.clock.moment += THINGS.absence_seconds
    assert await world.rank("t") == 1
    assert world.calls == ["GetItem"] * 2


async def test_an_empty_page_is_remembered_for_a_shorter_time(world: World) -> None:
    assert await world.ranked() == []
    world.put("t")
    assert await world.ranked() == []
    world.clock.moment += PAGES.absence_seconds
    assert await world.ranked() == ["t"]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
async def test_no_answer_is_older_than_its_declaration_allows(share: float) -> None:
    world = World(jitter=lambda: share)
    world.put("t", rank=1)
    await world.rank("t")
    world.put("t", rank=2)
    world.memory.script["GetItem"].extend([ConnectionError()] * 50)  # while it cannot be renewed, the old one serves
    for _ in range(8):
        world.clock.moment += THINGS.seconds / 10
        assert await world.rank("t") == 1
        await settle()
    world.memory.script.clear()
    world.clock.moment = 1_000 + THINGS.seconds
    assert await world.rank("t") == 2
    await world.cache.close()


async def test_what_was_read_at_one_moment_is_not_renewed_at_one_moment() -> None:
    shares = iter([0.0, 1.0])
    world = World(jitter=lambda: next(shares))
    world.put("a")
    world.put("b")
    await world.things("a", "b")
    world.clock.moment += 0.7 * THINGS.seconds
    await world.things("a", "b")
    counts = world.cache.stats().total
    assert (counts.hits, counts.stale, counts.renewals) == (1, 1, 1)
    await world.cache.close()


async def test_a_stale_answer_is_given_at_once_and_renewed_behind_it(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    world.put("t", rank=2)
    world.clock.moment += 0.7 * THINGS.seconds
    held = world.memory.hold("GetItem")
    # renewed once, however many ask meanwhile
    told = Access(session())
    assert [await world.rank("t", told) for _ in range(5)] == [1] * 5
    await settle()
    assert world.calls == ["GetItem"] * 2
    held.set()
    await settle()
    assert await world.rank("t", told) == 2
    assert [call.stale for call in told.calls] == [True] * 5 + [False]
    counts = world.cache.stats().total
    assert (counts.misses, counts.stale, counts.renewals, counts.hits, counts.renewal_units) == (1, 5, 1, 1, 0.5)


async def test_an_item_that_expires_is_not_shown_from_the_cache(world: World) -> None:
    for word, seconds in (("a", 5), ("b", None)):
        until = None if seconds is None else NOW + timedelta(seconds=seconds)
        world.tag(word, until=until)
    assert len(await world.page("looseTags", thingId="t")) == 2
    world.clock.moment += 6
    # read again: a page that lost a row could not tell whether there are more
    assert [item.values["word"] for item in await world.page("looseTags", thingId="t")] == ["b"]
    assert world.calls == ["Query"] * 2


async def test_what_the_caller_does_to_an_item_does_not_reach_the_cache(world: World) -> None:
    world.put("t", rank=1)
    for _ in range(3):
        [item] = await world.things("t")
        assert item is not None
        assert item.values["rank"] == 1
        item.values["rank"] = Forbidden("changed by the reader")


async def test_the_policies_judge_before_every_hit(world: World) -> None:
    """The same tenant and the same policies, but a session that they do not let in."""
    world.put("t")
    await world.rank("t")
    await world.ranked()
    locked_out = Access(session(of=GLOBEX))
    with pytest.raises(Forbidden):
        await world.rank("t", locked_out)
    with pytest.raises(Forbidden):
        await world.things("t", "u", access=locked_out)
    with pytest.raises(Forbidden):
        await world.ranked(locked_out)
    assert [refusal.what for refusal in locked_out.refusals] == ["GetItem", "BatchGetItem", "Query"]
    assert locked_out.calls == []


async def test_what_one_role_has_read_is_not_served_to_another(world: World) -> None:
    """Even where our own judgement would let it pass: AWS is asked with the other role's credentials."""
    world.put("t")
    await world.rank("t")
    other = Access(session(role="viewer", policy=policies(sid="Other")))
    assert await world.rank("t", other) == 1
    assert [call.source for call in other.calls] == ["table"]


async def test_a_role_that_may_see_less_is_refused_what_is_kept_for_another(world: World) -> None:
    world.put("t")
    await world.rank("t")
    with pytest.raises(Forbidden):
        await world.rank("t", Access(session(role="support", policy=SUPPORT)))


async def test_other_policies_of_a_role_drop_what_was_kept_under_the_old_ones(world: World) -> None:
    world.put("t")
    await world.rank("t")
    await world.rank("t", Access(session(role="viewer", policy=policies(sid="Viewer"))))
    assert world.cache.stats().entries == 2
    await world.rank("t", Access(session(policy=policies(sid="New"))))
    assert world.cache.stats().entries == 2, "the editor's old entry is gone, the viewer's has stayed"
    assert world.cache.stats().total.dropped == 1
    await world.rank("t")
    assert world.cache.stats().entries == 2


async def test_two_roles_with_the_same_policies_do_not_drop_each_others_entries(world: World) -> None:
    world.put("t")
    await world.rank("t")
    await world.rank("t", Access(session(role="viewer")))
    await world.rank("t", Access(session(role="viewer", policy=policies(sid="New"))))
    assert await world.rank("t") == 1
    assert world.cache.stats().total.dropped == 0


async def test_a_suspended_tenant_leaves_nothing_behind(world: World) -> None:
    for tenant in (ACME, GLOBEX):
        world.put("t", tenant)
        await world.rank("t", Access(session(tenant)))
    world.cache.forget(ACME)
    assert (world.cache.stats().entries, world.cache.stats().tenants) == (1, 1)
    assert await world.rank("t", Access(session(GLOBEX))) == 1
    assert world.calls == ["GetItem"] * 2
    world.cache.forget(ACME)


async def test_what_was_under_way_when_a_tenant_was_suspended_is_not_kept(world: World) -> None:
    world.put("t")
    held = world.memory.hold("GetItem")
    reading = asyncio.create_task(world.rank("t"))
    await settle()
    world.cache.forget(ACME)
    held.set()
    assert await reading == 1
    assert (world.cache.stats().entries, world.cache.stats().bytes, world.cache.stats().tenants) == (0, 0, 0)


async def test_a_row_of_another_tenant_is_neither_answered_nor_kept(world: World) -> None:
    world.put("t", GLOBEX)
    foreign = next(iter(world.memory.rows.values()))

    def poisoned(answer: dict[str, object]) -> dict[str, object]:
        return {**answer, "Items": [foreign]}

    for _ in range(2):
        world.memory.script["Query"].append(poisoned)
        with pytest.raises(IsolationBreach):
            await world.page("looseTags", thingId="t")
    assert world.cache.stats().entries == 0
    assert world.calls == ["Query"] * 2


async def test_a_row_of_another_tenant_in_an_index_is_left_out_of_what_is_kept(world: World) -> None:
    world.put("t")
    world.put("secret", GLOBEX)
    own, foreign = world.memory.rows.values()
    foreign["GSI2PK"] = own["GSI2PK"]
    for _ in range(2):
        assert await world.ranked() == ["t"]
    assert world.calls == ["Query"]
    assert world.table.foreign_rows == 1


async def test_what_is_explained_shows_the_form_of_what_was_answered(world: World) -> None:
    world.put("a")
    world.put("b")
    await world.things("a", "b")
    access = Access(session(), explained=True)
    await world.things("a", "b", "c", access=access)
    cached, read = access.calls
    assert [(each.partition, each.sort, each.keys) for each in cached.key_shapes] == [("THING#<thingId>", "DETAILS", 2)]
    assert [(each.partition, each.sort, each.keys) for each in read.key_shapes] == [("THING#<thingId>", "DETAILS", 1)]
    assert (cached.source, cached.operation, cached.items, cached.capacity) == ("cache", "BatchGetItem", 2, 0.0)
    assert (read.source, read.operation) == ("table", "GetItem")


async def test_figures_tell_what_was_saved_by_group_of_tenants(world: World) -> None:
    world.put("t")
    for _ in range(4):
        await world.rank("t")
    stats = world.cache.stats()
    assert set(stats.groups) == {"all"}
    assert (stats.total.hits, stats.total.misses, stats.total.units) == (3, 1, 1.5)
    assert stats.groups["all"].hits == 3
    assert stats.bytes > 0
