"""Devices: readings by the hour, kept as long as the device says, the latest in one call."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any

import pytest

from gateway.store.write import upserts
from tests.demo.operations import change, query_field, rows
from tests.graph.fixtures import MemoryEndpoint

REGISTER = """mutation ($input: RegisterDeviceInput!) {
  registerDevice(input: $input) { device { deviceId retentionDays version location } errors { code field } } }"""
RECORD = """mutation ($input: RecordReadingInput!, $key: String) {
  recordReading(input: $input, idempotencyKey: $key) {
    reading { recordedAt value unit expiresAt device { title } } errors { code field message } } }"""
BULK = """mutation ($id: ID!, $readings: [NewReadingInput!]!, $key: String) {
  recordReadings(input: {deviceId: $id, readings: $readings}, idempotencyKey: $key) {
    written device { deviceId latest { value } } errors { code field message } } }"""
READ = """
query ($id: ID!, $range: DateTimeRange, $hours: Int, $first: Int, $after: String, $last: Int, $before: String) {
  readings(deviceId: $id, recordedAt: $range, lastHours: $hours,
           first: $first, after: $after, last: $last, before: $before) {
    nodes { value recordedAt } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
LATEST = "query ($id: ID!) { latestReading(deviceId: $id) { value recordedAt } }"

NOW = datetime.now(UTC).replace(microsecond=0)


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).isoformat()


def measured(*hours: float) -> list[dict[str, Any]]:
    """A reading for each of these ages; its value is the age in minutes."""
    return [{"recordedAt": ago(each), "value": str(round(each * 60))} for each in hours]


async def register(api: MemoryEndpoint, device: str = "d", **more: Any) -> Any:
    return await change(api, REGISTER, input={"deviceId": device, "title": "Thermometer", **more})


async def values(api: MemoryEndpoint, **arguments: Any) -> list[int]:
    page = await query_field(api, READ, **{"id": "d", "first": 100, **arguments})
    return [int(node["value"]) for node in page["nodes"]]


async def test_a_device_is_registered_once_and_keeps_readings_for_30_days(api: MemoryEndpoint) -> None:
    made = await register(api)
    assert made["errors"] == []
    assert made["device"] == {"deviceId": "d", "retentionDays": 30, "version": 1, "location": None}
    assert (await register(api))["errors"] == [{"code": "ALREADY_EXISTS", "field": "deviceId"}]
    assert (await register(api, "other", retentionDays=7))["device"]["retentionDays"] == 7


@pytest.mark.parametrize("days", [0, -1, 3_651])
async def test_a_retention_makes_sense(api: MemoryEndpoint, days: int) -> None:
    expected = [{"code": "INVALID", "field": "retentionDays"}]
    assert (await register(api, retentionDays=days))["errors"] == expected
    update = "mutation ($d: Int) { updateDevice(input: {deviceId: $id, retentionDays: $d}) { errors { code field } } }"
    await register(api)
    assert (await change(api, update.replace("$id", '"d"'), d=days))["errors"] == expected


async def test_a_device_is_changed_safely(api: MemoryEndpoint) -> None:
    await register(api)
    update = """mutation ($version: Int) { updateDevice(input: {deviceId: "d", title: "New", version: $version}) {
      device { title version } errors { code currentVersion } } }"""
    assert (await change(api, update, version=1))["device"] == {"title": "New", "version": 2}
    late = await change(api, update, version=1)
    assert late["errors"] == [{"code": "CONFLICT", "currentVersion": 2}]


async def test_all_devices_are_listed_newest_first(api: MemoryEndpoint) -> None:
    await register(api, "late")
    found = await query_field(api, "{ allDevices(first: 2) { nodes { deviceId latest { value } } } }")
    assert [node["deviceId"] for node in found["nodes"]] == ["late", "d-1001"]
    assert Counter(api.calls) == {"Query": 4, "BatchGetItem": 1}


async def test_a_reading_is_recorded_with_the_expiry_of_its_device(api: MemoryEndpoint) -> None:
    await register(api, retentionDays=2)
    recorded = await change(api, RECORD, input={"deviceId": "d", "recordedAt": ago(1), "value": "21.5", "unit": "°C"})
    assert recorded["errors"] == []
    assert recorded["reading"]["device"] == {"title": "Thermometer"}
    [row] = rows(api, "Reading", deviceId="d")
    at = NOW - timedelta(hours=1)
    assert row["PK"]["S"] == f"TENANT#acme#DEVICE#d#{at:%Y-%m-%d-%H}"
    assert row["SK"]["S"] == f"{at:%Y-%m-%dT%H:%M:%S}.000000Z"
    assert int(row["ttl"]["N"]) == int((at + timedelta(days=2)).timestamp())


async def test_recording_is_one_read_and_one_transaction(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, RECORD.replace("device { title }", ""), input={"deviceId": "d", **measured(1)[0]})
    assert Counter(api.calls) == {"GetItem": 1, "TransactWriteItems": 1}


@pytest.mark.parametrize(
    ("hours", "words"), [(-1, "is in the future"), (-24 * 365, "is in the future"), (25, "older than the 1 days")]
)
async def test_a_reading_that_cannot_be_kept_is_refused(api: MemoryEndpoint, hours: float, words: str) -> None:
    await register(api, retentionDays=1)
    single = await change(api, RECORD, input={"deviceId": "d", **measured(hours)[0]})
    bulk = await change(api, BULK, id="d", readings=measured(1, hours))
    for refused, field in ((single, "recordedAt"), (bulk, "readings")):
        [error] = refused["errors"]
        assert (error["code"], error["field"]) == ("INVALID", field)
        assert words in error["message"]
    assert rows(api, "Reading", deviceId="d") == []


async def test_a_reading_of_no_device_is_refused(api: MemoryEndpoint) -> None:
    for refused in (
        await change(api, RECORD, input={"deviceId": "d", **measured(1)[0]}),
        await change(api, BULK, id="d", readings=measured(1)),
    ):
        assert (refused["errors"][0]["code"], refused["errors"][0]["field"]) == ("NOT_FOUND", "deviceId")


async def test_the_same_reading_twice_is_one(api: MemoryEndpoint) -> None:
    await register(api)
    for value in ("1", "2"):
        await change(api, RECORD, input={"deviceId": "d", "recordedAt": ago(1), "value": value})
    assert await values(api) == [2]
    await change(api, BULK, id="d", readings=[*measured(1), *measured(1)])
    assert await values(api) == [60]


async def test_the_latest_reading_is_one_call_and_one_that_comes_late_does_not_take_its_place(
    api: MemoryEndpoint,
) -> None:
    await register(api)
    assert await query_field(api, LATEST, id="d") is None
    for hours in (3, 1, 2):
        await change(api, RECORD, input={"deviceId": "d", **measured(hours)[0]})
    assert (await query_field(api, LATEST, id="d"))["value"] == "60"
    assert api.calls == ["GetItem"]
    await change(api, BULK, id="d", readings=measured(5, 0.5, 4))
    assert (await query_field(api, LATEST, id="d"))["value"] == "30"
    assert await values(api) == [30, 60, 120, 180, 240, 300]


async def test_the_latest_reading_is_right_when_many_are_recorded_at_once(api: MemoryEndpoint) -> None:
    await register(api)
    given = [{"input": {"deviceId": "d", **each}} for each in measured(*range(1, 13))]
    answers = await asyncio.gather(*(api.post(RECORD, each, "acme/admin") for each in given))
    assert all(answer.json()["data"]["recordReading"]["errors"] == [] for answer in answers)
    assert (await query_field(api, LATEST, id="d"))["value"] == "60"
    assert len(rows(api, "Reading", deviceId="d")) == 12


async def test_a_latest_reading_that_has_expired_is_none(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, RECORD, input={"deviceId": "d", **measured(1)[0]})
    for row in (*rows(api, "Reading", deviceId="d"), *rows(api, "LatestReading", deviceId="d")):
        row["ttl"] = {"N": "1"}
    assert await query_field(api, LATEST, id="d") is None
    assert await values(api) == []


async def test_a_bulk_is_written_in_batches_of_25(api: MemoryEndpoint) -> None:
    await register(api)
    readings = measured(*(number / 10 for number in range(60)))
    written = await change(api, BULK.replace("device { deviceId latest { value } }", ""), id="d", readings=readings)
    assert written == {"written": 60, "errors": []}
    assert Counter(api.calls) == {"GetItem": 1, "BatchWriteItem": 3, "TransactWriteItems": 1}
    assert len(await values(api)) == 60


@pytest.mark.parametrize("count", [0, 501])
async def test_a_bulk_has_bounds(api: MemoryEndpoint, count: int) -> None:
    await register(api)
    refused = await change(api, BULK, id="d", readings=measured(*([1] * count)))
    assert (refused["errors"][0]["code"], refused["errors"][0]["field"]) == ("INVALID", "readings")


async def test_a_bulk_that_cannot_be_written_in_time_says_how_much_is_missing(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upserts, "_SHARE", 0.001)  # of ten minutes
    await register(api)
    api.memory.left_out = repeat(2)
    variables: dict[str, Any] = {"id": "d", "readings": measured(*range(20)), "key": "once"}
    answer = (await api.post(BULK, variables, "acme/admin")).json()
    [error] = answer["errors"]
    assert error["extensions"]["code"] == "THROTTLED"
    assert error["message"] == "2 of 20 items were not written in time; send them again"
    api.memory.left_out = repeat(0)
    again = await change(api, BULK, **variables)
    assert (again["written"], again["errors"]) == (20, [])
    assert len(rows(api, "Reading", deviceId="d")) == 20


async def test_a_key_makes_a_bulk_and_a_reading_harmless_to_repeat(api: MemoryEndpoint) -> None:
    await register(api)
    cases: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        (BULK, {"id": "d", "readings": measured(1, 2)}, {"id": "d", "readings": measured(3)}),
        (RECORD, {"input": {"deviceId": "d", **measured(4)[0]}}, {"input": {"deviceId": "d", **measured(5)[0]}}),
    ]
    for query, given, other in cases:
        key = query[:20]
        first = await change(api, query, **{**given, "key": key})
        assert first["errors"] == []
        stored = {name: dict(row) for name, row in api.memory.rows.items()}
        assert await change(api, query, **{**given, "key": key}) == first
        assert api.memory.rows == stored
        refused = await change(api, query, **{**other, "key": key})
        assert (refused["errors"][0]["code"], refused["errors"][0]["field"]) == ("INVALID", "idempotencyKey")
    assert await values(api) == [60, 120, 240]


