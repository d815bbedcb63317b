"""What a lane checks of every row, although no function of ours is called for a row that is as it should be."""

from typing import Any

import orjson
import pytest

from gateway.graph.query.lane.texts import ItemTexts
from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.store import wire
from tests.graph.world import IN_LANES, World

USER = ("TENANT#acme#USER#u-1001", "PROFILE")
ORDER = ("TENANT#acme#ORDER#o-1001", "META")
LINES = '{ orders(orderIds: ["o-1001", "o-1002"]) { total lines { quantity title } user { name } } }'


@pytest.fixture
def world() -> World:
    return World(lane_rules=IN_LANES)


def _with(world: World, key: tuple[str, str], **values: Any) -> None:
    world.memory.rows[key] = {**world.memory.rows[key], **values}


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
    ],
)
async def test_a_row_that_is_not_as_declared_steps_back(
    world: World, key: tuple[str, str], values: dict[str, Any], query: str
) -> None:
    _with(world, key, **values)
    await world.post(query)
    assert world.lanes == {"row": 1}


async def test_numbers_in_another_spelling_are_written_as_graphql_core_writes_them(world: World) -> None:
    _with(world, ORDER, total={"N": "1.5E+3"})
    query = '{ order(orderId: "o-1001") { total } }'
    assert await world.ask(query) == {"order": {"total": "1500"}}
    assert world.lanes == {"lane": 1}


@pytest.mark.parametrize("text", ["plain", 'a "quote"', "back\\slash", "line\nfeed", "\x7f", "ö𝄞\u2028", "\u00a0"])
def test_the_text_of_a_read_is_what_the_store_writes(text: str) -> None:
    spec, names = TableSpec(), ("PK", "SK")
    texts = ItemTexts(spec, "app", names, strong=False)
    keys = [ItemKey("TENANT#acme#A", "b"), ItemKey(f"TENANT#acme#{text}", text)]
    batch = wire.batch_get_item("app", [wire.key_of(spec, key) for key in keys], names, False)
    assert texts.batch(keys) == orjson.dumps(batch).decode()
    assert texts.get(*keys[1]) == orjson.dumps(wire.get_item(spec, "app", keys[1], names, False)).decode()
