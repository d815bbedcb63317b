"""Own writes: nothing older than a write is answered after it, and what is written exactly is carried."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.aws.wire.errors import ConnectionBroken
from gateway.errors import Forbidden, GatewayError
from gateway.store.access import Access
from gateway.store.cache.keeper import CacheRules
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.store.write.faults import Rejected
from gateway.store.write.idempotency import once
from gateway.store.write.items import items_for
from gateway.store.write.upserts import replace as replaced
from gateway.store.write.writer import MutationResult, Writer
from tests.store.cache.fixtures import MODEL, THING, World, no_renewal, session, settle, transaction
from tests.store.fixtures import ACME, GLOBEX, NOW, TABLE


def values(name: str, **more: Any) -> dict[str, Any]:
    return {"thingId": name, "kind": "k", "at": NOW, "rank": 1, **more}


async def create(world: World, name: str, **more: Any) -> None:
    writer = world.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.create("Thing", values(name, **more))))


async def remove(world: World, name: str) -> None:
    writer = world.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.remove(await writer.stored("Thing", {"thingId": name}))))


async def replace_with(world: World, name: str, **more: Any) -> None:
    writer = world.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(replaced(change, "Thing", values(name, **more))))


async def test_a_change_is_read_by_the_next_read_although_replicas_lag(world: World) -> None:
    world.put("t", rank=1)
    assert await world.rank("t") == 1
    world.memory.fall_behind()
    await world.update("t", rank=2)
    for _ in range(3):
        assert await world.rank("t") == 2
    [read] = [body for operation, body in world.memory.sent if operation == "GetItem"][-1:]
    assert read["ConsistentRead"] is True


async def test_what_lags_is_not_kept(world: World) -> None:
    """An index cannot be read consistently: what it shows a moment after a write is answered, but not remembered."""
    world.put("t", rank=1)
    assert await world.ranked() == ["t"]
    world.memory.fall_behind()
    await remove(world, "t")
    assert await world.ranked() == ["t"]
    world.memory.old = None
    assert await world.ranked() == []


async def test_an_item_that_is_created_is_carried_into_what_was_kept(world: World) -> None:
    assert await world.rank("t") is None
    world.memory.fall_behind()
    await create(world, "t", rank=7)
    world.memory.sent.clear()
    assert await world.rank("t") == 7
    assert world.calls == []
    assert world.cache.stats().total.carried == 1


async def test_what_is_carried_is_as_old_as_its_write(world: World) -> None:
    """An answer may take long, and another process may write meanwhile: the declared time counts from the request."""
    world.put("t", rank=1)
    await world.rank("t")
    answer = world.memory.hold("TransactWriteItems")
    write = asyncio.create_task(replace_with(world, "t", rank=7))
    await settle()
    world.clock.moment += 20
    answer.set()
    await write
    world.put("t", rank=8)
    world.clock.moment += 79
    assert await world.rank("t") == 8


async def test_an_item_that_is_removed_is_known_to_be_gone(world: World) -> None:
    world.put("t")
    await world.rank("t")
    await remove(world, "t")
    world.memory.sent.clear()
    assert await world.rank("t") is None
    assert world.calls == []


async def test_an_item_that_is_replaced_unread_is_carried(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    await replace_with(world, "t", rank=9)
    world.memory.sent.clear()
    assert await world.rank("t") == 9
    assert world.calls == []


async def test_a_number_that_dynamodb_writes_in_another_way_is_not_carried(world: World) -> None:
    await world.things("t")
    writer = world.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.create("Thing", values("t", weight=Decimal("1.50")))))
    assert world.cache.stats().total.carried == 0
    assert world.cache.stats().entries == 0


async def test_what_is_carried_is_no_older_than_its_declaration_allows(world: World) -> None:
    await world.rank("t")
    await create(world, "t", rank=1)
    world.put("t", rank=2)  # by another process
    world.clock.moment += 100
    assert await world.rank("t") == 2


async def test_pages_on_which_an_item_comes_or_was_are_forgotten_and_others_stay(world: World) -> None:
    for name, kind in (("a", "one"), ("b", "two"), ("c", "three")):
        world.put(name, kind=kind)
        assert await world.ranked(kind=kind) == [name]
    await world.update("a", kind="two")
    world.clock.moment += 3
    world.memory.sent.clear()
    assert [await world.ranked(kind=kind) for kind in ("one", "two", "three")] == [[], ["a", "b"], ["c"]]
    assert world.calls == ["Query"] * 2


async def test_an_item_that_moves_inside_its_partition_is_found_where_it_is(world: World) -> None:
    world.put("t", rank=1)
    low, high = ({"rank": span} for span in ranges())
    assert [len(await world.page("thingsByRank", kind="k", **each)) for each in (low, high)] == [1, 0]
    await world.update("t", rank=50)
    assert [len(await world.page("thingsByRank", kind="k", **each)) for each in (low, high)] == [0, 1]


def ranges() -> tuple[Any, Any]:
    from gateway.store.plan import Range

    return Range(0, 10), Range(40, 60)


async def test_a_new_item_comes_onto_pages_of_every_shard_and_index(world: World) -> None:
    assert await world.ranked() == []
    assert await world.page("thingsOfKind", kind="k") == []
    await create(world, "t")
    assert await world.ranked() == ["t"]
    assert len(await world.page("thingsOfKind", kind="k")) == 1


async def test_members_of_a_partition_are_forgotten_by_their_sort_key(world: World) -> None:
    world.tag("a")
    assert len(await world.page("looseTags", thingId="t")) == 1
    assert await world.page("tagOfThing", limit=1, thingId="t", word="b") == []
    assert len(await world.page("tagOfThing", limit=1, thingId="t", word="a")) == 1
    writer = world.writer()
    change = writer.change()
    world.memory.sent.clear()
    world.memory.fall_behind()
    await writer.commit(change, MutationResult(change.create("Tag", {"thingId": "t", "word": "b"})))
    # the table itself can be read consistently, so the page is right although replicas lag
    assert len(await world.page("looseTags", thingId="t")) == 2
    assert len(await world.page("tagOfThing", limit=1, thingId="t", word="b")) == 1
    assert len(await world.page("tagOfThing", limit=1, thingId="t", word="a")) == 1
    assert world.calls == ["TransactWriteItems", "Query", "Query"]


async def test_bulk_writes_are_forgotten_without_being_carried(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    await world.ranked()
    await world.writer().put_all("Thing", [values("t", rank=5), values("u", rank=6)])
    assert world.cache.stats().total.carried == 0
    assert await world.rank("t") == 5
    assert await world.ranked() == ["t", "u"]


async def test_a_transaction_that_was_refused_carries_nothing(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    with pytest.raises(Rejected):
        await create(world, "t", rank=7)
    assert await world.rank("t") == 1


async def test_a_write_whose_outcome_is_not_known_is_forgotten_and_not_kept_for_a_while(world: World) -> None:
    world.put("t", rank=1)
    await world.rank("t")
    world.memory.script["TransactWriteItems"].append(ConnectionBroken("the connection broke"))
    with pytest.raises(GatewayError):
        await world.update("t", rank=2)
    assert await world.rank("t") == 1
    world.put("t", rank=2)  # it arrives after all
    assert await world.rank("t") == 2


async def test_what_was_being_read_while_it_was_written_is_neither_kept_nor_joined(world: World) -> None:
    world.put("t", rank=1)
    held = world.memory.hold("GetItem")
    early = asyncio.create_task(world.rank("t"))
    await settle()
    world.clock.moment += 1
    await replace_with(world, "t", rank=2)
    world.clock.moment += 1
    assert await world.rank("t") == 2, "a request after the write does not wait for a read from before it"
    held.set()
    assert await early == 1
    world.clock.moment += 1
    assert await world.rank("t") == 2


async def test_a_slow_read_from_before_a_write_is_not_kept_however_late_it_comes(world: World) -> None:
    world.put("t", rank=1)
    held = world.memory.hold("Query")
    early = asyncio.create_task(world.ranked())
    await settle()
    world.clock.moment += 1
    await remove(world, "t")
    world.clock.moment += 5
    assert await world.ranked() == []
    held.set()
    assert await early == ["t"]
    assert await world.ranked() == []


async def test_of_two_writes_at_one_time_none_is_carried(world: World) -> None:
    """The answer that comes last need not be the write that came last."""
    world.put("t", rank=1)
    await world.rank("t")
    held = world.memory.hold("TransactWriteItems")
    first = asyncio.create_task(replace_with(world, "t", rank=2))
    await settle()
    await replace_with(world, "t", rank=3)
    held.set()
    await first
    assert world.cache.stats().total.carried == 0
    assert await world.rank("t") == 3


async def test_a_request_that_is_not_understood_empties_the_tenants_shelf(world: World) -> None:
    for tenant in (ACME, GLOBEX):
        world.put("t", tenant)
        await world.rank("t", Access(session(tenant)))
    with world.cache.writing(session(), "ExecuteStatement", {}):
        pass
    assert world.cache.stats().entries == 1
    # and for a while nothing is kept, since nobody knows what was written
    for _ in range(2):
        await world.rank("t")
    assert world.cache.stats().entries == 1


async def test_a_write_that_is_refused_forgets_nothing(world: World) -> None:
    """Or a role that may not write could keep the tenant's cache empty."""
    world.put("t", rank=1)
    await world.rank("t")
    key = {"PK": {"S": "TENANT#acme#THING#t"}, "SK": {"S": "DETAILS"}}
    with pytest.raises(Forbidden):
        await world.table.call(Access(session(of=GLOBEX)), "DeleteItem", {"TableName": TABLE, "Key": key})
    assert await world.rank("t") == 1
    assert world.calls == ["GetItem"]


