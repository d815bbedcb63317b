"""A request that times out returns the results of finished mutations, and an error for each of the others."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gateway.errors import DeadlineExceeded
from gateway.graph.http.endpoint import EndpointLimits
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import code

SECONDS = 600.0
# the time that mutations have is over, or that of the whole request too, because the event loop was held up
STALLS = pytest.mark.parametrize("jumps", [0.95, 1.05])


def categories(count: int) -> str:
    fields = (
        f'm{number}: createCategory(input: {{categoryId: "late-{number}", title: "T"}}) {{ category {{ title }} }}'
        for number in range(count)
    )
    return f"mutation {{ {' '.join(fields)} }}"


@contextmanager
def time_over(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch, *, after: int = 0, while_writing: int = 0, jumps: float = 0.95
) -> Iterator[list[str]]:
    """The clock jumps past the deadline once so many changes are written, or while one is; so no test waits."""
    real, loop = api.memory.call, asyncio.get_running_loop()
    now = loop.time
    writes: list[str] = []

    async def call(operation: str, *given: Any, **named: Any) -> Any:
        if operation != "TransactWriteItems":
            return await real(operation, *given, **named)
        writes.append(operation)
        if len(writes) == while_writing:
            jump()
            await asyncio.Event().wait()
        answer = await real(operation, *given, **named)
        if len(writes) == after:
            jump()
        return answer

    def jump() -> None:
        changed.setattr(loop, "time", lambda: now() + jumps * SECONDS)

    with monkeypatch.context() as changed:
        changed.setattr(api.memory, "call", call)
        yield writes


@STALLS
async def test_what_was_done_is_answered_and_the_rest_is_reported(
    monkeypatch: pytest.MonkeyPatch, jumps: float
) -> None:
    api = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS))
    with time_over(api, monkeypatch, after=10, jumps=jumps) as written:
        response = await api.post(categories(50), token="acme/admin")
    content = response.json()
    assert response.status_code == 200
    done = [name for name, payload in content["data"].items() if payload is not None]
    assert done == [f"m{number}" for number in range(10)]
    assert content["data"]["m0"] == {"category": {"title": "T"}}
    errors = {error["path"][0]: error for error in content["errors"]}
    assert list(errors) == [f"m{number}" for number in range(10, 50)]
    assert {error["extensions"]["code"] for error in errors.values()} == {"TIMEOUT"}
    assert "nothing was written" in errors["m49"]["message"]
    assert len(written) == 10


@STALLS
async def test_a_change_that_is_stuck_takes_nothing_away_from_those_before_it(
    monkeypatch: pytest.MonkeyPatch, jumps: float
) -> None:
    api = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS))
    with time_over(api, monkeypatch, while_writing=2, jumps=jumps):
        content = (await api.post(categories(2), token="acme/admin")).json()
    assert content["data"] == {"m0": {"category": {"title": "T"}}, "m1": None}
    [error] = content["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["m1"], "TIMEOUT")
    assert "idempotencyKey" in error["message"]


@pytest.mark.parametrize("count", [1, 2])
async def test_where_nothing_was_done_the_status_says_so(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    api = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS))
    with time_over(api, monkeypatch, while_writing=1):
        response = await api.post(categories(count), token="acme/admin")
    assert (response.status_code, code(response)) == (504, "TIMEOUT")
    started, *others = response.json()["errors"]
    assert (started["path"], "it may have been written" in started["message"]) == (["m0"], True)
    assert [error["path"] for error in others] == [["m1"]][: count - 1]
    assert all("nothing was written" in error["message"] for error in others)


async def test_a_single_mutation_that_is_stuck_may_have_been_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation takes its arguments from variables, so it runs without graphql-core."""
    api = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS))
    query = "mutation ($input: CreateCategoryInput!) { createCategory(input: $input) { category { title } } }"
    with time_over(api, monkeypatch, while_writing=1):
        response = await api.post(query, {"input": {"categoryId": "late", "title": "T"}}, token="acme/admin")
    assert response.status_code == 504
    [error] = response.json()["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["createCategory"], "TIMEOUT")
    assert "it may have been written" in error["message"]


async def test_another_failure_of_one_change_takes_nothing_away_either(api: MemoryEndpoint) -> None:
    both = """mutation {
      a: createCategory(input: {categoryId: "both", title: "T"}) { category { title } }
      b: removeProduct(input: {productId: "p-1001"}) { errors { code } } }"""
    api.memory.script["GetItem"].append(RuntimeError("broken"))
    content = (await api.post(both, token="acme/admin")).json()
    assert content["data"] == {"a": {"category": {"title": "T"}}, "b": None}
    assert [error["path"] for error in content["errors"]] == [["b"]]


PRODUCT = """mutation { createProduct(input:
  {productId: "p-late", title: "T", price: "1.00", currency: "EUR", categoryId: "tools"})
  { product { title category { title } } errors { code } } }"""


async def test_a_payload_that_cannot_be_read_in_time_does_not_hide_the_change(api: MemoryEndpoint) -> None:
    # as the client of DynamoDB answers at the deadline
    late = DeadlineExceeded("the database did not answer before the deadline")
    api.memory.script["GetItem"].append(late)
    response = await api.post(PRODUCT, token="acme/admin")
    content = response.json()
    assert response.status_code == 200
    assert content["data"]["createProduct"] == {"product": {"title": "T", "category": None}, "errors": []}
    assert [(error["path"], error["extensions"]["code"]) for error in content["errors"]] == [
        (["createProduct", "product", "category"], "TIMEOUT")
    ]


async def test_a_payload_that_never_comes_is_given_up(api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads end at the deadline by themselves; this one does not."""
    real, loop, seconds = api.memory.call, asyncio.get_running_loop(), api.endpoint.limits.seconds
    now = loop.time

    async def call(operation: str, *given: Any, **named: Any) -> Any:
        if operation == "GetItem":
            changed.setattr(loop, "time", lambda: now() + 2.1 * seconds)
            await asyncio.Event().wait()
        return await real(operation, *given, **named)

    with monkeypatch.context() as changed:
        changed.setattr(api.memory, "call", call)
        response = await api.post(PRODUCT, token="acme/admin")
    assert (response.status_code, code(response)) == (504, "TIMEOUT")
    assert len(api.endpoint.running) == 0
