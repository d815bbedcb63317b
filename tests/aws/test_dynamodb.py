"""A call arrives once where it should, signed as it should, whatever happens on the way."""

import asyncio
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import orjson
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from gateway.aws.credentials import Credentials
from gateway.aws.dynamodb import DynamoDBClient, Retried
from gateway.aws.errors import (
    AccessDenied,
    AnswerCorrupt,
    AnswerLate,
    AwsError,
    AwsUnavailable,
    ConditionFailed,
    ConnectionBroken,
    InvalidRequest,
    SignatureRejected,
    ThroughputExceeded,
)
from gateway.aws.limits import WireLimits
from gateway.aws.retry import RetryRules
from gateway.errors import DeadlineExceeded, Unavailable
from tests.aws.fake import (
    BOTH_LOOPS,
    CREDENTIALS,
    Behaviour,
    FakeAws,
    Received,
    after,
    closing,
    error,
    fake_aws,
    ok,
    raw,
    response,
    silence,
)

pytestmark = BOTH_LOOPS
# pauses that a test can wait for
QUICK = RetryRules(pause=0.001, throttled_pause=0.001)
BODY = {"TableName": "gateway", "Key": {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}}


async def get(
    client: DynamoDBClient, fake: FakeAws, credentials: Credentials = CREDENTIALS, deadline: float | None = None
) -> dict[str, Any]:
    return await client.call("GetItem", BODY, credentials=credentials, target=fake.target, deadline=deadline)


def client(limits: WireLimits | None = None, retry: RetryRules = QUICK) -> DynamoDBClient:
    return DynamoDBClient(limits or WireLimits(connections=2), retry)


def signature_by_botocore(request: Received, fake: FakeAws, monkeypatch: pytest.MonkeyPatch) -> str:
    stamp = datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: stamp)
    headers = {name: request.headers[name] for name in ("content-type", "host", "x-amz-target")}
    again = AWSRequest("POST", fake.target.url, headers=headers, data=request.body)
    credentials = BotocoreCredentials(CREDENTIALS.access_key, CREDENTIALS.secret_key, CREDENTIALS.session_token)
    SigV4Auth(credentials, "dynamodb", fake.target.region).add_auth(again)
    return str(again.headers["Authorization"])


async def test_what_arrives_is_signed_as_botocore_signs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_aws(ok({"Item": {}})) as fake, client() as dynamodb:
        assert await get(dynamodb, fake) == {"Item": {}}
        (request,) = fake.received
        assert request.operation == "GetItem"
        assert orjson.loads(request.body) == BODY
        assert request.headers["content-type"] == "application/x-amz-json-1.0"
        assert request.headers["x-amz-security-token"] == CREDENTIALS.session_token
        assert request.headers["authorization"] == signature_by_botocore(request, fake, monkeypatch)


async def test_all_tenants_share_a_kept_connection() -> None:
    async with fake_aws() as fake, client() as dynamodb:
        for number in range(5):
            await get(dynamodb, fake, Credentials(f"AKID{number}", "secret"))
        assert fake.connections == [0, 0, 0, 0, 0]
        keys = {request.headers["authorization"].partition("/")[0] for request in fake.received}
        assert len(keys) == 5


async def test_no_more_connections_are_opened_than_allowed() -> None:
    async with fake_aws() as fake, client(WireLimits(connections=3)) as dynamodb:
        await asyncio.gather(*(get(dynamodb, fake) for _ in range(40)))
        assert len(fake.received) == 40
        assert len(fake.writers) == fake.busiest == 3


async def test_answers_belong_to_their_requests() -> None:
    def echo(number: int) -> Behaviour:
        return ok({"number": number})

    async with fake_aws(*(echo(number) for number in range(30))) as fake, client(WireLimits(connections=4)) as dynamodb:

        async def one(number: int) -> tuple[int, int]:
            body = {"number": number}
            answer = await dynamodb.call("Query", body, credentials=CREDENTIALS, target=fake.target)
            return number, answer["number"]

        pairs = await asyncio.gather(*(one(number) for number in range(30)))
        sent = [orjson.loads(request.body)["number"] for request in fake.received]
        assert [answer for _, answer in sorted(pairs, key=lambda pair: sent.index(pair[0]))] == list(range(30))


@pytest.mark.parametrize(
    "behaviour",
    [
        error("InternalServerError", 500),
        error("ServiceUnavailable", 503),
        raw(response(b"<html>Bad Gateway</html>", 502)),
        error("ProvisionedThroughputExceededException"),
        error("ThrottlingException"),
        error("TransactionInProgressException"),
        closing(),
        closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
        raw(response(b'{"Item":{}}', checksum=1)),
        raw(response(b"{", 200)),
    ],
)
async def test_what_passes_is_tried_again(behaviour: Behaviour) -> None:
    async with (
        fake_aws(behaviour, behaviour, behaviour, ok({"Item": {"PK": {"S": "x"}}})) as fake,
        client() as dynamodb,
    ):
        assert await get(dynamodb, fake) == {"Item": {"PK": {"S": "x"}}}
        assert len(fake.received) == 4
        assert len({request.body for request in fake.received}) == 1


