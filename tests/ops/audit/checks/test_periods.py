import pytest

from gateway.ops.audit.checks.periods import EVERY_MINUTE, period_fault
from gateway.ops.audit.checks.signals import ALLOWED
from gateway.ops.audit.facts import Alarm, Metric


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


def test_metrics_of_others_are_not_judged() -> None:
    assert period_fault(alarm("ProvisionedWriteCapacityUnits", 60, 5, 5, "Custom")) is None


def test_only_known_metrics_are_published_every_minute() -> None:
    assert set(ALLOWED) >= EVERY_MINUTE