async def test_a_key_does_not_reach_over_to_the_next_mutation_of_an_operation(api: MemoryEndpoint) -> None:
    await register(api)
    both = """mutation ($one: RecordReadingInput!, $two: RecordReadingInput!) {
      a: recordReading(input: $one, idempotencyKey: "k") { errors { message } }
      b: recordReading(input: $two) { errors { message } } }"""
    inputs = [{"deviceId": "d", **each} for each in measured(1, 2)]
    data = await api.ask(both, {"one": inputs[0], "two": inputs[1]}, token="acme/admin")
    assert data == {"a": {"errors": []}, "b": {"errors": []}}
    assert await values(api) == [60, 120]


async def test_readings_are_read_by_range_by_hours_or_of_the_last_day(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, BULK, id="d", readings=measured(0, 1, 5, 23, 25, 50, 100, 600))
    assert await values(api) == [0, 60, 300, 1_380]
    assert await values(api, hours=2) == [0, 60]
    assert await values(api, hours=960) == [0, 60, 300, 1_380, 1_500, 3_000, 6_000, 36_000]
    assert await values(api, range={"from": ago(50), "to": ago(5)}) == [300, 1_380, 1_500, 3_000]
    assert await values(api, range={"from": ago(26)}) == [0, 60, 300, 1_380, 1_500]
    assert await values(api, range={"to": ago(90)}) == [6_000]


