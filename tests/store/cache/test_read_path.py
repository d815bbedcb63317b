"""Every part of a key matters: without any one of them some answer is wrong, or refused."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from gateway.aws.sts.session import Session
from gateway.errors import Forbidden, Unavailable
from gateway.iam.dynamodb.condition_keys import PRINCIPAL_SUBJECT
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.cache import cache as module
from gateway.store.cache.read_path import PreparedReads, ReadKey, ReadOptions
from gateway.store.key_ranges import KeyRange
from gateway.store.plan import Range, Window, plan_listing
from tests.store.cache.fixtures import (
    MODEL,
    NAMES,
    PAGES,
    SUPPORT,
    THINGS,
    CachedStore,
    listed,
    policies,
    session,
    things,
)
from tests.store.fixtures import ACME, GLOBEX, NOW, TABLE

_BLANK: dict[str, Any] = {
    "tenant": "any",
    "fingerprint": "",
    "table": ("", ""),
    "on": None,
    "partition": "",
    "forward": True,
    "limit": 0,
    "projection": (),
    "strong": False,
    "subject": None,
}


def without(part: str, made: Callable[..., ReadKey]) -> Callable[..., ReadKey]:
    """The builder of keys, with one part left out; a part that has no blank fails here, not as a broken rule."""
    blank: dict[str, Any] = {} if part == "sort" else {part: _BLANK[part]}

    def build(*given: Any) -> ReadKey:
        read = made(*given)
        if part == "sort":
            return read._replace(sort="" if isinstance(read.sort, str) else KeyRange())
        return read._replace(**blank)

    return build


async def each_tenant_sees_its_own(store: CachedStore) -> None:
    for number, tenant in enumerate((ACME, GLOBEX)):
        store.put("same", tenant, rank=number)
    for _ in range(2):
        assert [await store.rank("same", Access(session(tenant))) for tenant in (ACME, GLOBEX)] == [0, 1]
        assert await store.ranked(Access(session(GLOBEX))) == ["same"]


async def a_role_that_aws_refuses_is_refused(store: CachedStore) -> None:
    store.put("secret")
    assert await store.rank("secret") == 1
    viewer = session(role="viewer", policy=policies(sid="TooWide"))
    store.memory.denied.add(viewer.credentials.access_key)
    with pytest.raises(Forbidden):
        await store.rank("secret", Access(viewer))


async def a_tenant_that_moved_sees_its_new_table(store: CachedStore) -> None:
    store.put("moved")
    assert await store.rank("moved") == 1
    with pytest.raises(Unavailable):
        await store.rank("moved", Access(session(table="elsewhere")))


async def a_write_is_seen_on_the_pages_of_its_index(store: CachedStore) -> None:
    store.put("first", kind="indexed", rank=1)
    assert await store.ranked(kind="indexed") == ["first"]
    writer = store.writer()
    await writer.put_all("Thing", [{"thingId": "second", "kind": "indexed", "at": NOW, "rank": 2}])
    assert await store.ranked(kind="indexed") == ["first", "second"]


async def items_and_partitions_are_told_apart(store: CachedStore) -> None:
    for name, rank in (("one", 1), ("two", 2)):
        store.put(name, kind=name, rank=rank)
    for _ in range(2):
        assert [await store.rank(name) for name in ("one", "two")] == [1, 2]
        assert [await store.ranked(kind=name) for name in ("one", "two")] == [["one"], ["two"]]


async def ranges_are_told_apart(store: CachedStore) -> None:
    for name, rank in (("low", 1), ("high", 9)):
        store.put(name, kind="ranged", rank=rank)
    for span, names in ((Range(0, 5), ["low"]), (Range(6, 9), ["high"])):
        page = await store.page("thingsByRank", kind="ranged", rank=span)
        assert [item.values["thingId"] for item in page] == names


async def directions_and_lengths_are_told_apart(store: CachedStore) -> None:
    for name, rank in (("a", 1), ("b", 2), ("c", 3)):
        store.put(name, kind="ordered", rank=rank)
    windows = (
        (Window(1), ["a"]),
        (Window(1, backward=True), ["c"]),
        (Window(3), ["a", "b", "c"]),
        (Window(2), ["a", "b"]),
    )
    for window, names in windows:
        plan = plan_listing(MODEL, MODEL.listing("thingsByRank"), ACME, {"kind": "ordered"}, window, NAMES)
        page = await store.table.query(Access(session()), plan)
        assert [item.values["thingId"] for item in page.items] == names


async def what_was_not_asked_for_before_is_there_when_it_is(store: CachedStore) -> None:
    store.put("wide", rank=5)
    for attributes in (frozenset({"thingId"}), NAMES):
        [item] = await store.table.get(Access(session()), replace(things("wide"), attributes=attributes))
        assert item is not None
        assert set(item.values) == attributes - {"word"}


async def a_strong_read_is_of_now(store: CachedStore) -> None:
    store.put("fresh", rank=1)
    assert await store.rank("fresh") == 1
    store.put("fresh", rank=2)
    [item] = await store.things("fresh", pattern="freshThing")
    assert item is not None
    assert item.values["rank"] == 2


def of_subject(given: Session, name: str) -> Session:
    """The session of a subject, by the same policies."""
    return replace(given, permissions=Permissions.of_tenant(given.permissions.shared, ACME, name))


async def each_subject_reads_for_itself(store: CachedStore) -> None:
    """The table changes behind the cache's back, so that an answer tells who has read it."""
    for rank, name in enumerate(("ann", "bob"), 1):
        store.put("shared", kind="shared", rank=rank)
        access = Access(of_subject(session(), name))
        assert await store.rank("shared", access) == rank
        [item] = await store.page("thingsByRank", access=access, kind="shared")
        assert item.values["rank"] == rank


