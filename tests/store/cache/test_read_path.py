"""Every part of a key matters: without any one of them some answer is wrong, or refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import Forbidden, Unavailable
from gateway.store.access import Access
from gateway.store.cache import cache as module
from gateway.store.cache.read_path import ReadKey
from gateway.store.key_ranges import KeyRange
from gateway.store.plan import Range, Window, plan_listing
from tests.store.cache.fixtures import MODEL, NAMES, World, policies, session, things
from tests.store.fixtures import ACME, GLOBEX, NOW

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
}


def without(part: str, made: Callable[..., ReadKey]) -> Callable[..., ReadKey]:
    """The builder of keys, with one part left out."""

    def build(*given: Any) -> ReadKey:
        read = made(*given)
        blank = {**_BLANK, "sort": "" if isinstance(read.sort, str) else KeyRange()}
        return read._replace(**{part: blank[part]})

    return build


async def each_tenant_sees_its_own(world: World) -> None:
    for number, tenant in enumerate((ACME, GLOBEX)):
        world.put("same", tenant, rank=number)
    for _ in range(2):
        assert [await world.rank("same", Access(session(tenant))) for tenant in (ACME, GLOBEX)] == [0, 1]
        assert await world.ranked(Access(session(GLOBEX))) == ["same"]


async def a_role_that_aws_refuses_is_refused(world: World) -> None:
    world.put("secret")
    assert await world.rank("secret") == 1
    viewer = session(role="viewer", policy=policies(sid="TooWide"))
    world.memory.denied.add(viewer.credentials.access_key)
    with pytest.raises(Forbidden):
        await world.rank("secret", Access(viewer))


async def a_tenant_that_moved_sees_its_new_table(world: World) -> None:
    world.put("moved")
    assert await world.rank("moved") == 1
    with pytest.raises(Unavailable):
        await world.rank("moved", Access(session(table="elsewhere")))


async def a_write_is_seen_on_the_pages_of_its_index(world: World) -> None:
    world.put("first", kind="indexed", rank=1)
    assert await world.ranked(kind="indexed") == ["first"]
    writer = world.writer()
    await writer.put_all("Thing", [{"thingId": "second", "kind": "indexed", "at": NOW, "rank": 2}])
    assert await world.ranked(kind="indexed") == ["first", "second"]


async def items_and_partitions_are_told_apart(world: World) -> None:
    for name, rank in (("one", 1), ("two", 2)):
        world.put(name, kind=name, rank=rank)
    for _ in range(2):
        assert [await world.rank(name) for name in ("one", "two")] == [1, 2]
        assert [await world.ranked(kind=name) for name in ("one", "two")] == [["one"], ["two"]]


async def ranges_are_told_apart(world: World) -> None:
    for name, rank in (("low", 1), ("high", 9)):
        world.put(name, kind="ranged", rank=rank)
    for span, names in ((Range(0, 5), ["low"]), (Range(6, 9), ["high"])):
        page = await world.page("thingsByRank", kind="ranged", rank=span)
        assert [item.values["thingId"] for item in page] == names


async def directions_and_lengths_are_told_apart(world: World) -> None:
    for name, rank in (("a", 1), ("b", 2), ("c", 3)):
        world.put(name, kind="ordered", rank=rank)
    windows = (
        (Window(1), ["a"]),
        (Window(1, backward=True), ["c"]),
        (Window(3), ["a", "b", "c"]),
        (Window(2), ["a", "b"]),
    )
    for window, names in windows:
        plan = plan_listing(MODEL, MODEL.listing("thingsByRank"), ACME, {"kind": "ordered"}, window, NAMES)
        page = await world.table.query(Access(session()), plan)
        assert [item.values["thingId"] for item in page.items] == names


async def what_was_not_asked_for_before_is_there_when_it_is(world: World) -> None:
    world.put("wide", rank=5)
    for attributes in (frozenset({"thingId"}), NAMES):
        [item] = await world.table.get(Access(session()), replace(things("wide"), attributes=attributes))
        assert item is not None
        assert set(item.values) == attributes - {"word"}


async def a_strong_read_is_of_now(world: World) -> None:
    world.put("fresh", rank=1)
    assert await world.rank("fresh") == 1
    world.put("fresh", rank=2)
    [item] = await world.things("fresh", pattern="freshThing")
    assert item is not None
    assert item.values["rank"] == 2


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
)


async def broken_rules() -> list[str]:
    found = []
    for rule in RULES:
        world = World()
        try:
            await rule(world)
        except (Exception, pytest.fail.Exception) as error:
            found.append(f"{rule.__name__}: {error!r}")
        await world.cache.close()
    return found


async def test_with_every_part_all_answers_are_right() -> None:
    assert await broken_rules() == []


@pytest.mark.parametrize("part", ReadKey._fields)
async def test_without_any_one_part_some_answer_is_wrong(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("item_read", "page_read"):
        monkeypatch.setattr(module, name, without(part, getattr(module, name)))
    assert await broken_rules()


async def test_a_key_is_a_tuple_of_parts_and_no_text(world: World) -> None:
    world.put("t")
    await world.rank("t")
    segment = world.cache._keeper._segments.find(ACME)
    assert segment is not None
    [read] = segment._entries
    assert isinstance(read, tuple)
    assert read.tenant == ACME
    assert read.fingerprint == session().permissions.fingerprint
    assert read.table == ("http://127.0.0.1:8000", "app")
    assert (read.partition, read.sort) == ("TENANT#acme#THING#t", "DETAILS")
