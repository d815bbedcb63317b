"""Connections are shared, bounded, handed on in order and never lost."""

import asyncio

import pytest

from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.endpoint import AwsEndpoint, AwsTarget, endpoint
from gateway.aws.wire.errors import AnswerLate, ConnectionBroken, Retry
from gateway.aws.wire.pool import ConnectionPool, EndpointPool
from gateway.errors import DeadlineExceeded, Unavailable
from tests.aws.fake import BOTH_LOOPS, FakeAws, deaf_port, fake_aws, silence

pytestmark = BOTH_LOOPS


def soon(seconds: float = 60.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def lane_to(fake: FakeAws, connections: int = 2, pool: ConnectionPool | None = None) -> EndpointPool:
    return (pool or ConnectionPool(WireLimits(connections=connections))).lane(endpoint(fake.target))


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_connection_used_last_is_used_first() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        first, second = await lane.open(soon()), await lane.open(soon())
        lane.release(first)
        lane.release(second)
        assert lane.take() is second
        assert lane.take() is first
        assert lane.take() is None
        await lane.close()


async def test_requests_wait_in_order_for_a_connection() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        order: list[str] = []

        async def request(name: str) -> None:
            given = await lane.open(soon())
            order.append(name)
            lane.release(given)

        requests = []
        for name in "abcd":
            requests.append(asyncio.create_task(request(name)))
            await turns()
        assert len(fake.writers) == 1
        lane.release(connection)
        await asyncio.gather(*requests)
        assert order == ["a", "b", "c", "d"]
        assert len(fake.writers) == 1
        await lane.close()


async def test_a_broken_connection_makes_room_for_a_new_one() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        waiting = asyncio.create_task(lane.open(soon()))
        await turns()
        connection.abort()
        lane.release(connection)
        fresh = await waiting
        assert fresh is not connection
        assert fresh.usable
        lane.release(fresh)
        await lane.close()


async def test_a_request_does_not_wait_beyond_its_deadline() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        with pytest.raises(DeadlineExceeded):
            await lane.open(soon(0.01))
        lane.release(connection)
        assert lane.take() is connection
        lane.release(connection)
        await lane.close()


async def test_tenants_wait_in_turn_however_many_requests_one_of_them_has() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        order: list[str] = []

        async def request(name: str) -> None:
            given = await lane.open(soon(), tenant=name[0])
            order.append(name)
            lane.release(given)

        requests = []
        for name in ("a1", "a2", "a3", "a4", "b1", "c1", "b2"):
            requests.append(asyncio.create_task(request(name)))
            await turns()
        requests[1].cancel()
        await turns()
        lane.release(connection)
        await asyncio.gather(*requests, return_exceptions=True)
        assert order == ["a1", "b1", "c1", "a3", "b2", "a4"]
        assert not lane._waiting
        await lane.close()


async def test_a_cancelled_wait_does_not_keep_its_place() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        gone, patient = asyncio.create_task(lane.open(soon())), asyncio.create_task(lane.open(soon()))
        await turns()
        gone.cancel()
        await turns()
        lane.release(connection)
        assert await patient is connection
        assert gone.cancelled()
        lane.release(connection)
        await lane.close()


@pytest.mark.parametrize("broken", [False, True])
async def test_a_place_given_to_a_caller_that_just_gave_up_goes_to_the_next(broken: bool) -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        gone, patient = asyncio.create_task(lane.open(soon())), asyncio.create_task(lane.open(soon()))
        await turns()
        if broken:
            connection.abort()
        lane.release(connection)
        gone.cancel()
        given = await patient
        assert gone.cancelled()
        assert (given is connection) is not broken
        assert given.usable
        lane.release(given)
        await lane.close()


async def test_an_idle_connection_that_aws_closes_is_not_handed_out() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        lane.release(connection)
        await fake.until_connected()
        fake.writers[0].close()
        await connection.lost
        assert lane.take() is None
        fresh = await lane.open(soon())
        assert fresh.usable
        lane.release(fresh)
        await lane.close()


async def test_an_idle_connection_that_is_about_to_close_is_not_handed_out() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        lane.release(connection)
        connection.eof_received()
        assert lane.take() is None
        fresh = await lane.open(soon())
        assert fresh is not connection
        connection.abort()
        lane.release(fresh)
        await lane.close()


async def test_idle_connections_can_be_dropped_together() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        both = [await lane.open(soon()), await lane.open(soon())]
        for connection in both:
            lane.release(connection)
        lane.drop_idle()
        assert lane.take() is None
        fresh = [await lane.open(soon()), await lane.open(soon())]
        assert all(connection.usable for connection in fresh)
        assert not any(connection.usable for connection in both)
        for connection in fresh:
            lane.release(connection)
        await lane.close()


async def test_a_place_that_nothing_listens_at_is_unavailable() -> None:
    async with fake_aws() as fake:
        target = fake.target
    lane = ConnectionPool(WireLimits(connections=1)).lane(endpoint(target))
    for _ in range(3):
        with pytest.raises(ConnectionBroken) as refused:
            await lane.open(soon())
        assert refused.value.retry is Retry.TRANSIENT


async def test_connecting_takes_no_longer_than_allowed() -> None:
    with deaf_port() as port:
        lane = ConnectionPool(WireLimits(connections=1, connect_seconds=0.03)).lane(
            AwsEndpoint("http", "127.0.0.1", port)
        )
        for _ in range(2):
            with pytest.raises(AnswerLate) as late:
                await lane.open(soon())
            assert late.value.retry is Retry.TIMEOUT


async def test_a_cancelled_connect_gives_its_slot_back() -> None:
    with deaf_port() as port:
        lane = ConnectionPool(WireLimits(connections=1)).lane(AwsEndpoint("http", "127.0.0.1", port))
        opening = asyncio.create_task(lane.open(soon()))
        await turns()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert lane._free_slots == 1


async def test_endpoints_have_lanes_of_their_own_and_regions_share_them() -> None:
    pool = ConnectionPool(WireLimits())
    one, other = AwsTarget("http://localhost:8000", "eu-west-1"), AwsTarget("http://localhost:8000/", "us-east-1")
    assert pool.lane(endpoint(one)) is pool.lane(endpoint(other))
    assert pool.lane(endpoint(one)) is not pool.lane(endpoint(AwsTarget("https://localhost:8000", "eu-west-1")))


async def test_closing_ends_every_connection_and_every_wait() -> None:
    async with fake_aws() as fake:
        pool = ConnectionPool(WireLimits(connections=2))
        lane = lane_to(fake, pool=pool)
        first, second = await lane.open(soon()), await lane.open(soon())
        waiting = asyncio.create_task(lane.open(soon()))
        await turns()
        await pool.close()
        with pytest.raises(Unavailable):
            await waiting
        assert first.lost.done()
        assert second.lost.done()
        lane.release(first)
        lane.release(second)
        with pytest.raises(Unavailable):
            await lane.open(soon())


async def test_closing_ends_idle_connections() -> None:
    async with fake_aws() as fake:
        lane = lane_to(fake)
        connection = await lane.open(soon())
        lane.release(connection)
        await lane.close()
        assert connection.lost.done()
        assert lane.take() is None


async def test_a_connection_that_opens_while_the_pool_closes_is_closed() -> None:
    async with fake_aws() as fake:
        pool = ConnectionPool(WireLimits())
        opening = asyncio.create_task(lane_to(fake, pool=pool).open(soon()))
        await asyncio.sleep(0)
        await pool.close()
        with pytest.raises(Unavailable):
            await opening


async def test_a_connection_that_waits_for_its_answer_is_ended_when_it_is_given_back() -> None:
    async with fake_aws(silence) as fake:
        lane = lane_to(fake, connections=1)
        connection = await lane.open(soon())
        answer = connection.exchange(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", soon())
        lane.release(connection)
        await asyncio.wait_for(connection.lost, 60)
        with pytest.raises(ConnectionBroken):
            await answer
        fresh = await lane.open(soon())
        assert fresh is not connection
        lane.release(fresh)
        await lane.close()