RULES = (
    each_tenant_sees_its_own,
    a_role_that_aws_refuses_is_refused,
    a_tenant_that_moved_sees_its_new_table,
    a_write_is_seen_on_the_pages_of_its_index,
    items_and_partitions_are_told_apart,
    ranges_are_told_apart,
    directions_and_lengths_are_told_apart,
    what_was_not_asked_for_before_is_there_when_it_is,
    a_strong_read_is_of_now,
    each_subject_reads_for_itself,
)


async def broken_rules() -> list[str]:
    found = []
    for rule in RULES:
        store = CachedStore()
        try:
            await rule(store)
        except (Exception, pytest.fail.Exception) as error:
            found.append(f"{rule.__name__}: {error!r}")
        await store.cache.close()
    return found


async def test_with_every_part_all_answers_are_right() -> None:
    assert await broken_rules() == []


@pytest.mark.parametrize("part", ReadKey._fields)
async def test_without_any_one_part_some_answer_is_wrong(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("item_read", "page_read"):
        monkeypatch.setattr(module, name, without(part, getattr(module, name)))
    assert await broken_rules()


async def test_a_key_is_a_tuple_of_parts_and_no_text(store: CachedStore) -> None:
    store.put("t")
    await store.rank("t")
    segment = store.cache._segments.find(ACME)
    assert segment is not None
    [read] = segment._entries
    assert isinstance(read, tuple)
    assert read.tenant == ACME
    assert read.fingerprint == session().permissions.fingerprint
    assert read.table == ("http://127.0.0.1:8000", "app")
    assert (read.partition, read.sort) == ("TENANT#acme#THING#t", "DETAILS")


# what was prepared for reads of one form


def _options(given: Session, attributes: tuple[str, ...] = ("EntityType", "PK", "SK", "rank")) -> ReadOptions:
    shared = given.permissions.shared
    example = wire.get_item(MODEL.table, TABLE, things("t").keys[0], attributes, strong=False)
    prepared = PreparedReads(shared, shared.prepare("GetItem", example), lambda content: [("typed", content)])
    assert prepared.permission is not None
    return ReadOptions(attributes, False, THINGS, prepared)


async def test_what_is_kept_is_answered_as_typed_rows_to_whom_the_prepared_permission_lets_in(
    store: CachedStore,
) -> None:
    store.put("t")
    own, keys = session(), things("t").keys
    access = Access(own)
    [read] = (await store.table.cached_items(access, keys, _options(own))).values()
    [kept] = (await store.table.cached_items(access, keys, _options(own))).values()
    assert read["rank"] == {"N": "1"}
    assert kept[0] == "typed"
    assert b'"rank":{"N":"1"}' in kept[1]
    assert [call.source for call in access.calls] == ["table", "cache"]
    assert access.calls[0].statements == access.calls[1].statements != ()


async def test_a_prepared_permission_of_other_policies_gives_no_kept_answer(store: CachedStore) -> None:
    """The role may not read `rank`; what was prepared for another role says that it may."""
    store.put("t")
    own, keys = session(), things("t").keys
    await store.table.cached_items(Access(own), keys, _options(own))
    less = replace(own, permissions=session(policy=SUPPORT).permissions)
    prepared = _options(own).prepared
    assert prepared is not None
    assert prepared.statements(own, [keys[0].pk])
    assert prepared.statements(less, [keys[0].pk]) is None, "its keys are their tenant's own, its policies are not"
    with pytest.raises(Forbidden):
        await store.table.cached_items(Access(less), keys, _options(own))


async def test_a_prepared_permission_lets_in_only_the_tenant_of_the_session_s_policies(store: CachedStore) -> None:
    """The same policies, but tagged with another tenant: AWS would refuse the read, so the kept answer is not given."""
    store.put("t")
    own, keys = session(), things("t").keys
    await store.table.cached_items(Access(own), keys, _options(own))
    other = replace(own, permissions=Permissions.of_tenant(own.permissions.shared, GLOBEX))
    refused = Access(other)
    with pytest.raises(Forbidden):
        await store.table.cached_items(refused, keys, _options(own))
    assert refused.calls == []


# what was prepared, asked by subjects of one tenant

_OWNED = "TENANT#${aws:PrincipalTag/TenantId}#THING#${aws:PrincipalTag/Subject}"


async def _item_rank(store: CachedStore, access: Access) -> Any:
    [row] = (await store.table.cached_items(access, things("t").keys, _options(access.session))).values()
    return _rank(row)


async def _page_rank(store: CachedStore, access: Access) -> Any:
    plan, names = listed("thingsByRank", kind="k").groups[0][0], ("EntityType", "GSI2SK", "PK", "SK", "rank")
    shared = access.session.permissions.shared
    example = wire.query(MODEL.table, TABLE, plan, names, plan.limit)
    prepared = PreparedReads(shared, shared.prepare("Query", example), orjson.loads)
    assert prepared.statements(access.session, [plan.partition])
    [row] = await store.table.cached_page(access, plan, ReadOptions(names, False, PAGES, prepared))
    return _rank(row)


def _rank(row: Any) -> str:
    """Of a row as it was read, or as it was kept."""
    found: str = (orjson.loads(row[1])[0] if isinstance(row, tuple) else row)["rank"]["N"]
    return found


_ASK = pytest.mark.parametrize("read_rank", [_item_rank, _page_rank])


async def _asked_in_turn(store: CachedStore, read_rank: Callable[..., Any]) -> list[str]:
    """Ann, Bob and Ann again, by one prepared permission; only the first of them reads what is there first."""
    both, found = session(), []
    for rank, name in enumerate(("ann", "bob", "ann"), 1):
        store.put("t", rank=rank)
        found.append(await read_rank(store, Access(of_subject(both, name))))
    return found


@_ASK
async def test_what_is_kept_for_one_subject_never_reaches_another(
    store: CachedStore, read_rank: Callable[..., Any]
) -> None:
    assert await _asked_in_turn(store, read_rank) == ["1", "2", "1"]


@_ASK
async def test_without_the_subject_in_its_key_it_would(
    store: CachedStore, read_rank: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("item_read", "page_read"):
        monkeypatch.setattr(module, name, without("subject", getattr(module, name)))
    assert await _asked_in_turn(store, read_rank) == ["1", "1", "1"]


@_ASK
async def test_subjects_who_ask_at_one_time_do_not_share_a_read(
    store: CachedStore, read_rank: Callable[..., Any]
) -> None:
    store.put("t")
    both = session()
    found = await asyncio.gather(*(read_rank(store, Access(of_subject(both, name))) for name in ("ann", "bob", "ann")))
    assert found == ["1", "1", "1"]
    assert len(store.calls) == 2


async def test_a_prepared_permission_lets_in_only_the_subject_whose_row_it_is(store: CachedStore) -> None:
    store.put("t")
    condition = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [_OWNED]}, "Null": {PRINCIPAL_SUBJECT: "false"}}
    allow = {"Sid": "Own", "Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", "Condition": condition}
    policy = PolicySet((parse({"Version": "2012-10-17", "Statement": [allow]}, "identity"),))
    nobody, keys = session(policy=policy), things("t").keys
    owner, other = of_subject(nobody, "t"), of_subject(nobody, "u")
    options = _options(nobody)
    assert options.prepared is not None
    assert options.prepared.statements(owner, [keys[0].pk]) == ("identity/Own",)
    await store.table.cached_items(Access(owner), keys, options)
    for each in (other, nobody):
        assert options.prepared.statements(each, [keys[0].pk]) is None
        refused = Access(each)
        with pytest.raises(Forbidden):
            await store.table.cached_items(refused, keys, options)
        assert refused.calls == []
