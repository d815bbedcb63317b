"""A call arrives once where it should, signed as it should, and is tried again where that makes sense."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from gateway.aws.wire.client import Retried
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerCorrupt,
    AwsError,
    AwsUnavailable,
    ConditionFailed,
    ConnectionBroken,
    InvalidRequest,
    ThroughputExceeded,
)
from gateway.aws.wire.retry import RetryRules
from gateway.pacer import Pacer
from tests.aws.calls import BODY, QUICK, client, get
from tests.aws.fake import (
    BOTH_LOOPS,
    CREDENTIALS,
    Behaviour,
    FakeAws,
    Received,
    closing,
    error,
    fake_aws,
    ok,
    raw,
    response,
    silence,
)

pytestmark = BOTH_LOOPS


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
    async with fake_aws(silence, ok()) as fake, client(WireLimits(read_seconds=0.5)) as dynamodb:
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


class SharedPacer(Pacer):
    """Nobody is alone, so every step waits."""

    def __init__(self) -> None:
        super().__init__()
        self.alone = False
        self.steps: list[str] = []

    def step_at_once(self, tenant: str) -> bool:
        return False

    async def step(self, tenant: str) -> None:
        await super().step(tenant)
        self.steps.append(tenant)


async def test_each_response_is_a_step_of_its_tenant() -> None:
    async with fake_aws(ok({}), ok({}), ok({})) as fake, client() as dynamodb:
        pacer = dynamodb._pacer = SharedPacer()
        for tenant in ("acme", "globex", "acme"):
            keys = replace(CREDENTIALS, owner=tenant)
            await dynamodb.call("GetItem", BODY, credentials=keys, target=fake.target)
        assert pacer.steps == ["acme", "globex", "acme"]
