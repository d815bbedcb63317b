from pathlib import Path

import pytest

from gateway.ops.audit.checks.dynamodb_metrics import ALLOWED
from gateway.ops.audit.checks.signals import ALARMS, Signal, signals
from gateway.ops.audit.facts import Metric
from gateway.ops.audit.results import Case
from tests.ops.audit.spoil import provisioned


def test_every_signal_has_dimensions_that_exist(case: Case) -> None:
    for signal in (*signals(case), *signals(provisioned(case))):
        assert frozenset(signal.dimensions) in ALLOWED[signal.metric], signal.label


def test_throttling_is_watched_in_the_table_and_in_every_index(case: Case) -> None:
    places = {
        signal.dimensions.get("GlobalSecondaryIndexName", "table")
        for signal in signals(case)
        if signal.group == "throttling"
    }
    assert places == {"table", *case.facts.table.indexes}


def test_provisioned_capacity_is_watched_in_every_place(case: Case) -> None:
    def watched(one: Case) -> set[str]:
        return {signal.label for signal in signals(one) if signal.group == "capacity"}

    assert watched(case) == {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"}
    assert watched(provisioned(case)) >= {"ProvisionedReadCapacityUnits", "ConsumedWriteCapacityUnits of GSI2"}


def test_every_operation_that_the_gateway_sends_is_watched(case: Case) -> None:
    watched = {signal.dimensions["Operation"] for signal in signals(case) if signal.group == "latency"}
    assert watched == {"BatchGetItem", "BatchWriteItem", "GetItem", "Query", "TransactWriteItems"}


@pytest.mark.parametrize(
    ("name", "dimensions", "statistic", "watched"),
    [
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "Query"}, "p99", True),
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "Query"}, "Average", False),
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "Query"}, "p99.9", True),
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "Query"}, "p95", False),
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "Query"}, "Minimum", False),
        ("SuccessfulRequestLatency", {"TableName": "shop", "Operation": "GetItem"}, "p99", False),
        ("SuccessfulRequestLatency", {"TableName": "shop"}, "p99", False),
        ("SystemErrors", {"TableName": "shop", "Operation": "Query"}, "Average", False),
    ],
)
def test_a_signal_needs_its_metric_its_dimensions_and_its_statistic(
    name: str, dimensions: dict[str, str], statistic: str, watched: bool
) -> None:
    named = {"TableName": "shop", "Operation": "Query"}
    signal = Signal("latency", "SuccessfulRequestLatency", named, (), percentile=True)
    assert signal.watched_by(Metric("AWS/DynamoDB", name, dimensions, statistic)) is watched


def test_the_alarms_are_those_that_terraform_deploys() -> None:
    deployed = Path(__file__).parents[4] / "terraform/modules/observability/alarms.json"
    assert ALARMS.read_text() == deployed.read_text(), f"cp {deployed} {ALARMS}"
