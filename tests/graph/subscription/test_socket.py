"""graphql-transport-ws: every message, every close code, every limit."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gateway.graph.http.request import GraphQLRequest
from gateway.graph.subscription.socket import SocketOperation
from gateway.graph.subscription.subscriptions import WatchLimits
from gateway.testing.subscriber import SocketClient
from tests.graph.subscription.shop import ITEM, Shop, bearer, shop

SUBSCRIBE: dict[str, Any] = {"type": "subscribe", "id": "1", "payload": {"query": ITEM, "variables": {"id": "o-none"}}}
INIT = {"type": "connection_init", "payload": {"Authorization": f"Bearer {bearer()}"}}


@asynccontextmanager
async def _socket(served: Shop, *, ready: bool = True, **limits: Any) -> AsyncIterator[SocketClient]:
    served.subscriptions.limits = replace(served.subscriptions.limits, **limits)
    client = SocketClient(served.gateway.streaming.socket)
    if ready:
        client.send(INIT)
        assert await client.receive() == {"type": "connection_ack"}
    yield client
    await client.close()


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (["{"], 4400),
        (["[]"], 4400),
        (['{"type": "start", "id": "1"}'], 4400),
        (['{"type": "subscribe", "id": 1, "payload": {}}'], 4400),
        (['{"type": "subscribe", "id": "", "payload": {}}'], 4400),
        (['{"type": "connection_init", "payload": "me"}'], 4400),
        (['{"type": "ping", "type": "connection_init"}'], 4400),
        (['{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }"}}'], 4401),
        (['{"type": "connection_init"}'], 4403),
        (['{"type": "connection_init", "payload": {"authorization": "Bearer none"}}'], 4403),
        (["x" * 200_000], 1009),
        (['{"type": "connection_init", "payload": {"n": 1%s}}' % ("0" * 4_300)], 4400),
        (['{"type": "subscribe", "id": "1", "payload": {"n": 1%s}}' % ("0" * 4_300)], 4401),
        (["[1%s]" % ("0" * 4_300)], 4400),
    ],
)
async def test_a_wrong_message_closes_with_its_code(messages: list[str], code: int) -> None:
    async with shop() as served, _socket(served, ready=False) as client:
        for message in messages:
            client.send_text(message)
        assert (await client.receive())["close"] == code
        assert served.subscriptions.connections == 0


async def test_a_second_init_closes_the_connection() -> None:
    async with shop() as served, _socket(served) as client:
        client.send(INIT)
        assert (await client.receive())["close"] == 4429


async def test_an_id_that_is_taken_closes_the_connection() -> None:
    async with shop() as served, _socket(served) as client:
        client.send(SUBSCRIBE)
        assert (await client.receive())["type"] == "next"
        client.send(SUBSCRIBE)
        assert (await client.receive())["close"] == 4409


async def test_an_id_is_free_again_after_complete() -> None:
    async with shop() as served, _socket(served) as client:
        for _ in range(2):
            client.send(SUBSCRIBE)
            assert (await client.receive())["type"] == "next"
            client.send({"type": "complete", "id": "1"})
        await asyncio.sleep(0.01)
        assert served.subscriptions.active == 0


async def test_a_subscriber_that_does_not_introduce_itself_is_closed() -> None:
    async with shop() as served, _socket(served, ready=False, init_seconds=0.02) as client:
        assert (await client.receive())["close"] == 4408


async def test_a_subscriber_that_has_introduced_itself_stays() -> None:
    async with shop() as served, _socket(served, init_seconds=0.02) as client:
        await asyncio.sleep(0.05)
        client.send({"type": "ping"})
        assert await client.receive() == {"type": "pong"}


async def test_another_subprotocol_is_refused() -> None:
    async with shop() as served:
        client = SocketClient(served.gateway.streaming.socket, "graphql-ws")
        assert (await client.receive())["close"] == 4406
        await client.close()


async def test_a_subscriber_that_does_not_answer_a_ping_is_closed() -> None:
    async with shop() as served, _socket(served, ping_seconds=0.02) as client:
        assert await client.receive() == {"type": "ping"}
        client.send({"type": "pong"})
        assert await client.receive() == {"type": "ping"}
        assert (await client.receive())["close"] == 1013


async def test_a_connection_has_so_many_subscriptions() -> None:
    async with shop(max_subscriptions_per_connection=1) as served, _socket(served) as client:
        client.send(SUBSCRIBE)
        assert (await client.receive())["type"] == "next"
        client.send({**SUBSCRIBE, "id": "2"})
        refused = await client.receive()
        assert (refused["type"], refused["id"]) == ("error", "2")
        assert refused["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_a_tenant_has_so_many_connections() -> None:
    async with shop(max_subscription_connections=1) as served, _socket(served):
        client = SocketClient(served.gateway.streaming.socket)
        client.send(INIT)
        assert (await client.receive())["close"] == 1013
        await client.close()
        other = SocketClient(served.gateway.streaming.socket)
        other.send({"type": "connection_init", "payload": {"authorization": f"Bearer {bearer('globex')}"}})
        assert await other.receive() == {"type": "connection_ack"}
        await other.close()


async def test_a_tenant_has_so_many_subscriptions_over_all_its_connections() -> None:
    async with shop(max_subscriptions_per_tenant=2) as served, _socket(served) as one, _socket(served) as two:
        for client in (one, two):
            client.send(SUBSCRIBE)
            assert (await client.receive())["type"] == "next"
        two.send({**SUBSCRIBE, "id": "2"})
        refused = await two.receive()
        assert (refused["type"], refused["id"]) == ("error", "2")
        assert refused["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        async with served.connect(bearer("globex"), ITEM, {"id": "o-none"}) as other:
            await other.next()
        one.send({"type": "complete", "id": "1"})
        while served.subscriptions.active > 1:  # noqa: ASYNC110  until it has ended
            await asyncio.sleep(0)
        two.send({**SUBSCRIBE, "id": "2"})
        assert (await two.receive())["type"] == "next"


async def test_queries_and_mutations_are_answered_too() -> None:
    async with shop() as served, _socket(served) as client:
        client.send(
            {"type": "subscribe", "id": "q", "payload": {"query": '{ product(productId: "p-1001") { title } }'}}
        )
        answer = await client.receive()
        assert (answer["type"], answer["id"], "title" in answer["payload"]["data"]["product"]) == ("next", "q", True)
        assert await client.receive() == {"id": "q", "type": "complete"}
        assert served.lines[-1]["operation_type"] == "query"


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"query": "subscription { nothing }"}, "GRAPHQL_VALIDATION_FAILED"),
        ({"query": "subscription {"}, "GRAPHQL_PARSE_FAILED"),
        ({"query": 1}, "BAD_REQUEST"),
        ({"query": ITEM}, "BAD_USER_INPUT"),
        ({"query": ITEM, "variables": {"id": "a#b"}}, "BAD_USER_INPUT"),
        ({"query": "subscription { __typename }"}, "GRAPHQL_VALIDATION_FAILED"),
        ({"query": ITEM, "variables": {"id": "o-1"}, "extensions": {"after": 1}}, "BAD_USER_INPUT"),
    ],
)
async def test_a_wrong_operation_is_an_error_of_its_id(payload: dict[str, Any], code: str) -> None:
    async with shop() as served, _socket(served) as client:
        client.send({"type": "subscribe", "id": "1", "payload": payload})
        refused = await client.receive()
        assert (refused["type"], refused["id"]) == ("error", "1"), refused
        assert refused["payload"][0]["extensions"]["code"] == code


async def test_a_number_that_is_too_large_is_an_error_of_its_id_alone() -> None:
    async with shop() as served, _socket(served) as client:
        client.send(SUBSCRIBE)
        assert (await client.receive())["type"] == "next"
        payload = '{"query": "query($n: Int!) { allUsers(first: $n) { nodes { name } } }", "variables": {"n": 1%s}}'
        client.send_text('{"type": "subscribe", "id": "large", "payload": %s}' % (payload % ("0" * 4_300)))
        refused = await client.receive()
        assert (refused["type"], refused["id"]) == ("error", "large"), refused
        assert refused["payload"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        client.send({"type": "ping"})
        assert (await client.receive())["type"] == "pong"


async def test_a_lone_surrogate_is_not_a_message_even_beside_a_number_that_is_too_large() -> None:
    async with shop() as served:
        async with _socket(served) as client:
            payload = '"payload": {"query": "{ __typename }", "variables": {"a": 1e999}}'
            client.send_text(f'{{"type": "subscribe", "id": "\\ud800", {payload}}}')
            assert (await client.receive())["close"] == 4400
        assert served.subscriptions.connections == 0


async def test_a_client_that_leaves_leaves_nothing_behind() -> None:
    async with shop() as served:
        async with _socket(served) as client:
            client.send(SUBSCRIBE)
            await client.receive()
            assert served.subscriptions.active == 1
        assert (served.subscriptions.active, served.subscriptions.cohorts, served.subscriptions.connections) == (
            0,
            0,
            0,
        )
        assert not served.subscriptions._tenants


def _alive(*others: object) -> list[Any]:
    """What the gateway keeps of messages, except these."""
    known = {*map(id, others)}
    kept = [
        item for item in gc.get_objects() if type(item) in (GraphQLRequest, SocketOperation) and id(item) not in known
    ]
    return [item for item in kept if not isinstance(item, GraphQLRequest) or item.query or item.extensions]


async def test_nothing_of_a_message_is_kept_once_its_subscription_has_begun() -> None:
    """Or a hundred subscriptions could hold hundreds of megabytes, also after their connection was closed."""
    gc.disable()  # what is free is free at once
    earlier = _alive()  # of other tests
    try:
        async with shop() as served:
            async with _socket(served) as client:
                client.send({**SUBSCRIBE, "payload": {**SUBSCRIBE["payload"], "extensions": {"large": [[]] * 1_000}}})
                assert (await client.receive())["type"] == "next"
                assert [type(item) for item in _alive(*earlier)] == [SocketOperation]
            assert _alive(*earlier) == []
    finally:
        gc.enable()


async def test_a_large_message_has_as_many_values_as_a_large_request() -> None:
    async with shop() as served, _socket(served) as client:
        client.send({**SUBSCRIBE, "payload": {**SUBSCRIBE["payload"], "extensions": {"large": [[]] * 41_000}}})
        assert (await client.receive())["close"] == 1009


def test_the_limits_have_their_defaults() -> None:
    assert WatchLimits() == WatchLimits(1_000, 100, 131_072, 10.0, 30.0, 10_000)
