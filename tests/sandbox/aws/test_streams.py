"""The embedded engine's streams behave as those of AWS, also where emulators do not."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.model.table import TableSpec
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import STREAMS_API, EngineRefused, call_engine
from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.streams import SandboxStreams
from gateway.sandbox.aws.tables import create
from tests.sandbox.stream_control import StreamControl, control_stream

TABLE = "streamed"
pytestmark = pytest.mark.anyio


@pytest.fixture
async def engine() -> AsyncIterator[Embedded]:
    made = Embedded("555566661111", "eu-west-1")
    await create(made, TABLE, TableSpec())
    yield made
    await made.close()


async def streams(engine: Embedded, operation: str, **body: Any) -> dict[str, Any]:
    answer = await engine.call(f"{STREAMS_API}.{operation}", json.dumps(body).encode())
    content: dict[str, Any] = json.loads(answer.body)
    return content


async def arn(engine: Embedded) -> str:
    return str((await streams(engine, "ListStreams", TableName=TABLE))["Streams"][0]["StreamArn"])


async def shards(engine: Embedded, **more: Any) -> list[dict[str, Any]]:
    described = await streams(engine, "DescribeStream", StreamArn=await arn(engine), **more)
    return list(described["StreamDescription"]["Shards"])


async def iterator(engine: Embedded, shard: str, kind: str = "TRIM_HORIZON", **more: str) -> str:
    request = {"StreamArn": await arn(engine), "ShardId": shard, "ShardIteratorType": kind, **more}
    return str((await streams(engine, "GetShardIterator", **request))["ShardIterator"])


async def records(engine: Embedded, shard: str | None = None, kind: str = "TRIM_HORIZON", **more: str) -> list[Any]:
    shard = shard or (await shards(engine))[0]["ShardId"]
    return list(
        (await streams(engine, "GetRecords", ShardIterator=await iterator(engine, shard, kind, **more)))["Records"]
    )


async def put(engine: Embedded, key: str = "a", **attributes: Any) -> None:
    await call_engine(
        engine, "PutItem", {"TableName": TABLE, "Item": {"PK": {"S": key}, "SK": {"S": "-"}, **attributes}}
    )


async def test_a_write_that_changes_nothing_has_no_record(engine: Embedded) -> None:
    for _ in range(2):
        await put(engine, name={"S": "Ada"})
    await put(engine, name={"S": "Bob"})
    assert [each["eventName"] for each in await records(engine)] == ["INSERT", "MODIFY"]


async def test_an_update_that_creates_an_item_has_one_record_with_the_whole_image(engine: Embedded) -> None:
    update = {
        "TableName": TABLE,
        "Key": {"PK": {"S": "u"}, "SK": {"S": "-"}},
        "UpdateExpression": "SET hits = :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    await call_engine(engine, "UpdateItem", update)
    await call_engine(engine, "UpdateItem", {**update, "ExpressionAttributeValues": {":one": {"N": "2"}}})
    created, changed = await records(engine)
    assert (created["eventName"], created["dynamodb"]["NewImage"]["hits"]) == ("INSERT", {"N": "1"})
    assert (changed["dynamodb"]["OldImage"]["hits"], changed["dynamodb"]["NewImage"]["hits"]) == (
        {"N": "1"},
        {"N": "2"},
    )


async def test_binary_values_are_base64_as_they_were_sent(engine: Embedded) -> None:
    await put(engine, note={"B": "AP8="}, parts={"L": [{"B": "AQ=="}, {"M": {"in": {"BS": ["Ag=="]}}}]})
    await put(engine, note={"B": "AQ=="})
    created, changed = (each["dynamodb"] for each in await records(engine))
    assert created["NewImage"]["note"] == {"B": "AP8="}
    assert created["NewImage"]["parts"] == {"L": [{"B": "AQ=="}, {"M": {"in": {"BS": ["Ag=="]}}}]}
    assert (changed["OldImage"]["note"], changed["NewImage"]["note"]) == ({"B": "AP8="}, {"B": "AQ=="})


async def test_a_transaction_that_fails_leaves_no_record(engine: Embedded) -> None:
    writes = [
        {"Put": {"TableName": TABLE, "Item": {"PK": {"S": name}, "SK": {"S": "-"}}, **condition}}
        for name, condition in (("x", {}), ("y", {"ConditionExpression": "attribute_exists(PK)"}))
    ]
    with pytest.raises(EngineRefused, match="TransactionCanceledException"):
        await call_engine(engine, "TransactWriteItems", {"TransactItems": writes})
    assert await records(engine) == []


async def test_a_split_closes_the_shard_and_its_children_go_on(engine: Embedded) -> None:
    await put(engine, "before")
    [parent] = await shards(engine)
    children = await control_stream(engine, TABLE, lambda control: control.log.split(parent["ShardId"]))
    for number in range(20):
        await put(engine, f"after {number}")

    closed, *opened = await shards(engine)
    assert "EndingSequenceNumber" in closed["SequenceNumberRange"]
    assert [(each["ShardId"], each["ParentShardId"]) for each in opened] == [
        (child, closed["ShardId"]) for child in children
    ]
    filtered = {"Type": "CHILD_SHARDS", "ShardId": closed["ShardId"]}
    assert [each["ShardId"] for each in await shards(engine, ShardFilter=filtered)] == children
    assert [each["ShardId"] for each in await shards(engine, Limit=1, ExclusiveStartShardId=children[0])] == children[
        1:
    ]
    # nothing of the closed shard is left to read, so that there is no next iterator
    answer = await streams(engine, "GetRecords", ShardIterator=await iterator(engine, closed["ShardId"]))
    assert len(answer["Records"]) == 1
    assert "NextShardIterator" not in answer
    counts = [len(await records(engine, child)) for child in children]
    assert sum(counts) == 20
    assert min(counts) > 0


async def test_what_was_trimmed_is_refused_and_the_horizon_is_after_it(engine: Embedded) -> None:
    await put(engine, name={"S": "1"})
    [first] = await records(engine)
    old = await iterator(engine, (await shards(engine))[0]["ShardId"])
    await control_stream(engine, TABLE, lambda control: control.log.trim(-60))
    await put(engine, name={"S": "2"})
    with pytest.raises(AwsFault) as fault:
        await streams(engine, "GetRecords", ShardIterator=old)
    assert fault.value.name == "TrimmedDataAccessException"
    with pytest.raises(AwsFault) as fault:
        await records(engine, None, "AT_SEQUENCE_NUMBER", SequenceNumber=first["dynamodb"]["SequenceNumber"])
    assert fault.value.name == "TrimmedDataAccessException"
    [kept] = await records(engine)
    assert kept["dynamodb"]["NewImage"]["name"] == {"S": "2"}


async def test_a_closed_shard_is_gone_after_a_day(engine: Embedded) -> None:
    [parent] = await shards(engine)

    def roll_and_trim(control: StreamControl) -> str:
        child = control.log.roll(parent["ShardId"])
        control.log.trim(-60)
        return child

    child = await control_stream(engine, TABLE, roll_and_trim)
    assert [each["ShardId"] for each in await shards(engine)] == [child]
    with pytest.raises(AwsFault) as fault:
        await iterator(engine, parent["ShardId"])
    assert fault.value.name == "ResourceNotFoundException"


async def test_an_item_that_expires_is_marked(engine: Embedded) -> None:
    await put(engine, "gone", ttl={"N": "1"})
    await put(engine, "here", ttl={"N": "9999999999"})
    assert await control_stream(engine, TABLE, lambda control: control.expire()) == 1
    await call_engine(engine, "DeleteItem", {"TableName": TABLE, "Key": {"PK": {"S": "here"}, "SK": {"S": "-"}}})
    removed = [each for each in await records(engine) if each["eventName"] == "REMOVE"]
    assert [each.get("userIdentity") for each in removed] == [
        {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        None,
    ]


async def test_a_third_reader_of_a_shard_is_throttled(engine: Embedded) -> None:
    [shard] = await shards(engine)
    for _ in range(2):
        await records(engine, shard["ShardId"])
    with pytest.raises(AwsFault) as fault:
        await records(engine, shard["ShardId"])
    assert fault.value.name == "LimitExceededException"


@pytest.mark.parametrize("text", ["", "nonsense", "arn|1|bm9uZQ=="])
async def test_an_invalid_iterator_is_refused(engine: Embedded, text: str) -> None:
    with pytest.raises(AwsFault) as fault:
        await streams(engine, "GetRecords", ShardIterator=text)
    assert fault.value.name == "ValidationException"


async def test_after_and_latest(engine: Embedded) -> None:
    for name in "123":
        await put(engine, name={"S": name})
    first, second, third = [each["dynamodb"]["SequenceNumber"] for each in await records(engine)]
    after = await records(engine, None, "AFTER_SEQUENCE_NUMBER", SequenceNumber=second)
    assert [each["dynamodb"]["SequenceNumber"] for each in after] == [third]
    assert int(first) < int(second) < int(third)


async def test_latest_reads_what_comes_after_it(engine: Embedded) -> None:
    await put(engine, name={"S": "1"})
    latest = await iterator(engine, (await shards(engine))[0]["ShardId"], "LATEST")
    await put(engine, name={"S": "2"})
    [found] = (await streams(engine, "GetRecords", ShardIterator=latest))["Records"]
    assert found["dynamodb"]["NewImage"]["name"] == {"S": "2"}


class Clocked:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def test_an_iterator_expires_after_a_quarter_of_an_hour(engine: Embedded) -> None:
    clock = Clocked()
    control = StreamControl("555566661111", "eu-west-1", TABLE)
    api = SandboxStreams(lambda: iter([control.stream]), clock)
    [shard] = control.open_shards()
    request = {"StreamArn": control.stream.stream_arn, "ShardId": shard, "ShardIteratorType": "LATEST"}
    made = api.run("GetShardIterator", request)
    clock.now += 899
    assert api.run("GetRecords", made)["Records"] == []
    clock.now += 2
    with pytest.raises(AwsFault) as fault:
        api.run("GetRecords", made)
    assert fault.value.name == "ExpiredIteratorException"


async def test_a_stream_is_described_ten_times_a_second(engine: Embedded) -> None:
    clock, control = Clocked(), StreamControl("555566661111", "eu-west-1", TABLE)
    api = SandboxStreams(lambda: iter([control.stream]), clock)
    for _ in range(10):
        api.run("DescribeStream", {"StreamArn": control.stream.stream_arn})
    with pytest.raises(AwsFault) as fault:
        api.run("DescribeStream", {"StreamArn": control.stream.stream_arn})
    assert fault.value.name == "LimitExceededException"
    clock.now += 1.1
    assert api.run("DescribeStream", {"StreamArn": control.stream.stream_arn})
