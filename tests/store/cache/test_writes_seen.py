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
from tests.store.cache.fixtures import MODEL, THING, CachedStore, no_renewal, session, settle, transaction
from tests.store.fixtures import ACME, GLOBEX, NOW, TABLE


def values(name: str, **more: Any) -> dict[str, Any]:
    return {"thingId": name, "kind": "k", "at": NOW, "rank": 1, **more}


async def create(store: CachedStore, name: str, **more: Any) -> None:
    writer = store.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.create("Thing", values(name, **more))))


async def remove(store: CachedStore, name: str) -> None:
    writer = store.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.remove(await writer.stored("Thing", {"thingId": name}))))


async def replace_with(store: CachedStore, name: str, **more: Any) -> None:
    writer = store.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(replaced(change, "Thing", values(name, **more))))


async def test_a_change_is_read_by_the_next_read_although_replicas_lag(store: CachedStore) -> None:
    store.put("t", rank=1)
    assert await store.rank("t") == 1
    store.memory.fall_behind()
    await store.update("t", rank=2)
    for _ in range(3):
        assert await store.rank("t") == 2
    [read] = [body for operation, body in store.memory.sent if operation == "GetItem"][-1:]
    assert read["ConsistentRead"] is True


async def test_what_lags_is_not_kept(store: CachedStore) -> None:
    """An index cannot be read consistently: what it shows a moment after a write is answered, but not remembered."""
    store.put("t", rank=1)
    assert await store.ranked() == ["t"]
    store.memory.fall_behind()
    await remove(store, "t")
    assert await store.ranked() == ["t"]
    store.memory.old = None
    assert await store.ranked() == []


async def test_an_item_that_is_created_is_carried_into_what_was_kept(store: CachedStore) -> None:
    assert await store.rank("t") is None
    store.memory.fall_behind()
    await create(store, "t", rank=7)
    store.memory.sent.clear()
    assert await store.rank("t") == 7
    assert store.calls == []
    assert store.cache.stats().total.carried == 1


async def test_what_is_carried_is_as_old_as_its_write(store: CachedStore) -> None:
    """An answer may take long, and another process may write meanwhile: the declared time counts from the request."""
    store.put("t", rank=1)
    await store.rank("t")
    answer = store.memory.hold("TransactWriteItems")
    write = asyncio.create_task(replace_with(store, "t", rank=7))
    await settle()
    store.clock.now += 20
    answer.set()
    await write
    store.put("t", rank=8)
    store.clock.now += 79
    assert await store.rank("t") == 8


async def test_an_item_that_is_removed_is_known_to_be_gone(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    await remove(store, "t")
    store.memory.sent.clear()
    assert await store.rank("t") is None
    assert store.calls == []


async def test_an_item_that_is_replaced_unread_is_carried(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    await replace_with(store, "t", rank=9)
    store.memory.sent.clear()
    assert await store.rank("t") == 9
    assert store.calls == []


async def test_a_number_that_dynamodb_writes_in_another_way_is_not_carried(store: CachedStore) -> None:
    await store.things("t")
    writer = store.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.create("Thing", values("t", weight=Decimal("1.50")))))
    assert store.cache.stats().total.carried == 0
    assert store.cache.stats().entries == 0


async def test_what_is_carried_is_no_older_than_its_declaration_allows(store: CachedStore) -> None:
    await store.rank("t")
    await create(store, "t", rank=1)
    store.put("t", rank=2)  # by another process
    store.clock.now += 100
    assert await store.rank("t") == 2


async def test_pages_on_which_an_item_comes_or_was_are_forgotten_and_others_stay(store: CachedStore) -> None:
    for name, kind in (("a", "one"), ("b", "two"), ("c", "three")):
        store.put(name, kind=kind)
        assert await store.ranked(kind=kind) == [name]
    await store.update("a", kind="two")
    store.clock.now += 3
    store.memory.sent.clear()
    assert [await store.ranked(kind=kind) for kind in ("one", "two", "three")] == [[], ["a", "b"], ["c"]]
    assert store.calls == ["Query"] * 2


async def test_an_item_that_moves_inside_its_partition_is_found_where_it_is(store: CachedStore) -> None:
    store.put("t", rank=1)
    low, high = ({"rank": span} for span in ranges())
    assert [len(await store.page("thingsByRank", kind="k", **each)) for each in (low, high)] == [1, 0]
    await store.update("t", rank=50)
    assert [len(await store.page("thingsByRank", kind="k", **each)) for each in (low, high)] == [0, 1]


def ranges() -> tuple[Any, Any]:
    from gateway.store.plan import Range

    return Range(0, 10), Range(40, 60)


