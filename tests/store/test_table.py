"""The table sends what the policies allow, with the tenant's session, and never hands out somebody else's row."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import orjson
import pytest

from gateway.aws.sts.session import Session
from gateway.aws.wire.errors import AccessDenied, AwsFailure, AwsUnavailable, CredentialsExpired
from gateway.errors import Forbidden, Internal, IsolationBreach, Unavailable
from gateway.graph.http.log_lines import JsonLines
from gateway.model.keys import ItemKey
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.plan import Window
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.testing.memory import Answer, Memory
from tests.store.fixtures import ACME, GLOBEX, MODEL, NOW, renamed, session, tenancy
from tests.store.things import ids, listing, lookup, thing


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


async def test_an_answer_without_its_rows_is_not_taken_for_no_rows(
    memory: Memory, table: Table, access: Access
) -> None:
    memory.put([*thing("a"), *thing("b", minutes=1)])
    memory.always = {"BatchGetItem": lambda answer: {}, "Query": lambda answer: {}}
    with pytest.raises(Unavailable, match="incomplete"):
        await table.get(access, lookup("a", "b"))
    with pytest.raises(Unavailable, match="incomplete"):
        await table.query(access, listing("thingsByRank", Window(5), kind="k"))


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
        self.renewed: list[Session] = []

    async def __call__(self, refused: Session) -> Session:
        self.renewed.append(refused)
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
    assert renewals.renewed == [old]
    assert access.session.credentials.access_key == "AKIDFRESH"


async def test_calls_side_by_side_share_one_renewal(memory: Memory, access: Access) -> None:
    names = [f"t{number}" for number in range(250)]
    for name in names:
        memory.put(thing(name))
    memory.revoked.add("AKIDEXAMPLE")
    table, renewals = renewing(memory, renamed(access.session, "AKIDFRESH"))
    assert ids(await table.get(access, lookup(*names))) == names
    assert len(renewals.renewed) == 1


async def test_a_session_that_is_refused_again_is_not_renewed_for_ever(memory: Memory, access: Access) -> None:
    memory.revoked |= {"AKIDEXAMPLE", "AKIDFRESH"}
    table, renewals = renewing(memory, renamed(access.session, "AKIDFRESH"))
    with pytest.raises(CredentialsExpired):
        await table.get(access, lookup("a"))
    assert len(renewals.renewed) == 1
    assert len(memory.sent) == 2


async def test_what_a_lane_sends_is_sent_again_once_with_a_renewed_session(memory: Memory, access: Access) -> None:
    memory.revoked.add("AKIDEXAMPLE")
    table, renewals = renewing(memory, renamed(access.session, "AKIDFRESH"))
    body = wire.get_item(MODEL.table, access.session.tenancy.table, ItemKey("TENANT#acme#A", "B"), ("PK",), False)
    content = orjson.dumps(body)
    answer = await table.exchange(access, "GetItem", content)
    assert (len(renewals.renewed), len(memory.sent)) == (1, 2)
    assert access.replay == [("GetItem", content, answer)]
    access.replay.clear()
    memory.revoked.add("AKIDFRESH")
    with pytest.raises(CredentialsExpired) as refused:
        await table.exchange(access, "GetItem", content)
    assert access.replay == [("GetItem", content, refused.value)], "the reference does not ask for it again"


async def test_reads_by_the_code_of_a_lane_are_kept_for_the_reference_executor(
    memory: Memory, table: Table, access: Access
) -> None:
    memory.put(thing("a"))
    access.code_reads = True
    for _ in range(2):
        assert ids(await table.get(access, lookup("a"))) == ["a"]
    assert len(memory.sent) == 1
    access.code_reads = False  # the lane has fallen back
    assert ids(await table.get(access, lookup("a"))) == ["a"]
    assert len(memory.sent) == 1
    assert ids(await table.get(access, lookup("a"))) == ["a"]
    assert len(memory.sent) == 2, "a kept response is used once"


async def test_a_failed_read_by_the_code_of_a_lane_is_not_repeated(
    memory: Memory, table: Table, access: Access
) -> None:
    access.code_reads = True
    memory.script["GetItem"].append(AwsUnavailable("the database is not available"))
    for _ in range(2):
        with pytest.raises(AwsUnavailable):
            await table.get(access, lookup("a"))
    assert len(memory.sent) == 1


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
    memory.script["GetItem"].append(AwsUnavailable("the database is not available"))
    with pytest.raises(AwsUnavailable):
        await table.get(access, lookup("a"))
    assert len(memory.sent) == 1


async def test_what_aws_denies_although_the_policies_allow_it_is_reported_for_the_alarm(
    memory: Memory, table: Table, access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    said = AwsFailure("AccessDeniedException", "User: arn:aws:sts::123456789012:… is not authorized", "REQUEST")
    memory.script["GetItem"].append(AccessDenied("aws refuses this action", said=said))
    with pytest.raises(AccessDenied):
        await table.get(access, lookup("a"))
    [line] = [record for record in caplog.records if record.name == "gateway.denied_by_aws"]
    assert line.fields == {  # type: ignore[attr-defined]  # what JsonLines writes
        "tenant": ACME,
        "role": access.session.role,
        "dynamodb_operation": "GetItem",
        "aws_code": "AccessDeniedException",
        "aws_request_id": "REQUEST",
    }
    # a denial of our own is no difference between the two
    caplog.clear()
    access.session = replace(access.session, permissions=session(GLOBEX).permissions)
    with pytest.raises(Forbidden):
        await table.get(access, lookup("a"))
    assert not [record for record in caplog.records if record.name == "gateway.denied_by_aws"]


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
    page = await table.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert ids([*page.items]) == ["a"]


async def test_a_foreign_row_from_an_index_is_counted_and_reported_without_its_content(
    memory: Memory, table: Table, access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    [own], [foreign] = thing("a"), thing("secret-of-globex", GLOBEX)
    memory.put([own, {**foreign, "GSI1PK": own["GSI1PK"]}])
    await table.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert table.foreign_rows == 1
    [line] = [JsonLines().format(record) for record in caplog.records if record.name == "gateway.isolation"]
    record = json.loads(line)
    assert (record["level"], record["event"], record["tenant"]) == ("ERROR", "foreign_row", ACME)
    assert (record["owners"], record["index"]) == ([GLOBEX], "GSI1")
    assert "secret-of-globex" not in line


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_foreign_rows_do_not_make_a_page_short(memory: Memory, table: Table, access: Access, limit: int) -> None:
    own = [row for number in range(5) for row in thing(f"b{number}", minutes=1 + number)]
    foreign = [row for number in range(7) for row in thing(f"a{number}", GLOBEX)]
    memory.put([*own, *({**row, "GSI2PK": own[0]["GSI2PK"]} for row in foreign)])
    page = await table.query(access, listing("thingsByRank", Window(limit), kind="k"))
    assert ids([*page.items]) == [f"b{number}" for number in range(limit)]
    assert page.more is (limit < 5)


@pytest.mark.parametrize(
    "partition",
    [{"S": "THING#t"}, {"S": "TENANT#"}, {"S": "tenant#globex#THING#t"}, {"B": "VEVOQU5UI2dsb2JleCM="}, None],
    ids=repr,
)
async def test_a_row_from_an_index_that_is_nobodys_stays_an_error(
    memory: Memory, table: Table, access: Access, partition: dict[str, str] | None
) -> None:
    [row] = thing("a")
    row = {**row, "PK": partition} if partition else {name: value for name, value in row.items() if name != "PK"}
    memory.always["Query"] = lambda answer: {**answer, "Items": [row]}
    with pytest.raises(IsolationBreach):
        await table.query(access, listing("thingsByRank", Window(5), kind="k"))


async def test_a_foreign_row_from_a_partition_of_the_table_stays_an_error(
    memory: Memory, table: Table, access: Access
) -> None:
    """There nobody but AWS or a bug could have put it."""
    [foreign] = thing("b", GLOBEX)
    memory.always["Query"] = lambda answer: {**answer, "Items": [foreign]}
    with pytest.raises(IsolationBreach):
        await table.query(access, listing("tagsOfThing", Window(5), thingId="a"))
    assert table.foreign_rows == 0


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


async def test_a_request_that_is_cancelled_leaves_no_call_running(memory: Memory, table: Table, access: Access) -> None:
    task = asyncio.ensure_future(table.query(access, listing("thingsOfKind", Window(5), kind="k")))
    while memory.running < 3:  # noqa: ASYNC110  it takes a few turns of the loop and no time
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert memory.running == 0
