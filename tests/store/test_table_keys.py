"""The table by keys: any number of them, in their order, and none dropped silently."""

import asyncio
from collections.abc import Callable

import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.errors import DeadlineExceeded, Forbidden, IsolationBreach, Throttled
from gateway.iam.dynamodb.shared_permissions import RoleRows
from gateway.model.keys import ItemKey, item_key
from gateway.model.tenant import TenantId
from gateway.store import table as table_module
from gateway.store.access import Access
from gateway.store.plan import plan_lookup
from gateway.store.table import Table
from gateway.testing.memory import Answer, Memory
from tests.store.fixtures import ACME, GLOBEX, MODEL
from tests.store.things import NAMES, ids, lookup, operations, tag, thing


@pytest.mark.parametrize(
    ("keys", "chunks"), [(0, []), (1, [1]), (2, [2]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
async def test_any_number_of_keys_in_chunks_of_a_hundred_with_their_order_kept(
    memory: Memory, table: Table, access: Access, keys: int, chunks: list[int]
) -> None:
    for number in range(0, keys, 2):  # every other one exists
        memory.put(thing(f"t{number}"))
    names = [f"t{(number * 7) % keys}" for number in range(keys)] * 2  # each of them twice
    found = await table.get(access, lookup(*names))
    assert ids(found) == [name if int(name[1:]) % 2 == 0 else None for name in names]
    sizes = [len(body["RequestItems"]["app"]["Keys"]) if "RequestItems" in body else 1 for _, body in memory.sent]
    assert sorted(sizes, reverse=True) == chunks
    assert operations(memory) == ["GetItem" if keys == 1 else "BatchGetItem"] * len(chunks)


async def test_chunks_are_read_side_by_side(memory: Memory, table: Table, access: Access) -> None:
    await table.get(access, lookup(*(f"t{number}" for number in range(250))))
    assert memory.most_running == 3


async def test_a_lookup_reads_consistently_only_where_it_is_declared_so(
    memory: Memory, table: Table, access: Access
) -> None:
    await table.get(access, lookup("a"))
    await table.get(access, lookup("a", pattern="freshThing"))
    await table.get(access, lookup("a", "b", pattern="freshThing"))
    strong = [
        body.get("ConsistentRead", body.get("RequestItems", {}).get("app", {}).get("ConsistentRead"))
        for _, body in memory.sent
    ]
    assert strong == [False, True, True]


def with_unprocessed(count: int) -> Callable[[Answer], Answer]:
    """The last rows of a batch are left unprocessed."""

    def change(answer: Answer) -> Answer:
        rows = answer["Responses"]["app"]
        left = [{"PK": row["PK"], "SK": row["SK"]} for row in rows[-count:]]
        unprocessed = {"app": {"Keys": left, "ProjectionExpression": "#0"}}
        return {**answer, "Responses": {"app": rows[:-count]}, "UnprocessedKeys": unprocessed}

    return change


async def test_unprocessed_keys_are_asked_for_until_all_are_there(memory: Memory, table: Table, access: Access) -> None:
    names = [f"t{number}" for number in range(9)]
    for name in names:
        memory.put(thing(name))
    memory.script["BatchGetItem"].extend([with_unprocessed(6), with_unprocessed(3), with_unprocessed(1)])
    assert ids(await table.get(access, lookup(*names))) == names
    assert [len(body["RequestItems"]["app"]["Keys"]) for _, body in memory.sent] == [9, 6, 3, 1]
    # what is asked for again is asked for in the same way
    assert len({body["RequestItems"]["app"]["ProjectionExpression"] for _, body in memory.sent}) == 1


@pytest.mark.parametrize("left", [1, 3])
async def test_unprocessed_keys_are_never_dropped_silently(
    memory: Memory, table: Table, access: Access, left: int
) -> None:
    memory.put([*thing("a"), *thing("b"), *thing("c")])
    memory.always["BatchGetItem"] = with_unprocessed(left)
    access.deadline = asyncio.get_running_loop().time() + 0.03
    with pytest.raises((Throttled, DeadlineExceeded), match=f"{left} items could not be read in time"):
        await table.get(access, lookup("a", "b", "c"))
    assert len(memory.sent) >= 1


async def test_a_deadline_that_has_passed_ends_the_retries(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = with_unprocessed(1)
    access.deadline = asyncio.get_running_loop().time() - 1
    with pytest.raises(DeadlineExceeded, match="1 items could not be read in time"):
        await table.get(access, lookup("a", "b"))
    assert len(memory.sent) == 1


async def test_time_zero_of_the_clock_is_a_deadline_too(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = with_unprocessed(1)
    access.deadline = 0.0
    with pytest.raises(DeadlineExceeded):
        await table.get(access, lookup("a", "b"))


async def test_without_a_deadline_patience_has_an_end(
    memory: Memory, table: Table, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "_PATIENCE", 0.03)
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = with_unprocessed(1)
    with pytest.raises((Throttled, DeadlineExceeded)):
        await table.get(access, lookup("a", "b"))


async def test_one_chunk_that_fails_fails_the_whole_read(memory: Memory, table: Table, access: Access) -> None:
    error = ThroughputExceeded("too many requests for the database")
    memory.script["BatchGetItem"].append(error)
    with pytest.raises(Throttled) as raised:
        await table.get(access, lookup(*(f"t{number}" for number in range(250))))
    assert raised.value is error
    assert memory.running == 0


async def test_an_expired_item_is_not_found(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*tag("old", -1), *tag("new", 60)])
    keys = ({"thingId": "t", "word": "old"}, {"thingId": "t", "word": "new"})
    old, new = await table.get(access, plan_lookup(MODEL, MODEL.lookup("tag"), ACME, keys, NAMES))
    assert old is None
    assert new is not None


def key_of(name: str, tenant: TenantId = ACME) -> ItemKey:
    return item_key(tenant, MODEL.entities["Thing"], {"thingId": name})


async def test_the_current_item_is_read_consistently_and_whole(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("a"))
    whole = MODEL.whole_items["Thing"]
    found = await table.current(access, "Thing", key_of("a"), whole)
    assert found is not None
    assert (found.values["thingId"], found.values["version"]) == ("a", 1)
    assert await table.current(access, "Thing", key_of("b"), whole) is None
    assert [(operation, body["ConsistentRead"]) for operation, body in memory.sent] == [("GetItem", True)] * 2


async def test_the_current_item_of_another_subject_counts_as_missing_and_is_not_asked_for(
    memory: Memory, table: Table, access: Access
) -> None:
    memory.put(thing("a"))
    access.session.permissions.shared.rows = RoleRows(owned=((None, "THING#{subject}"),))
    assert await table.current(access, "Thing", key_of("a"), MODEL.whole_items["Thing"]) is None
    assert memory.sent == []


async def test_the_current_item_of_another_tenant_is_not_asked_for(
    memory: Memory, table: Table, access: Access
) -> None:
    with pytest.raises(Forbidden):
        await table.current(access, "Thing", key_of("a", GLOBEX), MODEL.whole_items["Thing"])
    assert memory.sent == []


async def test_a_row_of_another_tenant_is_not_the_current_item(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("a"))
    foreign = {"S": key_of("a", GLOBEX).pk}
    memory.always["GetItem"] = lambda answer: {**answer, "Item": {**answer["Item"], "PK": foreign}}
    with pytest.raises(IsolationBreach):
        await table.current(access, "Thing", key_of("a"), MODEL.whole_items["Thing"])