async def test_a_new_item_comes_onto_pages_of_every_shard_and_index(store: CachedStore) -> None:
    assert await store.ranked() == []
    assert await store.page("thingsOfKind", kind="k") == []
    await create(store, "t")
    assert await store.ranked() == ["t"]
    assert len(await store.page("thingsOfKind", kind="k")) == 1


async def test_members_of_a_partition_are_forgotten_by_their_sort_key(store: CachedStore) -> None:
    store.tag("a")
    assert len(await store.page("looseTags", thingId="t")) == 1
    assert await store.page("tagOfThing", limit=1, thingId="t", word="b") == []
    assert len(await store.page("tagOfThing", limit=1, thingId="t", word="a")) == 1
    writer = store.writer()
    change = writer.change()
    store.memory.sent.clear()
    store.memory.fall_behind()
    await writer.commit(change, MutationResult(change.create("Tag", {"thingId": "t", "word": "b"})))
    # the table itself can be read consistently, so the page is right although replicas lag
    assert len(await store.page("looseTags", thingId="t")) == 2
    assert len(await store.page("tagOfThing", limit=1, thingId="t", word="b")) == 1
    assert len(await store.page("tagOfThing", limit=1, thingId="t", word="a")) == 1
    assert store.calls == ["TransactWriteItems", "Query", "Query"]


