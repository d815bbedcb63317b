"""A caller who leaves: what was only read for it ends, what it wanted changed is changed."""

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from gateway.graph.http.disconnect import ended_when_left, tell
from tests.graph.http.test_cancellation import OPERATIONS, Stuck
from tests.graph.world import World

CHANGE = OPERATIONS["a change"]
QUERIES = [query for query in OPERATIONS.values() if query != CHANGE]


def _request(query: str) -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps({"query": query}).encode(), "more_body": False}

    headers = [(b"authorization", b"Bearer acme/admin"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
    return Request(scope, receive)


async def _asked(world: World, query: str, stuck: Stuck) -> tuple[Request, asyncio.Task[Response]]:
    world.memory.call = stuck.call  # type: ignore[method-assign]
    request = _request(query)
    answer = asyncio.ensure_future(world.endpoint(request))
    await asyncio.wait_for(stuck.begun.wait(), 30)
    return request, answer


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_ends_with_all_that_runs_below_it(world: World, query: str) -> None:
    stuck = Stuck()
    request, answer = await _asked(world, query, stuck)
    tell(request.scope)
    response = await asyncio.wait_for(answer, 30)
    assert b"the caller left" in response.body
    await asyncio.wait_for(stuck.all_ended.wait(), 30)
    assert not answer.cancelled()


async def test_a_change_goes_on(world: World) -> None:
    stuck = Stuck()
    request, answer = await _asked(world, CHANGE, stuck)
    tell(request.scope)
    for _ in range(20):
        await asyncio.sleep(0)
    assert stuck.running == 1
    assert not answer.done()
    answer.cancel()
    await asyncio.wait([answer])


async def test_who_ends_the_task_for_other_reasons_ends_it() -> None:
    async def waiting() -> None:
        with ended_when_left({}):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(waiting())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