@pytest.mark.parametrize(
    "arguments",
    [{"hours": 0}, {"hours": 961}, {"hours": 1, "range": {"from": ago(1)}}, {"range": {"from": ago(2_000)}}],
)
async def test_a_range_that_makes_no_sense_is_refused(api: MemoryEndpoint, arguments: dict[str, Any]) -> None:
    await register(api)
    answer = (await api.post(READ, {"id": "d", **arguments})).json()
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert api.calls.count("Query") == 0


@pytest.mark.parametrize(
    ("size", "arguments"), [(4, {}), (7, {"hours": 30}), (3, {"range": {"from": ago(20), "to": ago(1)}})]
)
async def test_pages_follow_each_other_over_hours_in_both_directions(
    api: MemoryEndpoint, size: int, arguments: dict[str, Any]
) -> None:
    await register(api)
    await change(api, BULK, id="d", readings=measured(*(number * 1.3 for number in range(25))))
    whole = await values(api, **arguments)
    assert len(whole) > 12
    for count, cursor, more, at in (
        ("first", "after", "hasNextPage", "endCursor"),
        ("last", "before", "hasPreviousPage", "startCursor"),
    ):
        seen: list[int] = []
        where: dict[str, Any] = {}
        for _ in range(40):
            page = await query_field(api, READ, id="d", **arguments, **{count: size}, **where)
            found = [int(node["value"]) for node in page["nodes"]]
            seen = seen + found if count == "first" else found + seen
            if not page["pageInfo"][more]:
                break
            where = {cursor: page["pageInfo"][at]}
        assert seen == whole