async def test_more_writes_than_are_remembered_count_as_everything(world: World) -> None:
    world.put("t", rank=1)
    items = [items_for(MODEL, THING, ACME, values(f"n{number}"))[0] for number in range(1_001)]
    body = {"RequestItems": {TABLE: [{"PutRequest": {"Item": item}} for item in items]}}
    with world.cache.writing(session(), "BatchWriteItem", body):
        pass
    await world.rank("t")
    assert world.cache.stats().entries == 0
    world.clock.moment += 3
    await world.rank("t")
    assert world.cache.stats().entries == 1


async def test_writes_are_remembered_only_as_long_as_they_matter() -> None:
    world = World(CacheRules(settle_seconds=2, flight_seconds=10))
    recent = world.cache._keeper._recent
    for number in range(50):
        with world.cache.writing(session(), "DeleteItem", {"Key": {"PK": {"S": f"p{number}"}, "SK": {"S": "s"}}}):
            pass
        world.clock.moment += 1
    assert len(recent._ages) <= 13
    world.clock.moment += 100
    with world.cache.writing(session(GLOBEX), "DeleteItem", {"Key": {"PK": {"S": "p"}, "SK": {"S": "s"}}}):
        pass
    assert set(recent._tenants) == {GLOBEX}


async def test_a_write_of_one_tenant_does_not_touch_what_is_kept_of_another(world: World) -> None:
    for tenant in (ACME, GLOBEX):
        world.put("t", tenant)
        await world.rank("t", Access(session(tenant)))
        await world.ranked(Access(session(tenant)))
    await world.update("t", rank=2, at=NOW + timedelta(days=1))
    world.memory.sent.clear()
    other = Access(session(GLOBEX))
    assert (await world.rank("t", other), await world.ranked(other)) == (1, ["t"])
    assert world.calls == []