async def test_bulk_writes_are_forgotten_without_being_carried(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    await store.ranked()
    await store.writer().put_all("Thing", [values("t", rank=5), values("u", rank=6)])
    assert store.cache.stats().total.carried == 0
    assert await store.rank("t") == 5
    assert await store.ranked() == ["t", "u"]


async def test_a_transaction_that_was_refused_carries_nothing(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    with pytest.raises(Rejected):
        await create(store, "t", rank=7)
    assert await store.rank("t") == 1


async def test_a_write_whose_outcome_is_not_known_is_forgotten_and_not_kept_for_a_while(store: CachedStore) -> None:
    store.put("t", rank=1)
    await store.rank("t")
    store.memory.script["TransactWriteItems"].append(ConnectionBroken("the connection broke"))
    with pytest.raises(GatewayError):
        await store.update("t", rank=2)
    assert await store.rank("t") == 1
    store.put("t", rank=2)  # it arrives after all
    assert await store.rank("t") == 2


async def test_what_was_being_read_while_it_was_written_is_neither_kept_nor_joined(store: CachedStore) -> None:
    store.put("t", rank=1)
    held = store.memory.hold("GetItem")
    early = asyncio.create_task(store.rank("t"))
    await settle()
    store.clock.now += 1
    await replace_with(store, "t", rank=2)
    store.clock.now += 1
    assert await store.rank("t") == 2, "a request after the write does not wait for a read from before it"
    held.set()
    assert await early == 1
    store.clock.now += 1
    assert await store.rank("t") == 2


async def test_a_slow_read_from_before_a_write_is_not_kept_however_late_it_comes(store: CachedStore) -> None:
    store.put("t", rank=1)
    held = store.memory.hold("Query")
    early = asyncio.create_task(store.ranked())
    await settle()
    store.clock.now += 1
    await remove(store, "t")
    store.clock.now += 5
    assert await store.ranked() == []
    held.set()
    assert await early == ["t"]
    assert await store.ranked() == []


async def test_of_two_writes_at_one_time_none_is_carried(store: CachedStore) -> None:
    """The answer that comes last need not be the write that came last."""
    store.put("t", rank=1)
    await store.rank("t")
    held = store.memory.hold("TransactWriteItems")
    first = asyncio.create_task(replace_with(store, "t", rank=2))
    await settle()
    await replace_with(store, "t", rank=3)
    held.set()
    await first
    assert store.cache.stats().total.carried == 0
    assert await store.rank("t") == 3


async def test_a_request_that_is_not_understood_empties_the_tenants_segment(store: CachedStore) -> None:
    for tenant in (ACME, GLOBEX):
        store.put("t", tenant)
        await store.rank("t", Access(session(tenant)))
    with store.cache.writing(session(), "ExecuteStatement", {}):
        pass
    assert store.cache.stats().entries == 1
    # and for a while nothing is kept, since nobody knows what was written
    for _ in range(2):
        await store.rank("t")
    assert store.cache.stats().entries == 1


async def test_a_write_that_is_refused_forgets_nothing(store: CachedStore) -> None:
    """Or a role that may not write could keep the tenant's cache empty."""
    store.put("t", rank=1)
    await store.rank("t")
    key = {"PK": {"S": "TENANT#acme#THING#t"}, "SK": {"S": "DETAILS"}}
    with pytest.raises(Forbidden):
        await store.table.call(Access(session(of=GLOBEX)), "DeleteItem", {"TableName": TABLE, "Key": key})
    assert await store.rank("t") == 1
    assert store.calls == ["GetItem"]


async def test_more_writes_than_are_remembered_count_as_everything(store: CachedStore) -> None:
    store.put("t", rank=1)
    items = [items_for(MODEL, THING, ACME, values(f"n{number}"))[0] for number in range(1_001)]
    body = {"RequestItems": {TABLE: [{"PutRequest": {"Item": item}} for item in items]}}
    with store.cache.writing(session(), "BatchWriteItem", body):
        pass
    await store.rank("t")
    assert store.cache.stats().entries == 0
    store.clock.now += 3
    await store.rank("t")
    assert store.cache.stats().entries == 1


async def test_writes_are_remembered_only_as_long_as_they_matter() -> None:
    store = CachedStore(CacheRules(settle_seconds=2, flight_seconds=10))
    recent = store.cache._recent
    for number in range(50):
        with store.cache.writing(session(), "DeleteItem", {"Key": {"PK": {"S": f"p{number}"}, "SK": {"S": "s"}}}):
            pass
        store.clock.now += 1
    assert len(recent._ages) <= 13
    store.clock.now += 100
    with store.cache.writing(session(GLOBEX), "DeleteItem", {"Key": {"PK": {"S": "p"}, "SK": {"S": "s"}}}):
        pass
    assert set(recent._tenants) == {GLOBEX}


async def test_a_write_of_one_tenant_does_not_touch_what_is_kept_of_another(store: CachedStore) -> None:
    for tenant in (ACME, GLOBEX):
        store.put("t", tenant)
        await store.rank("t", Access(session(tenant)))
        await store.ranked(Access(session(tenant)))
    await store.update("t", rank=2, at=NOW + timedelta(days=1))
    store.memory.sent.clear()
    other = Access(session(GLOBEX))
    assert (await store.rank("t", other), await store.ranked(other)) == (1, ["t"])
    assert store.calls == []


async def test_transaction_bodies_of_the_writer_are_what_the_cache_reads(store: CachedStore) -> None:
    """`Change.members` become the body, and every member of it is understood."""
    from gateway.store.cache.written_keys import written

    store.put("t")
    writer = store.writer()
    change = writer.change()
    change.create("Tag", {"thingId": "t", "word": "w"})
    change.update(await writer.stored("Thing", {"thingId": "t"}), {"rank": None, "kind": "other"})
    found = written(MODEL.table, "TransactWriteItems", transaction(change.members))
    assert found is not None
    assert [each.key for each in found] == [member.key for member in change.members]


async def change_once(store: CachedStore, key: str, name: str, **changes: Any) -> MutationResult:
    async def work(writer: Writer) -> MutationResult:
        change = writer.change()
        change.create("Tag", {"thingId": name, "word": "new"})
        item = change.update(await writer.stored("Thing", {"thingId": name}), changes)
        return await writer.commit(change, MutationResult(item))

    return await store.writer().run(work, once(key, "change", changes))


async def test_a_repeat_answered_from_its_record_forgets_what_another_process_changed(store: CachedStore) -> None:
    """Its caller has been told that the change is made, and reads it next."""
    other = CachedStore()
    other.table = Table(store.memory, MODEL, no_renewal, Rows(MODEL, clock=store.clock.wall))
    store.put("t", rank=1)
    store.put("u", rank=1)
    assert (await store.rank("t"), await store.rank("u"), await store.ranked()) == (1, 1, ["t", "u"])
    assert await store.page("looseTags", thingId="t") == []
    await change_once(other, "key", "t", rank=2)
    assert await store.rank("t") == 1, "as old as its declaration allows"
    store.memory.fall_behind()
    assert (await change_once(store, "key", "t", rank=2)).item.values["rank"] == 2
    store.memory.sent.clear()
    assert (await store.rank("t"), await store.ranked()) == (2, ["u", "t"])
    assert [tag.values["word"] for tag in await store.page("looseTags", thingId="t")] == ["new"]
    assert await store.rank("u") == 1
    assert store.calls == ["GetItem", "Query", "Query"], "what the change did not touch is still kept"


async def test_a_repeat_touches_nothing_of_another_tenant(store: CachedStore) -> None:
    for tenant in (ACME, GLOBEX):
        store.put("t", tenant)
        await store.rank("t", Access(session(tenant)))
    for _ in range(2):
        await change_once(store, "key", "t", rank=2)
    store.memory.sent.clear()
    assert await store.rank("t", Access(session(GLOBEX))) == 1
    assert store.calls == []