async def test_hours_are_read_in_parallel_and_no_more_of_them_than_are_needed(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, BULK, id="d", readings=measured(*(number / 4 for number in range(100))))
    api.memory.most_running = 0
    page = await query_field(api, READ, id="d", first=10, hours=100)
    assert len(page["nodes"]) == 10
    assert api.calls == ["Query"] * 8
    assert api.memory.most_running == 8


async def test_devices_with_their_latest_readings_are_one_batch_each(api: MemoryEndpoint) -> None:
    ids = [f"d-{1001 + number}" for number in range(3)]
    found = await query_field(
        api, "query ($ids: [ID!]!) { devices(deviceIds: $ids) { title latest { value } } }", ids=ids
    )
    assert len(found) == 3
    assert Counter(api.calls) == {"BatchGetItem": 2}


async def test_a_removed_device_leaves_its_readings_to_expire(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, BULK, id="d", readings=measured(1, 2))
    remove = 'mutation { removeDevice(input: {deviceId: "d"}) { device { title } errors { code } } }'
    assert (await change(api, remove))["device"] == {"title": "Thermometer"}
    assert rows(api, "Device", deviceId="d") == rows(api, "LatestReading", deviceId="d") == []
    assert await values(api) == [60, 120]
    assert (await change(api, remove))["errors"] == [{"code": "NOT_FOUND"}]


async def test_a_tenant_reads_its_own_devices_only(api: MemoryEndpoint) -> None:
    await register(api)
    await change(api, BULK, id="d", readings=measured(1))
    for query in (READ, LATEST):
        [found] = (await api.post(query, {"id": "d"}, "globex/viewer")).json()["data"].values()
        assert not (found and found["nodes"])
    refused = (await api.post(BULK, {"id": "d", "readings": measured(1)}, "globex/admin")).json()
    assert refused["data"]["recordReadings"]["errors"][0]["code"] == "NOT_FOUND"


async def test_a_bulk_is_explained_by_the_form_of_its_keys() -> None:
    api = MemoryEndpoint(explain=True)
    await register(api)
    variables = {"id": "d", "readings": measured(1, 2)}
    answer = (await api.post(BULK, variables, "acme/admin", extensions={"explain": True})).json()
    [bulk] = [call for call in answer["extensions"]["explain"]["calls"] if call["operation"] == "BatchWriteItem"]
    assert sum(each["keys"] for each in bulk["touched"]) == 2
    assert {each["sort"] for each in bulk["touched"]} == {"<recordedAt>"}
