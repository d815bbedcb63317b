"""The table runs plans: any number of keys, whole listings page by page, and never somebody else's row."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.aws.errors import AwsUnavailable, CredentialsExpired, ThroughputExceeded
from gateway.aws.sessions import Session
from gateway.errors import DeadlineExceeded, Forbidden, Internal, IsolationBreach, Throttled, Unavailable
from gateway.model.patterns import Together
from gateway.model.tenant import TenantId
from gateway.store import table as table_module
from gateway.store.access import Access
from gateway.store.items import items_for
from gateway.store.plan import GetItems, QueryMany, Range, Window, plan_listing, plan_lookup, plan_together
from gateway.store.rows import Item, Rows
from gateway.store.table import Table
from tests.store.memory import Answer, Memory, Row
from tests.store.world import ACME, GLOBEX, MODEL, NOW, READING, TAG, THING, renamed, session, tenancy

NAMES = frozenset({"thingId", "word"})


def thing(name: str, tenant: TenantId = ACME, minutes: int = 0) -> list[Row]:
    at = NOW - timedelta(minutes=minutes)
    return items_for(MODEL, THING, tenant, {"thingId": name, "kind": "k", "at": at, "rank": minutes})


def tag(word: str, seconds: int | None = None) -> list[Row]:
    until = None if seconds is None else NOW + timedelta(seconds=seconds)
    return items_for(MODEL, TAG, ACME, {"thingId": "t", "word": word, "until": until})


def lookup(*names: str, pattern: str = "thing") -> GetItems:
    return plan_lookup(MODEL, MODEL.lookup(pattern), ACME, tuple({"thingId": name} for name in names), NAMES)


def listing(name: str, window: Window, **arguments: Any) -> QueryMany:
    return plan_listing(MODEL, MODEL.listing(name), ACME, arguments, window, NAMES)


def ids(items: list[Item | None]) -> list[str | None]:
    return [None if item is None else item.values["thingId"] for item in items]


def words(items: tuple[Item, ...] | list[Item]) -> list[str]:
    return [item.values["word"] for item in items]


def operations(memory: Memory) -> list[str]:
    return [operation for operation, _ in memory.sent]


@pytest.mark.parametrize(
    ("keys", "chunks"), [(0, []), (1, [1]), (2, [2]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
async def test_any_number_of_keys_in_chunks_of_a_hundred_with_their_order_kept(
    memory: Memory, table: Table, access: Access, keys: int, chunks: list[int]
) -> None:
    for number in range(0, keys, 2):  # every other one exists
        memory.put(thing(f"t{number}"))
    wanted = [f"t{(number * 7) % keys}" for number in range(keys)] * 2  # each of them twice
    found = await table.get(access, lookup(*wanted))
    assert ids(found) == [name if int(name[1:]) % 2 == 0 else None for name in wanted]
    sizes = [len(body["RequestItems"]["app"]["Keys"]) if "RequestItems" in body else 1 for _, body in memory.sent]
    assert sorted(sizes, reverse=True) == chunks
    assert operations(memory) == ["GetItem" if keys == 1 else "BatchGetItem"] * len(chunks)


async def test_chunks_are_read_side_by_side(memory: Memory, table: Table, access: Access) -> None:
    await table.get(access, lookup(*(f"t{number}" for number in range(250))))
    assert memory.most_running == 3


async def test_each_call_is_recorded_with_what_it_consumed(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("a"), *thing("b", minutes=1)])
    await table.get(access, lookup("a"))
    await table.get(access, lookup("a", "b", "c", pattern="freshThing"))
    await table.query(access, listing("thingsByRank", Window(5), kind="k"))
    calls = [(call.operation, call.index, call.items, call.capacity, call.statements) for call in access.calls]
    assert calls == [
        ("GetItem", None, 1, 0.5, ("identity/OwnKeys",)),
        ("BatchGetItem", None, 2, 1.0, ("identity/OwnKeys",)),
        ("Query", "GSI2", 2, 0.5, ("identity/OwnKeys",)),
    ]
    assert access.capacity == 2.0
    assert all(call.seconds >= 0 for call in access.calls)


async def test_an_answer_without_capacity_counts_as_none(memory: Memory, table: Table, access: Access) -> None:
    memory.always["GetItem"] = lambda answer: {}
    assert await table.get(access, lookup("a")) == [None]
    assert [(call.items, call.capacity) for call in access.calls] == [(0, 0.0)]


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


def leaving(count: int) -> Callable[[Answer], Answer]:
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
    memory.script["BatchGetItem"].extend([leaving(6), leaving(3), leaving(1)])
    assert ids(await table.get(access, lookup(*names))) == names
    assert [len(body["RequestItems"]["app"]["Keys"]) for _, body in memory.sent] == [9, 6, 3, 1]
    # what is asked for again is asked for in the same way
    assert len({body["RequestItems"]["app"]["ProjectionExpression"] for _, body in memory.sent}) == 1


@pytest.mark.parametrize("left", [1, 3])
async def test_unprocessed_keys_are_never_dropped_silently(
    memory: Memory, table: Table, access: Access, left: int
) -> None:
    memory.put([*thing("a"), *thing("b"), *thing("c")])
    memory.always["BatchGetItem"] = leaving(left)
    access.deadline = asyncio.get_running_loop().time() + 0.03
    with pytest.raises((Throttled, DeadlineExceeded), match=f"{left} items could not be read in time"):
        await table.get(access, lookup("a", "b", "c"))
    assert len(memory.sent) >= 1


async def test_a_deadline_that_has_passed_ends_the_asking(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = leaving(1)
    access.deadline = asyncio.get_running_loop().time() - 1
    with pytest.raises(DeadlineExceeded, match="1 items could not be read in time"):
        await table.get(access, lookup("a", "b"))
    assert len(memory.sent) == 1


async def test_the_first_moment_of_the_clock_is_a_deadline_too(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = leaving(1)
    access.deadline = 0.0
    with pytest.raises(DeadlineExceeded):
        await table.get(access, lookup("a", "b"))


async def test_without_a_deadline_patience_has_an_end(
    memory: Memory, table: Table, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "_PATIENCE", 0.03)
    memory.put([*thing("a"), *thing("b")])
    memory.always["BatchGetItem"] = leaving(1)
    with pytest.raises((Throttled, DeadlineExceeded)):
        await table.get(access, lookup("a", "b"))


async def test_one_chunk_that_fails_fails_the_whole_read(memory: Memory, table: Table, access: Access) -> None:
    error = ThroughputExceeded("too many requests for the database at the moment")
    memory.script["BatchGetItem"].append(error)
    with pytest.raises(Throttled) as raised:
        await table.get(access, lookup(*(f"t{number}" for number in range(250))))
    assert raised.value is error
    assert memory.running == 0


async def test_the_deadline_reaches_every_call(memory: Memory, table: Table, access: Access) -> None:
    seen: list[float | None] = []

    class Watched(Memory):
        async def call(self, operation: str, body: Any, **rest: Any) -> Answer:
            seen.append(rest["deadline"])
            return await super().call(operation, body, **rest)

    watched = Table(Watched(MODEL.table, "app"), MODEL, _renewal_fails)
    access.deadline = asyncio.get_running_loop().time() + 60
    await watched.get(access, lookup("a"))
    await watched.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert seen == [access.deadline] * 4


async def _renewal_fails(refused: Session) -> Session:
    raise Unavailable("sts cannot be reached")


class Renewals:
    """Gives the session `fresh`, and counts."""

    def __init__(self, fresh: Session) -> None:
        self.fresh = fresh
        self.asked: list[Session] = []

    async def __call__(self, refused: Session) -> Session:
        self.asked.append(refused)
        await asyncio.sleep(0)
        return self.fresh


def renewing(memory: Memory, fresh: Session) -> tuple[Table, Renewals]:
    renewals = Renewals(fresh)
    return Table(memory, MODEL, renewals, Rows(MODEL, clock=NOW.timestamp)), renewals


async def test_an_expired_session_is_renewed_once_and_the_call_repeated(memory: Memory, access: Access) -> None:
    memory.put(thing("a"))
    memory.revoked.add("AKIDEXAMPLE")
    old = access.session
    table, renewals = renewing(memory, renamed(old, "AKIDFRESH"))
    assert ids(await table.get(access, lookup("a"))) == ["a"]
    assert renewals.asked == [old]
    assert access.session.credentials.access_key == "AKIDFRESH"


async def test_calls_side_by_side_share_one_renewal(memory: Memory, access: Access) -> None:
    names = [f"t{number}" for number in range(250)]
    for name in names:
        memory.put(thing(name))
    memory.revoked.add("AKIDEXAMPLE")
    table, renewals = renewing(memory, renamed(access.session, "AKIDFRESH"))
    assert ids(await table.get(access, lookup(*names))) == names
    assert len(renewals.asked) == 1


async def test_a_session_that_is_refused_again_is_not_renewed_for_ever(memory: Memory, access: Access) -> None:
    memory.revoked |= {"AKIDEXAMPLE", "AKIDFRESH"}
    table, renewals = renewing(memory, renamed(access.session, "AKIDFRESH"))
    with pytest.raises(CredentialsExpired):
        await table.get(access, lookup("a"))
    assert len(renewals.asked) == 1
    assert len(memory.sent) == 2


async def test_a_renewal_that_fails_is_the_answer(memory: Memory, access: Access) -> None:
    memory.revoked.add("AKIDEXAMPLE")
    with pytest.raises(Unavailable, match="sts cannot be reached"):
        await Table(memory, MODEL, _renewal_fails).get(access, lookup("a"))


@pytest.mark.parametrize(
    "other", [session(GLOBEX, "AKIDFRESH"), replace(session(access_key="AKIDFRESH"), tenancy=tenancy(table="moved"))]
)
async def test_a_renewed_session_of_another_place_is_not_used(memory: Memory, access: Access, other: Session) -> None:
    memory.revoked.add("AKIDEXAMPLE")
    table, _ = renewing(memory, other)
    with pytest.raises(Unavailable, match="the tenant is being moved"):
        await table.get(access, lookup("a"))
    assert len(memory.sent) == 1


async def test_a_renewed_session_is_asked_for_its_own_permissions(memory: Memory, access: Access) -> None:
    memory.revoked.add("AKIDEXAMPLE")
    fewer = replace(renamed(access.session, "AKIDFRESH"), permissions=session(GLOBEX).permissions)
    table, _ = renewing(memory, fewer)
    with pytest.raises(Forbidden):
        await table.get(access, lookup("a"))
    assert len(memory.sent) == 1


async def test_other_failures_are_not_repeated_here(memory: Memory, table: Table, access: Access) -> None:
    memory.script["GetItem"].append(AwsUnavailable("the database is not available at the moment"))
    with pytest.raises(AwsUnavailable):
        await table.get(access, lookup("a"))
    assert len(memory.sent) == 1


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
async def test_what_the_policies_forbid_is_not_even_sent(
    memory: Memory, table: Table, access: Access, names: tuple[str, ...]
) -> None:
    access.session = replace(access.session, permissions=session(GLOBEX).permissions)
    with pytest.raises(Forbidden, match="the role `viewer` may not do this") as raised:
        await table.get(access, lookup(*names))
    assert "dynamodb:LeadingKeys" in str(raised.value.__cause__)
    with pytest.raises(Forbidden):
        await table.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert memory.sent == []


async def test_a_plan_meets_the_session_of_its_own_tenant_only(memory: Memory, table: Table) -> None:
    # INVARIANT: a plan is run with its own tenant's session and with no other.
    foreign = Access(replace(session(GLOBEX), permissions=session(ACME).permissions))
    for plan in (lookup("a"), lookup("a", "b")):
        with pytest.raises(IsolationBreach):
            await table.get(foreign, plan)
    with pytest.raises(IsolationBreach):
        await table.query(foreign, listing("thingsOfKind", Window(5), kind="k"))
    assert memory.sent == []


async def test_a_foreign_row_from_an_index_is_never_returned(memory: Memory, table: Table, access: Access) -> None:
    [own], [foreign] = thing("a"), thing("b", GLOBEX)
    # as if another tenant's item had got this tenant's index key
    memory.put([own, {**foreign, "GSI1PK": own["GSI1PK"]}])
    with pytest.raises(IsolationBreach):
        await table.query(access, listing("thingsOfKind", Window(5), kind="k"))


@pytest.mark.parametrize("names", [("a",), ("a", "c")])
async def test_a_foreign_row_from_the_table_is_never_returned(
    memory: Memory, table: Table, access: Access, names: tuple[str, ...]
) -> None:
    [foreign] = thing("b", GLOBEX)
    memory.always["GetItem"] = lambda answer: {**answer, "Item": foreign}
    memory.always["BatchGetItem"] = lambda answer: {**answer, "Responses": {"app": [foreign]}}
    with pytest.raises(IsolationBreach):
        await table.get(access, lookup(*names))


@pytest.mark.parametrize("names", [("a",), ("a", "c")])
async def test_a_row_that_hides_its_partition_is_never_returned(
    memory: Memory, table: Table, access: Access, names: tuple[str, ...]
) -> None:
    [row] = thing("a")
    del row["PK"]
    memory.always["GetItem"] = lambda answer: {**answer, "Item": row}
    memory.always["BatchGetItem"] = lambda answer: {**answer, "Responses": {"app": [row]}}
    with pytest.raises(IsolationBreach):
        await table.get(access, lookup(*names))


async def test_a_row_of_another_type_is_an_error_not_an_item(memory: Memory, table: Table, access: Access) -> None:
    [row] = thing("a")
    memory.put([{**row, "EntityType": {"S": "Tag"}}])
    with pytest.raises(Internal, match="expected an item of Thing and found Tag"):
        await table.get(access, lookup("a"))
    with pytest.raises(Internal, match="expected an item of Thing and found Tag"):
        await table.query(access, listing("thingsOfKind", Window(5), kind="k"))


async def test_an_expired_item_is_not_found(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*tag("old", -1), *tag("new", 60)])
    wanted = ({"thingId": "t", "word": "old"}, {"thingId": "t", "word": "new"})
    old, new = await table.get(access, plan_lookup(MODEL, MODEL.lookup("tag"), ACME, wanted, NAMES))
    assert old is None
    assert new is not None


async def test_expired_items_do_not_make_a_page_short(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(20) for row in tag(f"w{number:02}", None if number % 4 == 0 else -1)])
    page = await table.query(access, listing("tagsOfThing", Window(4), thingId="t"))
    assert words(page.items) == ["w16", "w12", "w08", "w04"]
    assert page.more
    rest = await table.query(access, listing("tagsOfThing", Window(4, after=page.items[-1].position), thingId="t"))
    assert words(rest.items) == ["w00"]
    assert not rest.more


async def test_many_expired_items_take_few_calls(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(1_000) for row in tag(f"w{number:04}", -1)])
    memory.put(tag("a"))
    page = await table.query(access, listing("tagsOfThing", Window(1), thingId="t"))
    assert words(page.items) == ["a"]
    assert len(memory.sent) < 12


async def test_pages_cut_by_size_are_followed(memory: Memory, table: Table, access: Access) -> None:
    memory.page_bytes = 500
    memory.put([row for number in range(20) for row in tag(f"w{number:02}")])
    page = await table.query(access, listing("tagsOfThing", Window(15), thingId="t"))
    assert words(page.items) == [f"w{number:02}" for number in range(19, 4, -1)]
    assert page.more
    assert len(memory.sent) > 5
    # no more is read than one item beyond the page
    assert sum(call.items for call in access.calls) == 16


@pytest.mark.parametrize(("items", "more"), [(0, False), (1, True)])
async def test_a_page_of_nothing_tells_whether_there_is_something(
    memory: Memory, table: Table, access: Access, items: int, more: bool
) -> None:
    memory.put([row for number in range(items) for row in thing(f"t{number}")])
    page = await table.query(access, listing("thingsOfKind", Window(0), kind="k"))
    assert (page.items, page.more) == ((), more)


async def test_shards_are_read_side_by_side_and_merged(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(12) for row in thing(f"t{number}", minutes=number)])
    page = await table.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert [item.values["thingId"] for item in page.items] == ["t0", "t1", "t2", "t3", "t4"]
    assert page.more
    assert operations(memory) == ["Query"] * 3
    assert memory.most_running == 3
    assert {call.index for call in access.calls} == {"GSI1"}


async def test_one_shard_that_fails_fails_the_page(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("a"))
    memory.script["Query"].append(ThroughputExceeded("too many requests for the database at the moment"))
    with pytest.raises(Throttled):
        await table.query(access, listing("thingsOfKind", Window(5), kind="k"))


async def test_strong_listings_read_consistently(memory: Memory, table: Table, access: Access) -> None:
    await table.query(access, listing("tagsOfThing", Window(5), thingId="t"))
    assert [body["ConsistentRead"] for _, body in memory.sent] == [True]


def reading(minutes: int) -> list[Row]:
    return items_for(MODEL, READING, ACME, {"device": "d", "at": NOW - timedelta(minutes=minutes), "value": minutes})


async def test_buckets_behind_a_full_page_are_not_read(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for minutes in range(0, 60 * 100, 10) for row in reading(minutes)])
    span = Range(NOW - timedelta(hours=100), NOW)
    page = await table.query(access, listing("readings", Window(10), device="d", at=span))
    assert len(page.items) == 10
    assert page.more
    assert len(memory.sent) <= 2 * 8  # one wave of eight hours, two shards each
    assert memory.most_running == 16


async def test_a_range_without_items_reads_every_bucket_once(memory: Memory, table: Table, access: Access) -> None:
    span = Range(NOW - timedelta(hours=19, minutes=30), NOW)
    page = await table.query(access, listing("readings", Window(10), device="d", at=span))
    assert (page.items, page.more) == ((), False)
    assert len(memory.sent) == 2 * 21


async def test_the_last_items_across_buckets_come_in_the_order_of_the_listing(
    memory: Memory, table: Table, access: Access
) -> None:
    memory.put([row for minutes in (5, 65, 125, 185, 245) for row in reading(minutes)])
    span = Range(NOW - timedelta(hours=5), NOW)
    query = plan_listing(
        MODEL,
        MODEL.listing("readings"),
        ACME,
        {"device": "d", "at": span},
        Window(3, backward=True),
        frozenset(["value"]),
    )
    page = await table.query(access, query)
    assert [int(item.values["value"]) for item in page.items] == [125, 65, 5]
    assert page.more


async def test_a_plan_without_partitions_asks_nothing(memory: Memory, table: Table, access: Access) -> None:
    nothing = QueryMany("Thing", (), Window(5))
    assert (await table.query(access, nothing)).items == ()
    assert memory.sent == []


def together(limit: int | None) -> Any:
    pattern = MODEL.patterns["thingWithTags"]
    assert isinstance(pattern, Together)
    return plan_together(MODEL, pattern, ACME, {"thingId": "t"}, limit, NAMES)


async def test_an_item_and_its_first_members_come_from_one_query(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *(row for number in range(9) for row in tag(f"w{number}"))])
    root, members = await table.query_together(access, together(3))
    assert root is not None
    assert root.values == {"thingId": "t"}
    # one more than asked for tells whether there are more
    assert words(members) == ["w8", "w7", "w6", "w5"]
    assert operations(memory) == ["Query"]


async def test_no_more_members_come_than_were_asked_for(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *tag("z", -1), *tag("y", -1), *(row for number in range(9) for row in tag(f"w{number}"))])
    _, members = await table.query_together(access, together(1))
    assert words(members) == ["w8", "w7"]


async def test_members_without_their_item_are_not_lost(memory: Memory, table: Table, access: Access) -> None:
    memory.put(tag("w"))
    root, members = await table.query_together(access, together(3))
    assert root is None
    assert words(members) == ["w"]


async def test_an_item_without_members_is_found_alone(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("t"))
    root, members = await table.query_together(access, together(0))
    assert root is not None
    assert members == []


async def test_without_a_limit_every_member_comes(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *(row for number in range(1_500) for row in tag(f"w{number:04}"))])
    root, members = await table.query_together(access, together(None))
    assert root is not None
    assert len(members) == 1_500


async def test_a_stranger_between_an_item_and_its_members_is_an_error(
    memory: Memory, table: Table, access: Access
) -> None:
    [stranger] = tag("w")
    memory.put([{**stranger, "EntityType": {"S": "Reading"}}])
    with pytest.raises(Internal, match="expected an item of Thing and found Reading"):
        await table.query_together(access, together(3))


async def test_a_request_that_is_cancelled_leaves_no_call_running(memory: Memory, table: Table, access: Access) -> None:
    task = asyncio.ensure_future(table.query(access, listing("thingsOfKind", Window(5), kind="k")))
    while memory.running < 3:  # noqa: ASYNC110  it takes a few turns of the loop and no time
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert memory.running == 0
