"""What a lane checks of every row, although no function of ours is called for a row that is as it should be."""

from typing import Any

import orjson
import pytest

from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.lane.items import ItemTexts
from gateway.graph.query.lane.request import LaneRequest
from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.store import wire
from gateway.store.access import Access
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers

USER = ("TENANT#acme#USER#u-1001", "PROFILE")
ORDER = ("TENANT#acme#ORDER#o-1001", "META")
REVIEW = "TENANT#acme#REVIEW"
LINES = '{ orders(orderIds: ["o-1001", "o-1002"]) { total lines { quantity title } user { name } } }'


def _with(api: MemoryEndpoint, key: tuple[str, str], **values: Any) -> None:
    api.memory.rows[key] = {**api.memory.rows[key], **values}


@pytest.mark.parametrize(
    ("key", "values", "query"),
    [
        (ORDER, {"userId": {"S": "u-1001#x"}}, LINES),  # INVARIANT: no row writes a key of another form
        (ORDER, {"userId": {"S": "u-1001\n"}}, LINES),
        (ORDER, {"productIds": {"L": [{"S": "p-1001"}, {"S": "p#1002"}]}}, LINES),
        (ORDER, {"productIds": {"L": [{"N": "1"}]}}, LINES),
        (ORDER, {"total": {"N": "1\n2"}}, LINES),
        (ORDER, {"total": {"N": ""}}, LINES),
        (USER, {"createdAt": {"S": "2026-01-31T10:00:00+02:00"}}, '{ user(userId: "u-1001") { createdAt } }'),
        (USER, {"version": {"N": "1.5"}}, '{ user(userId: "u-1001") { version } }'),
        (USER, {"version": {"N": "2147483648"}}, '{ user(userId: "u-1001") { version } }'),
    ],
)
async def test_a_row_that_is_not_as_declared_steps_back(
    api: MemoryEndpoint, key: tuple[str, str], values: dict[str, Any], query: str
) -> None:
    _with(api, key, **values)
    await api.post(query)
    assert api.lanes == {"row": 1}


async def test_numbers_in_another_spelling_are_written_as_graphql_core_writes_them(api: MemoryEndpoint) -> None:
    _with(api, ORDER, total={"N": "1.5E+3"})
    query = '{ order(orderId: "o-1001") { total } }'
    assert await api.ask(query) == {"order": {"total": "1500.00"}}
    assert api.lanes == {"lane": 1}


@pytest.mark.parametrize("text", ["plain", 'a "quote"', "back\\slash", "line\nfeed", "\x7f", "ö𝄞\u2028", "\u00a0"])
def test_the_text_of_a_read_is_what_the_store_writes(text: str) -> None:
    spec, names = TableSpec(), ("PK", "SK")
    texts = ItemTexts(spec, "app", names, strong=False)
    keys = [ItemKey("TENANT#acme#A", "b"), ItemKey(f"TENANT#acme#{text}", text)]
    batch = wire.batch_get_item("app", [wire.key_of(spec, key) for key in keys], names, False)
    assert texts.batch(keys) == orjson.dumps(batch).decode()
    assert texts.get(*keys[1]) == orjson.dumps(wire.get_item(spec, "app", keys[1], names, False)).decode()


async def test_a_row_with_an_expiry_that_its_type_does_not_have_steps_back(api: MemoryEndpoint) -> None:
    _with(api, USER, ttl={"N": "1"})
    await api.post('{ user(userId: "u-1001") { name } }')
    assert api.lanes == {"expiry": 1}


async def test_the_row_that_only_shows_a_next_page_is_checked_too(api: MemoryEndpoint) -> None:
    """INVARIANT: every row is of the tenant, also one that is not shown: or `hasNextPage` would tell of it."""
    first, second = [row for row in api.memory.rows.values() if row.get("GSI3PK", {}).get("S") == REVIEW][:2]
    foreign = {**first, "PK": {"S": "TENANT#globex#ORDER#o-1"}, "GSI3SK": {"S": "9"}}
    listed = {key: row for key, row in api.memory.rows.items() if row.get("GSI3PK", {}).get("S") != REVIEW}
    api.memory.rows.clear()
    api.memory.rows.update({**listed, ("1", "1"): foreign, ("2", "2"): {**second, "GSI3SK": {"S": "0"}}})
    query = "{ reviewQueue(first: 1) { nodes { orderId } pageInfo { hasNextPage } } }"
    answer = (await api.post(query)).json()
    assert answer["data"]["reviewQueue"]["pageInfo"]["hasNextPage"] is False
    assert api.lanes == {"foreign_row": 1}


async def test_a_call_with_a_foreign_key_is_not_sent(api: MemoryEndpoint) -> None:
    """INVARIANT: what is prepared is asked of the text as it is sent."""
    lanes, reference = api.endpoint.lanes, api.endpoint.reference
    operation = api.endpoint.documents.get('{ user(userId: "u-1001") { name } }').operation(None)
    assert operation is not None
    access = Access((await TrustingCallers().open(b"Bearer acme/viewer", lambda _: None)).session)
    read = lanes.make(operation.variant({}).tree, access).roots[0].read  # type: ignore[attr-defined]  # a lookup
    request = LaneRequest(access, {}, reference.table, reference.cursors, reference.limits)
    assert (await request.call(read._get, read._texts.get(*USER), 1)).Item is not None
    api.memory.sent.clear()
    foreign = read._texts.get("TENANT#globex#USER#u-1001", "PROFILE")
    with pytest.raises(FallBack) as stepped:
        await request.call(read._get, foreign, 1)
    assert stepped.value.reason is Reason.REFUSED
    assert not api.memory.sent