async def test_silence_is_tried_again() -> None:
    async with fake_aws(silence, ok()) as fake, client(WireLimits(read_seconds=0.05)) as dynamodb:
        assert await get(dynamodb, fake) == {}
        assert fake.connections[:2] == [0, 1]


@pytest.mark.parametrize(
    ("behaviour", "kind", "attempts"),
    [
        (error("InternalServerError", 500), AwsUnavailable, 4),
        (error("ThrottlingException"), ThroughputExceeded, 4),
        (raw(response(b"{}", checksum=1)), AnswerCorrupt, 4),
        (closing(), ConnectionBroken, 4),
        (error("AccessDeniedException"), AccessDenied, 1),
        (error("ValidationException"), InvalidRequest, 1),
        (error("ConditionalCheckFailedException"), ConditionFailed, 1),
        (raw(response(b"{}", 302, {"Location": "http://elsewhere.example/"})), AwsUnavailable, 1),
    ],
)
async def test_what_does_not_pass_is_raised(behaviour: Behaviour, kind: type[AwsError], attempts: int) -> None:
    async with fake_aws(*[behaviour] * 6) as fake, client() as dynamodb:
        with pytest.raises(kind) as raised:
            await get(dynamodb, fake)
        assert len(fake.received) == attempts
        assert raised.value.attempts == attempts
        assert "arn:" not in str(raised.value)


async def test_a_transaction_keeps_its_token_when_it_is_tried_again() -> None:
    async with fake_aws(error("InternalServerError", 500), closing(), ok()) as fake, client() as dynamodb:
        await dynamodb.call("TransactWriteItems", {}, credentials=CREDENTIALS, target=fake.target)
        assert len(fake.received) == 3
        assert len({orjson.loads(request.body)["ClientRequestToken"] for request in fake.received}) == 1


async def test_a_failed_condition_after_a_lost_answer_is_uncertain() -> None:
    condition = error("ConditionalCheckFailedException")
    async with fake_aws(closing(), condition, condition) as fake, client() as dynamodb:
        for uncertain in (True, False):
            with pytest.raises(ConditionFailed) as failed:
                await get(dynamodb, fake)
            assert failed.value.uncertain is uncertain


async def test_a_connection_that_aws_closed_while_idle_is_replaced_at_once() -> None:
    # one attempt is all there is
    rules = RetryRules(attempts=1, budget=0)
    async with fake_aws(ok(), closing(), ok({"Item": {}})) as fake, client(retry=rules) as dynamodb:
        await get(dynamodb, fake)
        assert await get(dynamodb, fake) == {"Item": {}}
        assert fake.connections == [0, 0, 1]


async def test_the_retry_budget_is_shared_by_all_calls_to_a_target() -> None:
    failure = error("InternalServerError", 500)
    async with fake_aws(*[failure] * 20) as fake, client(retry=RetryRules(pause=0.001, budget=15)) as dynamodb:
        for attempts in (4, 1, 1):
            with pytest.raises(AwsUnavailable) as failed:
                await get(dynamodb, fake)
            assert failed.value.attempts == attempts
        fake.script.clear()
        # successes fill it again, slowly
        for _ in range(5):
            await get(dynamodb, fake)
        fake.script.append(failure)
        assert await get(dynamodb, fake) == {}


async def test_one_target_does_not_use_up_the_budget_of_another() -> None:
    failure = error("InternalServerError", 500)
    rules = RetryRules(pause=0.001, budget=5)
    async with fake_aws(*[failure] * 3) as failing, fake_aws(failure) as healthy, client(retry=rules) as dynamodb:
        with pytest.raises(AwsUnavailable):
            await get(dynamodb, failing)
        assert await get(dynamodb, healthy) == {}


async def test_retries_are_reported() -> None:
    seen: list[Retried] = []
    async with fake_aws(error("ThrottlingException"), ok()) as fake:
        async with DynamoDBClient(retry=QUICK, on_retry=seen.append) as dynamodb:
            await get(dynamodb, fake)
        (retried,) = seen
        assert (retried.operation, retried.target, retried.error.aws_code) == (
            "GetItem",
            fake.target,
            "ThrottlingException",
        )


# deadlines


async def test_no_attempt_is_made_after_the_deadline() -> None:
    async with fake_aws() as fake, client() as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time())
        assert fake.received == []


async def test_an_answer_is_not_awaited_beyond_the_deadline() -> None:
    async with fake_aws(silence) as fake, client(WireLimits(read_seconds=60.0)) as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 0.03)
        assert len(fake.received) == 1


async def test_a_call_without_a_deadline_has_the_total_timeout() -> None:
    limits = WireLimits(read_seconds=60.0, total_seconds=0.03)
    async with fake_aws(silence, silence) as fake, client(limits) as dynamodb:
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake)
        with pytest.raises(DeadlineExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 60)


async def test_the_last_error_is_raised_when_its_retry_would_begin_too_late() -> None:
    slow = RetryRules(pause=1000.0, throttled_pause=1000.0, longest_pause=1000.0)
    async with fake_aws(error("ThrottlingException")) as fake, client(retry=slow) as dynamodb:
        with pytest.raises(ThroughputExceeded):
            await get(dynamodb, fake, deadline=asyncio.get_running_loop().time() + 1)
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
