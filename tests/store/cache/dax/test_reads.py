"""Amazon's own client against a node in this process: what goes through it, what never does, and what comes back."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.aws.sts.reader_role import in_role
from gateway.aws.wire.errors import AccessDenied
from gateway.errors import Forbidden, IsolationBreach
from gateway.model.tenant import tenant_id
from gateway.model.types import Wire
from gateway.store.access import Access
from gateway.store.cache.dax.breaker import BreakerRules
from gateway.store.cache.dax.cluster import DaxRules
from gateway.store.cache.dax.reads import Ages, Clusters
from gateway.store.cache.read_path import ReadOptions, Via
from gateway.store.plan import GetItems, QueryPartition
from gateway.store.write.writer import MutationResult
from tests.aws.sts.test_reader_role import ASSUMED, ROLE, answer, gateway
from tests.store.cache.dax.conftest import RULES, DaxStore, cluster_at
from tests.store.cache.dax.server import DaxNode, Trouble
from tests.store.cache.fixtures import SUPPORT, THING, THINGS, listed, session, things
from tests.store.fixtures import ACME, GLOBEX, NOW, tenancy

# the client uses datetime.utcfromtimestamp, which newer Pythons warn about
pytestmark = pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")


def sources(access: Access) -> list[str]:
    return [call.source for call in access.calls]


async def test_an_item_comes_through_the_cluster_as_it_would_from_the_table(dax: DaxStore, node: DaxNode) -> None:
    values: dict[str, Any] = {
        "weight": Decimal("1.25"),
        "open": True,
        "words": {"a", "b"},
        "numbers": {Decimal(1), Decimal("2.5")},
    }
    size = {"width": Decimal(3), "marks": [{"at": NOW}]}
    dax.put("t", seal=b"\x00\xff", size=size, rank=-0, **values)
    plan = GetItems(ACME, "Thing", things("t").keys, frozenset(THING.attribute))
    access = Access(session())
    [through] = await dax.table.get(access, plan)
    [direct] = await dax.table.get(Access(session()), GetItems(ACME, "Thing", plan.keys, plan.attributes, strong=True))
    assert through == direct
    assert sources(access) == ["dax"]
    assert (access.calls[0].capacity, access.calls[0].items, access.calls[0].operation) == (0.5, 1, "GetItem")
    assert node.signed_by == {"AKIDGATEWAY"}, "with the credentials of the process, not of the tenant"


async def test_many_items_and_pages_come_through_the_cluster(dax: DaxStore, node: DaxNode) -> None:
    names = [f"t{number}" for number in range(9)]  # some in each shard
    for number, name in enumerate(names):
        dax.put(name, rank=number, at=NOW - timedelta(minutes=number))
    dax.tag("x")
    access = Access(session())
    found = await dax.things("t3", "t1", access=access)
    assert [item and item.values["rank"] for item in found] == [3, 1]
    assert await dax.ranked(access) == names
    newest = await dax.page("thingsOfKind", access=access, kind="k")
    assert [item.values["thingId"] for item in newest] == names
    assert len(await dax.page("looseTags", access=access, thingId="t")) == 1
    assert set(sources(access)) == {"dax"}
    assert node.calls == {"BatchGetItem": 1, "Query": 5}
    assert dax.calls == []
    assert node.strong == [False] * 6


@pytest.mark.parametrize("listing", ["thingsByRank", "looseTags"])
async def test_pages_are_followed_through_the_cluster(dax: DaxStore, node: DaxNode, listing: str) -> None:
    for number in range(4):
        dax.put(f"t{number}", rank=number)
        dax.tag(f"w{number}")
    dax.memory.page_bytes = 1
    given: dict[str, Any] = {"kind": "k"} if listing == "thingsByRank" else {"thingId": "t"}
    assert len(await dax.page(listing, limit=3, **given)) == 3
    assert node.calls["Query"] == 4
    assert dax.calls == []


async def test_strong_reads_and_mutations_never_go_through_it(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    await dax.things("t", pattern="freshThing")
    writer = dax.writer()
    change = writer.change()
    await writer.commit(change, MutationResult(change.create("Thing", {"thingId": "u", "kind": "k", "at": NOW})))
    await dax.update("t", rank=2)
    await writer.listed("thingsByRank", {"kind": "k"})
    await writer.peek("Thing", {"thingId": "t"}, "rank")
    assert node.calls == {}


async def test_a_role_with_rules_on_attributes_never_goes_through_it(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    access = Access(session(role="support", policy=SUPPORT))
    plan = GetItems(ACME, "Thing", things("t").keys, frozenset({"thingId"}))
    [item] = await dax.table.get(access, plan)
    assert item is not None
    assert sources(access) == ["table"]
    assert node.calls == {}
    assert dax.reads.stats().groups["all"].passed == 1


async def test_a_table_that_the_policies_do_not_know_never_goes_through_it(dax: DaxStore, node: DaxNode) -> None:
    known = session()
    with pytest.raises(Forbidden):
        await dax.rank("t", Access(replace(known, tenancy=tenancy(table="elsewhere"))))
    assert node.calls == {}


async def test_what_declares_nothing_or_too_little_never_goes_through_it(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    await dax.page("tagsOfThing", thingId="t")
    dax.reads.ages = Ages(items=101, pages=40)
    await dax.rank("t")
    assert node.calls == {}
    assert dax.calls == ["Query", "GetItem"]


async def test_a_tenant_without_a_cluster_reads_the_table(dax: DaxStore, node: DaxNode) -> None:
    dax.reads._clusters = Clusters(silos={ACME: dax.reads._clusters.pooled})
    for tenant in (ACME, GLOBEX):
        dax.put("t", tenant)
    own, other = Access(session(ACME)), Access(session(GLOBEX))
    assert (await dax.rank("t", own), await dax.rank("t", other)) == (1, 1)
    assert (sources(own), sources(other)) == (["dax"], ["table"])


async def test_a_silo_without_a_cluster_does_not_use_that_of_the_pool(dax: DaxStore, node: DaxNode) -> None:
    dax.reads._clusters = Clusters(dax.reads._clusters.pooled, {GLOBEX: None})
    dax.put("t", GLOBEX)
    await dax.rank("t", Access(session(GLOBEX)))
    assert node.calls == {}


async def test_every_request_is_authorised_first(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    locked_out = Access(session(of=GLOBEX))
    for read in (dax.rank("t", locked_out), dax.things("t", "u", access=locked_out), dax.ranked(locked_out)):
        with pytest.raises(Forbidden):
            await read
    assert node.calls == {}
    assert dax.reads.stats().clusters == {"pooled": "closed"}


@pytest.mark.parametrize("listing", ["thingsByRank", "looseTags"])
async def test_every_row_is_checked_after(dax: DaxStore, node: DaxNode, listing: str) -> None:
    dax.put("t")
    dax.tag("x")
    node.trouble = "foreign row"
    with pytest.raises(IsolationBreach):
        await dax.rank("t")
    with pytest.raises(IsolationBreach):
        await dax.things("t", "u")
    if listing == "thingsByRank":
        # through an index it may be one that another tenant put there
        assert await dax.ranked() == ["t"]
        assert dax.table.foreign_rows == 1
    else:
        with pytest.raises(IsolationBreach):
            await dax.page(listing, thingId="t")


async def test_a_foreign_row_does_not_get_as_far_as_the_table(dax: DaxStore) -> None:
    """The table checks every row too; here it is not asked."""
    [[query]] = listed("thingsByRank", kind="k").groups
    foreign = {"PK": {"S": "TENANT#globex#THING#t"}, "SK": {"S": "DETAILS"}}

    async def read(access: Access, plan: QueryPartition, *, via: Via | None = None) -> list[Wire]:
        return [foreign]

    with pytest.raises(IsolationBreach):
        await dax.reads.page(Access(session()), query, ReadOptions((), False, THINGS), read)


async def test_an_item_of_the_tenant_that_was_not_asked_for_is_refused(
    dax: DaxStore, node: DaxNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    dax.put("t")
    dax.put("u")
    dax.tag("x")
    other = {"S": "TENANT#acme#THING#u"}
    monkeypatch.setattr("tests.store.cache.dax.server._Connection._foreign", lambda self, row: {**row, "PK": other})
    with pytest.raises(IsolationBreach):
        await dax.rank("t")
    with pytest.raises(IsolationBreach):
        await dax.things("t", "v")
    with pytest.raises(IsolationBreach):
        await dax.page("looseTags", thingId="t")


async def test_absence_is_asked_of_the_table_where_it_may_not_be_that_old(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    access = Access(session())
    assert await dax.things("t", "nothing", access=access) == [await dax_item(dax, "t"), None]
    assert sources(access) == ["dax", "table"]
    assert await dax.ranked(kind="empty") == []
    assert dax.calls == ["GetItem", "Query"]


async def dax_item(dax: DaxStore, name: str) -> object:
    [item] = await dax.things(name)
    return item


async def test_what_this_process_wrote_is_read_from_the_table_until_the_cluster_forgets_it(
    dax: DaxStore, node: DaxNode
) -> None:
    for name in ("t", "u"):
        dax.put(name, rank=1)
    await dax.update("t", rank=2)
    dax.memory.sent.clear()
    assert await dax.rank("t") == 2
    assert await dax.rank("u") == 1
    assert await dax.things("t", "u")
    assert await dax.ranked() == ["u", "t"]
    assert dax.calls == ["GetItem", "BatchGetItem", "Query"]
    assert node.calls == {"GetItem": 1}
    dax.clock.now += 61
    assert await dax.rank("t") == 2
    assert node.calls == {"GetItem": 2}


async def test_a_page_that_holds_what_was_written_is_read_from_the_table(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    key = {"PK": {"S": "TENANT#acme#THING#t"}, "SK": {"S": "DETAILS"}}
    with dax.reads.writing(session(), "DeleteItem", {"Key": key}):
        pass  # where it was before, the request does not tell
    assert await dax.ranked() == ["t"]
    assert node.calls == {"Query": 1}
    assert dax.calls == ["Query"]


async def test_a_write_that_was_refused_changes_nothing(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    with pytest.raises(AccessDenied), dax.reads.writing(session(), "PutItem", {}):
        raise AccessDenied("no")
    assert await dax.rank("t") == 1
    assert node.calls == {"GetItem": 1}


@pytest.mark.parametrize("trouble", ["error", "silence", "hang up"])
async def test_where_the_cluster_fails_the_table_answers_and_after_a_while_the_cluster_again(
    hasty: DaxStore, node: DaxNode, trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gateway.dax")
    before = hasty.reads.stats().groups["all"]
    node.trouble = trouble
    for _ in range(4):
        access = Access(session())
        assert await hasty.rank("t", access) == 1
        assert sources(access) == ["table"]
    stats = hasty.reads.stats()
    after = stats.groups["all"]
    assert after.failed - before.failed >= 2
    assert after.failed + after.avoided - before.failed - before.avoided == 4
    assert stats.clusters["pooled"] != "closed"
    node.trouble = None
    node.spoken.set()
    await hasty.answered()
    assert hasty.reads.stats().clusters == {"pooled": "closed"}
    assert hasty.reads.stats().groups["all"].answered == before.answered + 1
    assert any("the table is asked instead" in record.getMessage() for record in caplog.records)


async def test_a_cluster_that_failed_several_times_is_left_alone_for_a_while(node: DaxNode) -> None:
    store = DaxStore(Clusters(cluster_at(node.endpoint, replace(RULES, breaker=BreakerRules(failures=2, pause=600)))))
    node.memory = store.memory
    node.trouble = "error"
    store.put("t")
    assert [await store.rank("t") for _ in range(5)] == [1] * 5
    counts = store.reads.stats().groups["all"]
    assert (counts.failed, counts.avoided) == (2, 3)
    assert store.calls == ["GetItem"] * 5
    await store.reads.close()


async def test_pages_are_answered_by_the_table_too(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    node.trouble = "error"
    assert await dax.ranked() == ["t"]
    assert dax.calls == ["Query"]


async def test_a_cluster_that_is_not_there_at_the_start_is_used_when_it_comes(node: DaxNode) -> None:
    store = DaxStore(Clusters(cluster_at("dax://127.0.0.1:1")))
    node.memory = store.memory
    store.put("t")
    assert [await store.rank("t") for _ in range(3)] == [1, 1, 1]
    assert store.calls == ["GetItem"] * 3
    pooled, there = store.reads._clusters.pooled, cluster_at(node.endpoint)
    assert pooled is not None
    pooled._connect = there._connect
    await store.answered()
    assert node.calls == {"GetItem": 1}
    await store.reads.close()
    await there.close()


async def test_more_requests_than_threads_read_the_table(node: DaxNode) -> None:
    store = DaxStore(Clusters(cluster_at(node.endpoint, DaxRules(threads=1, seconds=10))))
    node.memory = store.memory
    store.put("t")
    await store.answered()
    node.trouble = "silence"
    reads = [asyncio.create_task(store.rank("t")) for _ in range(3)]
    done, _ = await asyncio.wait(reads, return_when=asyncio.FIRST_COMPLETED)
    assert len(done) >= 1
    while len(done) < 2:
        done, _ = await asyncio.wait(reads, timeout=0.01)
    node.spoken.set()
    assert await asyncio.gather(*reads) == [1, 1, 1]
    counts = store.reads.stats().groups["all"]
    assert (counts.avoided, counts.failed) == (2, 0)
    assert store.reads.stats().clusters == {"pooled": "closed"}
    await store.reads.close()


async def test_a_cancelled_request_says_nothing_about_the_cluster(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    await dax.answered()
    node.trouble = "silence"
    for _ in range(3):
        read = asyncio.create_task(dax.rank("t"))
        await asyncio.sleep(0.01)
        read.cancel()
        await asyncio.gather(read, return_exceptions=True)
    assert dax.reads.stats().clusters == {"pooled": "closed"}
    node.spoken.set()


async def test_the_deadline_of_the_request_counts(dax: DaxStore, node: DaxNode) -> None:
    dax.put("t")
    await dax.answered()
    node.trouble = "silence"
    deadline = asyncio.get_running_loop().time() + 0.03
    assert await dax.rank("t", Access(session(), deadline)) == 1
    assert dax.calls == ["GetItem"]
    node.spoken.set()


def test_a_cluster_that_several_use_is_one() -> None:
    one = cluster_at("dax://127.0.0.1:1")
    assert Clusters(one, {tenant_id("aa"): one, tenant_id("bb"): None}).all() == (one,)


async def test_amazons_client_signs_in_the_role_that_the_gateway_assumes_for_the_cluster(node: DaxNode) -> None:
    own, wire = gateway(answer(ASSUMED))
    store = DaxStore(Clusters(cluster_at(node.endpoint, aws=in_role(own, ROLE, "eu-west-1"))))
    node.memory = store.memory
    store.put("t")
    await store.answered()
    await store.reads.close()
    assert node.signed_by == {"ASIAACME"}
    assert len(wire.sent) == 1
