"""What fails behind the gateway is seen: by status where HTTP allows it, by log line and metrics always."""

import asyncio
import json
import logging
from typing import Any

import pytest

from gateway.errors import Forbidden, GatewayError, Internal, Throttled, Unavailable
from gateway.graph.http.request import GRAPHQL_JSON, JSON
from gateway.graph.http.running import notify_disconnect
from gateway.ops.metrics.metrics import Metrics
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_cancellation import Stuck
from tests.ops.metrics.test_metrics import samples

ONE = '{ product(productId: "p-1001") { title } }'
TWO = '{ product(productId: "p-1001") { title } categories(first: 1) { nodes { title } } }'
DOWN = Unavailable("aws is not reachable")


def posted(query: str) -> tuple[dict[str, Any], Any]:
    """A request as the server hands it over: its scope, and what receives its body."""
    headers = [(b"content-type", b"application/json"), (b"authorization", b"Bearer acme/viewer")]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps({"query": query}).encode(), "more_body": False}

    return scope, receive


async def ignore(message: Any) -> None:
    """Nobody is there to receive it."""


def broken(api: MemoryEndpoint, **failures: Exception) -> None:
    """These operations of DynamoDB fail from now on."""
    real = api.memory.call

    async def call(operation: str, *given: Any, **named: Any) -> Any:
        if operation in failures:
            raise failures[operation]
        return await real(operation, *given, **named)

    api.memory.call = call  # type: ignore[method-assign]


def line(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    [record] = [record for record in caplog.records if record.name == "gateway.operation"]
    fields: dict[str, Any] = record.__dict__["fields"]
    return fields


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (DOWN, 503, "UNAVAILABLE"),
        (Throttled("too many requests"), 503, "THROTTLED"),
        (Internal("a bug"), 500, "INTERNAL"),
        (ValueError("a bug"), 500, "INTERNAL"),
    ],
)
async def test_an_operation_without_any_answer_is_a_5xx_for_clients_that_know_its_media_type(
    api: MemoryEndpoint, error: Exception, status: int, code: str
) -> None:
    broken(api, GetItem=error)
    response = await api.post(ONE, headers={"Accept": GRAPHQL_JSON})
    assert response.status_code == status
    assert "data" not in response.json()
    [shown] = response.json()["errors"]
    assert (shown["path"], shown["extensions"]["code"]) == (["product"], code)


async def test_clients_of_plain_json_get_200_as_the_specification_says(api: MemoryEndpoint) -> None:
    broken(api, GetItem=DOWN)
    response = await api.post(ONE, headers={"Accept": JSON})
    assert (response.status_code, response.json()["data"]) == (200, {"product": None})


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (TWO, DOWN),
        ('{ __typename product(productId: "p-1001") { title } }', DOWN),
        (ONE, Forbidden("the role may not do this")),
    ],
)
async def test_where_something_is_answered_or_the_caller_is_refused_it_is_200(
    api: MemoryEndpoint, query: str, error: GatewayError
) -> None:
    broken(api, GetItem=error)
    response = await api.post(query, headers={"Accept": GRAPHQL_JSON})
    assert response.status_code == 200
    assert "data" in response.json()
    assert response.json()["errors"]


async def test_that_something_does_not_exist_is_an_answer(api: MemoryEndpoint) -> None:
    broken(api, Query=DOWN)
    query = '{ product(productId: "none") { title } userByEmail(email: "a@b.example") { userId } }'
    response = await api.post(query, headers={"Accept": GRAPHQL_JSON})
    assert response.json()["data"] == {"product": None, "userByEmail": None}
    assert response.status_code == 200


@pytest.mark.parametrize("accept", [JSON, GRAPHQL_JSON])
async def test_the_log_line_and_the_metrics_are_written_whatever_the_status_is(
    api: MemoryEndpoint, caplog: pytest.LogCaptureFixture, accept: str
) -> None:
    metrics = Metrics()
    object.__setattr__(api.endpoint, "observe", metrics.observe)
    broken(api, GetItem=DOWN)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        await api.post(ONE, headers={"Accept": accept})
    assert (line(caplog)["codes"], line(caplog)["outcome"]) == (["UNAVAILABLE"], "UNAVAILABLE")
    counted = samples(metrics)["gateway_operations_total"]
    assert [(labels[-1], count) for labels, count in counted.items()] == [("UNAVAILABLE", 1)]


async def test_what_a_caller_does_wrong_does_not_hide_a_failure_of_ours(
    api: MemoryEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise an alarm could be kept silent by a refused field before the one that fails."""
    broken(api, GetItem=Forbidden("the role may not do this"), Query=DOWN)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        query = '{ product(productId: "p") { title } userByEmail(email: "a@b.example") { userId } }'
        await api.post(query, headers={"Accept": JSON})
    assert set(line(caplog)["codes"]) == {"FORBIDDEN", "UNAVAILABLE"}
    assert line(caplog)["outcome"] == "UNAVAILABLE"


async def test_a_caller_who_left_is_a_signal_of_its_own(api: MemoryEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    stuck = Stuck()
    api.memory.call = stuck.call  # type: ignore[method-assign]
    scope, receive = posted(ONE)
    answer = asyncio.ensure_future(api.endpoint(scope, receive, ignore))
    await asyncio.wait_for(stuck.begun.wait(), 30)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        notify_disconnect(scope)
        await asyncio.wait_for(answer, 30)
    assert (line(caplog)["status"], line(caplog)["codes"]) == (499, ["CLIENT_CLOSED"])
    assert line(caplog)["outcome"] == "CLIENT_CLOSED"


async def test_a_caller_that_leaves_while_sending_is_not_a_bad_request(
    api: MemoryEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    scope, _ = posted(ONE)

    async def left() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with caplog.at_level(logging.INFO, "gateway.operation"):
        await api.endpoint(scope, left, ignore)
    assert (line(caplog)["status"], line(caplog)["outcome"]) == (499, "CLIENT_CLOSED")
