"""A call ends by its deadline, by a cancellation or by closing, and a wrong clock does not stop it."""

import asyncio
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.errors import AnswerLate, InvalidRequest, SignatureRejected, ThroughputExceeded
from gateway.aws.wire.retry import RetryRules
from gateway.errors import DeadlineExceeded, Unavailable
from tests.aws.calls import client, get
from tests.aws.fake import BOTH_LOOPS, CREDENTIALS, Behaviour, Received, after, error, fake_aws, ok, silence

pytestmark = BOTH_LOOPS


async def test_no_attempt_is_made_after_the_deadline() -> None:
    async with fake_aws() as fake, client() as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time())
        assert fake.received == []


async def test_an_answer_is_not_awaited_beyond_the_deadline() -> None:
    async with fake_aws(silence) as fake, client(WireLimits(read_seconds=60.0)) as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 0.5)
        assert len(fake.received) == 1


async def test_a_call_without_a_deadline_has_the_total_timeout() -> None:
    limits = WireLimits(read_seconds=60.0, total_seconds=0.03)
    async with fake_aws(silence, silence) as fake, client(limits) as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake)
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 60)


async def test_the_last_error_is_raised_when_its_retry_would_begin_too_late() -> None:
    # a pause is a random part of this, so that hardly one ends before the deadline
    slow = RetryRules(pause=1e9, throttled_pause=1e9, longest_pause=1e9)
    async with fake_aws(error("ThrottlingException")) as fake, client(retry=slow) as dynamodb:
        with pytest.raises(ThroughputExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 60)
        assert len(fake.received) == 1


async def test_silence_within_the_deadline_is_a_late_answer() -> None:
    limits = WireLimits(read_seconds=0.02)
    async with fake_aws(silence) as fake, client(limits, RetryRules(attempts=1)) as dynamodb:
        with pytest.raises(AnswerLate):
            await get(dynamodb, fake)


# clock skew


def refusing(code: str, offset: float) -> Behaviour:
    date = format_datetime(datetime.fromtimestamp(time.time() + offset, UTC), usegmt=True)
    return error(code, headers={"Date": date})


def signed_at(request: Received) -> float:
    return datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("code", ["InvalidSignatureException", "RequestTimeTooSkewed", "RequestExpired"])
@pytest.mark.parametrize("offset", [3600.0, -86400.0])
async def test_a_wrong_clock_is_corrected_once_for_all_calls(code: str, offset: float) -> None:
    async with fake_aws(refusing(code, offset)) as fake, client() as dynamodb:
        await get(dynamodb, fake)
        await get(dynamodb, fake)
        wrong, corrected, later = map(signed_at, fake.received)
        assert abs(wrong - time.time()) < 30
        assert abs(corrected - time.time() - offset) < 30
        assert abs(later - time.time() - offset) < 30


async def test_calls_that_were_refused_together_are_all_corrected() -> None:
    gate = asyncio.Event()
    refusal = after(gate, refusing("InvalidSignatureException", 3600.0))
    async with fake_aws(refusal, refusal, refusal) as fake, client(WireLimits(connections=3)) as dynamodb:
        calls = [asyncio.create_task(get(dynamodb, fake)) for _ in range(3)]
        await fake.until_received(3)
        gate.set()
        assert await asyncio.gather(*calls) == [{}, {}, {}]


@pytest.mark.parametrize("offsets", [[0.0], [3600.0, 7200.0]])
async def test_a_signature_that_is_wrong_for_other_reasons_is_raised(offsets: list[float]) -> None:
    script = [refusing("InvalidSignatureException", offset) for offset in offsets]
    async with fake_aws(*script) as fake, client() as dynamodb:
        with pytest.raises(SignatureRejected):
            await get(dynamodb, fake)
        assert len(fake.received) == len(offsets)


# cancellation and closing


async def test_a_cancelled_call_leaks_no_connection_and_no_answer() -> None:
    gate = asyncio.Event()
    late = after(gate, ok({"Item": "of the cancelled call"}))
    async with fake_aws(late) as fake, client(WireLimits(connections=1)) as dynamodb:
        call = asyncio.create_task(get(dynamodb, fake))
        await fake.until_received()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        gate.set()
        assert await get(dynamodb, fake) == {}
        assert fake.connections == [0, 1]


async def test_any_mixture_of_cancelled_calls_leaves_the_pool_whole() -> None:
    async with fake_aws() as fake, client(WireLimits(connections=3)) as dynamodb:
        for turn in range(12):
            calls = [asyncio.create_task(get(dynamodb, fake)) for _ in range(8)]
            for _ in range(turn):
                await asyncio.sleep(0)
            for call in calls[turn % 3 :: 2]:
                call.cancel()
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert all(found == {} or isinstance(found, asyncio.CancelledError) for found in results)
        lane = dynamodb._routes[fake.target].lane
        assert lane._free_slots + len(lane._idle) == 3
        assert len(lane._waiting) == 0
        await asyncio.gather(*(get(dynamodb, fake) for _ in range(8)))


async def test_a_cancelled_pause_is_over() -> None:
    slow = RetryRules(pause=1000.0, throttled_pause=1000.0, longest_pause=1000.0)
    limits = WireLimits(connections=1, total_seconds=1e6)
    async with fake_aws(error("ThrottlingException"), ok()) as fake, client(limits, slow) as dynamodb:
        call = asyncio.create_task(get(dynamodb, fake))
        await fake.until_received()
        await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await get(dynamodb, fake) == {}


async def test_closing_ends_calls_that_are_under_way() -> None:
    async with fake_aws(silence) as fake:
        dynamodb = client()
        call = asyncio.create_task(get(dynamodb, fake))
        await fake.until_received()
        await dynamodb.close()
        with pytest.raises(Unavailable):
            await call
        with pytest.raises(Unavailable):
            await get(dynamodb, fake)
        assert len(fake.received) == 1


async def test_a_request_that_cannot_be_written_costs_no_connection() -> None:
    async with fake_aws() as fake, client(WireLimits(connections=1)) as dynamodb:
        for operation, body in [("GetItem", {"Key": object()}), ("Get\r\nItem", {})]:
            with pytest.raises(InvalidRequest):
                await dynamodb.call(operation, body, credentials=CREDENTIALS, target=fake.target)
        assert await get(dynamodb, fake) == {}
        assert len(fake.received) == 1
