"""Large answers are completed in pieces, requests in turn, and their reads stay in one batch."""

import asyncio
from collections import Counter

from gateway.graph.query.lane.lane import LaneRules
from gateway.graph.query.reference.pieces import AT_ONCE, PIECE, PieceLoader, Pieces
from gateway.pacer import Pacer
from tests.graph.fixtures import MemoryEndpoint

NO_LANES = LaneRules(uses=1_000)
SIZES = range(5, 30)


async def test_requests_take_turns() -> None:
    pacer, done = Pacer(), list[str]()
    first, second = Pieces(pacer, "first"), Pieces(pacer, "second")

    async def complete(name: str, pieces: Pieces) -> None:
        for _ in range(3):
            await pieces.turn(PIECE)
            done.append(name)

    await asyncio.gather(complete("first", first), complete("second", second))
    assert done == ["first", "second"] * 3


async def test_one_turn_of_the_loop_completes_one_piece() -> None:
    pieces = Pieces(Pacer(), "acme")
    turns = [pieces.turn(1) for _ in range(PIECE + 5)]
    await asyncio.sleep(0)
    assert sum(turn.done() for turn in turns) == PIECE
    await asyncio.wait_for(asyncio.gather(*turns), 10)


async def test_a_caller_that_was_cancelled_takes_no_turn() -> None:
    pieces = Pieces(Pacer(), "acme")
    left, stays = pieces.turn(PIECE), pieces.turn(PIECE)
    left.cancel()
    await asyncio.sleep(0)
    assert stays.done()


async def test_a_loader_does_not_wait_for_a_part_that_was_dropped() -> None:
    """graphql-core drops coroutines that it has not started when a sibling fails; they never settle."""
    pieces = Pieces(Pacer(), "acme")
    loader = PieceLoader(_same, pieces)
    pieces.begin()
    assert await asyncio.wait_for(loader.load(1), 10) == 1
    pieces.begin()
    assert await asyncio.wait_for(loader.load(2), 10) == 2


async def test_a_loader_waits_for_a_part_that_starts_some_turns_later() -> None:
    pieces, batches = Pieces(Pacer(), "acme"), list[list[int]]()

    async def load(keys: list[int]) -> list[int]:
        batches.append(keys)
        return keys

    loader = PieceLoader(load, pieces)
    pieces.begin()
    early = loader.load(1)
    for _ in range(20):
        await asyncio.sleep(0)
    await pieces.turn(1)
    late = loader.load(2)
    pieces.settle()
    assert [await early, await late] == [1, 2]
    assert batches == [[1, 2]]


async def _same(keys: list[int]) -> list[int]:
    return keys


async def test_a_loader_waits_for_what_is_completed_later() -> None:
    pieces, batches = Pieces(Pacer(), "acme"), list[list[int]]()

    async def load(keys: list[int]) -> list[int]:
        batches.append(keys)
        return keys

    loader = PieceLoader(load, pieces)

    async def completed_later(number: int) -> int:
        pieces.begin()
        await pieces.turn(PIECE)
        pieces.settle()
        return await loader.load(number)

    at_once = loader.load(100)
    assert await asyncio.gather(*map(completed_later, range(5))) == [0, 1, 2, 3, 4]
    assert await at_once == 100
    assert batches == [[100, 0, 1, 2, 3, 4]]


async def test_an_answer_in_pieces_makes_as_many_calls_as_one_at_once() -> None:
    api = MemoryEndpoint(lane_rules=NO_LANES)
    pages = " ".join(f"p{size}: reviewQueue(first: {size}) {{ nodes {{ user {{ name }} }} }}" for size in SIZES)
    answer = await api.ask(f"{{ {pages} }}")
    users = [node["user"]["name"] for page in answer.values() for node in page["nodes"]]
    assert len(users) > 2 * AT_ONCE
    # a Query for each page, and one read of the users for all of them
    assert Counter(api.calls) == {"Query": len(SIZES), "BatchGetItem": 1}


async def test_a_failed_object_of_a_list_in_pieces_fails_alone() -> None:
    api = MemoryEndpoint(lane_rules=NO_LANES)
    pages = " ".join(f"p{size}: reviewQueue(first: {size}) {{ nodes {{ orderId user {{ name }} }} }}" for size in SIZES)
    answer = (await api.post(f"{{ {pages} }}", token="acme/support")).json()
    nodes = [node for page in answer["data"].values() for node in page["nodes"]]
    assert all(node["orderId"] and node["user"] == {"name": None} for node in nodes)
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
