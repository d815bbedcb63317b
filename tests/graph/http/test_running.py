"""A caller who leaves: what was only read for it ends, what it wanted changed is changed."""

import asyncio
import json
from typing import Any

import pytest

from gateway.graph.http.running import DISCONNECT, RunningRequests, notify_disconnect
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_cancellation import OPERATIONS, Stuck

CHANGE = OPERATIONS["a change"]
QUERIES = [query for query in OPERATIONS.values() if query != CHANGE]


class Running:
    """One request, with what was sent back for it."""

    def __init__(self, api: MemoryEndpoint, query: str) -> None:
        headers = [(b"authorization", b"Bearer acme/admin"), (b"content-type", b"application/json")]
        self.body = json.dumps({"query": query}).encode()
        self.sent: list[Any] = []
        self.scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/graphql", "headers": headers}
        self.answer = asyncio.ensure_future(api.endpoint(self.scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)


async def _running(api: MemoryEndpoint, query: str, stuck: Stuck) -> Running:
    api.memory.call = stuck.call  # type: ignore[method-assign]
    running = Running(api, query)
    await asyncio.wait_for(stuck.begun.wait(), 30)
    return running


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_ends_with_all_that_runs_below_it(api: MemoryEndpoint, query: str) -> None:
    stuck = Stuck()
    running = await _running(api, query, stuck)
    notify_disconnect(running.scope)
    await asyncio.wait_for(running.answer, 30)
    assert b"the caller left" in running.sent[1]["body"]
    await asyncio.wait_for(stuck.all_ended.wait(), 30)
    assert len(api.endpoint.running) == 0


async def test_a_change_goes_on(api: MemoryEndpoint) -> None:
    stuck = Stuck()
    running = await _running(api, CHANGE, stuck)
    notify_disconnect(running.scope)
    for _ in range(20):
        await asyncio.sleep(0)
    assert stuck.running == 1
    assert not running.answer.done()
    running.answer.cancel()
    await asyncio.wait([running.answer])


async def test_no_query_runs_for_a_caller_that_left_before(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, real = asyncio.Event(), api.endpoint.callers.open

    async def slow(*given: Any) -> Any:
        await opened.wait()
        return await real(*given)

    monkeypatch.setattr(api.endpoint.callers, "open", slow)
    running = Running(api, QUERIES[0])
    await asyncio.sleep(0)
    notify_disconnect(running.scope)
    opened.set()
    await asyncio.wait_for(running.answer, 30)
    assert b"the caller left" in running.sent[1]["body"]
    assert api.memory.sent == []


async def test_a_task_cancelled_for_other_reasons_is_cancelled(api: MemoryEndpoint) -> None:
    running = await _running(api, QUERIES[0], Stuck())
    running.answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running.answer
    assert running.sent == []
    assert len(api.endpoint.running) == 0


async def test_a_task_cancelled_while_the_caller_leaves_is_cancelled_too(api: MemoryEndpoint) -> None:
    running = await _running(api, QUERIES[0], Stuck())
    notify_disconnect(running.scope)
    running.answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running.answer


async def test_after_the_answer_nobody_is_notified(api: MemoryEndpoint) -> None:
    running = Running(api, "{ __typename }")
    await asyncio.wait_for(running.answer, 30)
    assert DISCONNECT not in running.scope
    notify_disconnect(running.scope)


async def test_one_timer_looks_after_all_requests_and_lapses_when_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timers: list[Any] = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda *given: timers.append(given))
    requests = RunningRequests()
    one, other = requests.begin(60), requests.begin(60)
    assert len(timers) == 1
    requests.finish(one)
    timers[0][1](*timers[0][2:])
    assert len(timers) == 2, "one still runs"
    requests.finish(other)
    timers[1][1](*timers[1][2:])
    assert len(timers) == 2
    requests.begin(60)
    assert len(timers) == 3


async def test_only_those_whose_time_is_over_are_ended() -> None:
    requests = RunningRequests()

    async def run(seconds: float) -> str:
        running = requests.begin(seconds)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            reason = running.take_cancellation()
            return "cancelled" if reason is None else type(reason).__name__
        finally:
            requests.finish(running)
        return "answered"

    late, early = asyncio.ensure_future(run(0.0)), asyncio.ensure_future(run(600))
    assert await asyncio.wait_for(late, 30) == "DeadlineExceeded"
    assert not early.done()
    assert len(requests) == 1
    early.cancel()
    assert await early == "cancelled"


def test_a_request_on_another_loop_has_a_deadline_too() -> None:
    requests = RunningRequests()

    async def run(seconds: float) -> None:
        running = requests.begin(seconds)
        try:
            await asyncio.sleep(0 if seconds else 30)
        finally:
            requests.finish(running)

    asyncio.run(run(60))  # its loop ends before the timer
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run(0))