async def test_transaction_bodies_of_the_writer_are_what_the_cache_reads(world: World) -> None:
    """`Change.members` become the body, and every member of it is understood."""
    from gateway.store.cache.written_keys import written

    world.put("t")
    writer = world.writer()
    change = writer.change()
    change.create("Tag", {"thingId": "t", "word": "w"})
    change.update(await writer.stored("Thing", {"thingId": "t"}), {"rank": None, "kind": "other"})
    found = written(MODEL.table, "TransactWriteItems", transaction(change.members))
    assert found is not None
    assert [each.key for each in found] == [member.key for member in change.members]


async def change_once(world: World, key: str, name: str, **changes: Any) -> MutationResult:
    async def work(writer: Writer) -> MutationResult:
        change = writer.change()
        change.create("Tag", {"thingId": name, "word": "new"})
        item = change.update(await writer.stored("Thing", {"thingId": name}), changes)
        return await writer.commit(change, MutationResult(item))

    return await world.writer().run(work, once(key, "change", changes))


async def test_a_repeat_answered_from_its_record_forgets_what_another_process_changed(world: World) -> None:
    """Its caller has been told that the change is made, and reads it next."""
    other = World()
    other.table = Table(world.memory, MODEL, no_renewal, Rows(MODEL, clock=world.clock.wall))
    world.put("t", rank=1)
    world.put("u", rank=1)
    assert (await world.rank("t"), await world.rank("u"), await world.ranked()) == (1, 1, ["t", "u"])
    assert await world.page("looseTags", thingId="t") == []
    await change_once(other, "key", "t", rank=2)
    assert await world.rank("t") == 1, "as old as its declaration allows"
    world.memory.fall_behind()
    assert (await change_once(world, "key", "t", rank=2)).item.values["rank"] == 2
    world.memory.sent.clear()
    assert (await world.rank("t"), await world.ranked()) == (2, ["u", "t"])
    assert [tag.values["word"] for tag in await world.page("looseTags", thingId="t")] == ["new"]
    assert await world.rank("u") == 1
    assert world.calls == ["GetItem", "Query", "Query"], "what the change did not touch is still kept"


async def test_a_repeat_touches_nothing_of_another_tenant(world: World) -> None:
    for tenant in (ACME, GLOBEX):
        world.put("t", tenant)
        await world.rank("t", Access(session(tenant)))
    for _ in range(2):
        await change_once(world, "key", "t", rank=2)
    world.memory.sent.clear()
    assert await world.rank("t", Access(session(GLOBEX))) == 1
    assert world.calls == []
