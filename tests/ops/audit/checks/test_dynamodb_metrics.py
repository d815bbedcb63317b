import json
from pathlib import Path

import pytest

from gateway.ops.audit.checks.dynamodb_metrics import ALLOWED, EVERY_MINUTE, dimension_fault, period_fault
from gateway.ops.audit.facts import Alarm, Metric

VALUES = {"TableName": "shop", "Operation": "Query", "GlobalSecondaryIndexName": "GSI1"}

# the table of metrics that CloudWatch publishes, written down a second time on purpose
ORACLE = [
    ("SuccessfulRequestLatency", {"TableName", "Operation"}),
    ("ThrottledRequests", {"TableName", "Operation"}),
    ("SystemErrors", {"TableName", "Operation"}),
    ("ReturnedItemCount", {"TableName", "Operation"}),
    ("ConsumedReadCapacityUnits", {"TableName"}),
    ("ConsumedWriteCapacityUnits", {"TableName", "GlobalSecondaryIndexName"}),
    ("ProvisionedReadCapacityUnits", {"TableName", "GlobalSecondaryIndexName"}),
    ("ProvisionedWriteCapacityUnits", {"TableName"}),
    ("ReadThrottleEvents", {"TableName"}),
    ("WriteThrottleEvents", {"TableName", "GlobalSecondaryIndexName"}),
    ("OnlineIndexThrottleEvents", {"TableName", "GlobalSecondaryIndexName"}),
    ("ConditionalCheckFailedRequests", {"TableName"}),
    ("TransactionConflict", {"TableName"}),
    ("TimeToLiveDeletedItemCount", {"TableName"}),
    ("UserErrors", set()),
    ("AccountProvisionedReadCapacityUtilization", set()),
    ("MaxProvisionedTableWriteCapacityUtilization", set()),
    ("ReplicationLatency", {"TableName", "ReceivingRegion"}),
]


def metric(name: str, dimensions: set[str], namespace: str = "AWS/DynamoDB") -> Metric:
    return Metric(namespace, name, {each: VALUES.get(each, "x") for each in dimensions}, "Sum")


@pytest.mark.parametrize(("name", "dimensions"), ORACLE)
def test_every_known_set_of_dimensions_is_right(name: str, dimensions: set[str]) -> None:
    assert frozenset(dimensions) in ALLOWED[name]
    assert dimension_fault(metric(name, dimensions)) is None


@pytest.mark.parametrize(
    ("name", "dimensions", "right"),
    [
        ("ThrottledRequests", {"TableName"}, "TableName+Operation"),
        ("UserErrors", {"TableName"}, "no dimension"),
        ("ConsumedReadCapacityUnits", set(), "TableName or TableName+GlobalSecondaryIndexName"),
        ("SystemErrors", {"TableName"}, "TableName+Operation"),
        ("OnlineIndexThrottleEvents", {"TableName"}, "TableName+GlobalSecondaryIndexName"),
    ],
)
def test_the_mistakes_of_public_modules_are_found(name: str, dimensions: set[str], right: str) -> None:
    fault = dimension_fault(metric(name, dimensions))
    assert fault is not None
    assert fault.endswith(f"never has a value: use {right}")


def test_the_alarms_of_terraform_are_held_against_the_same_sets() -> None:
    path = Path(__file__).parents[3] / "terraform" / "dimension_sets.json"
    sets = json.loads(path.read_text(encoding="utf-8"))["AWS/DynamoDB"]
    assert {name: {frozenset(each) for each in listed} for name, listed in sets.items()} == {
        name: set(ALLOWED[name]) for name in sets
    }


def test_metrics_of_others_are_not_judged() -> None:
    assert dimension_fault(metric("ThrottledRequests", {"TableName"}, "Custom")) is None
    assert dimension_fault(metric("NewMetricOfNextYear", {"TableName"})) is None


def alarm(name: str, period: int, periods: int, points: int, namespace: str = "AWS/DynamoDB") -> Alarm:
    metric = Metric(namespace, name, {"TableName": "shop"}, "Sum", period)
    return Alarm("a", (metric,), actions=("topic",), periods=periods, points=points)


@pytest.mark.parametrize(
    ("name", "period", "periods", "points", "fires"),
    [
        ("ProvisionedWriteCapacityUnits", 60, 5, 5, False),
        ("OnlineIndexThrottleEvents", 60, 5, 3, False),
        ("ProvisionedWriteCapacityUnits", 60, 5, 1, True),
        ("ProvisionedWriteCapacityUnits", 300, 3, 3, True),
        ("ConsumedWriteCapacityUnits", 60, 5, 5, True),
        ("WriteKeyRangeThroughputThrottleEvents", 60, 5, 3, True),
        ("NewMetricOfNextYear", 60, 5, 5, True),
    ],
)
def test_an_alarm_fires_only_where_enough_values_come(
    name: str, period: int, periods: int, points: int, fires: bool
) -> None:
    assert (period_fault(alarm(name, period, periods, points)) is None) is fires


def test_periods_of_other_namespaces_are_not_checked() -> None:
    assert period_fault(alarm("ProvisionedWriteCapacityUnits", 60, 5, 5, "Custom")) is None


def test_only_known_metrics_are_published_every_minute() -> None:
    assert set(ALLOWED) >= EVERY_MINUTE
