"""The alarms of a plan as values: which metrics each one looks at."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.terraform.plan import Plan
from tests.terraform.tool import SOURCES

DATA: dict[str, Any] = json.loads((SOURCES / "modules/observability/alarms.json").read_text())
SETS: dict[str, dict[str, list[list[str]]]] = json.loads((Path(__file__).parent / "dimension_sets.json").read_text())

# as the developer guide lists them ("DynamoDB metrics and dimensions"), of those that an alarm may use
_EVERY_MINUTE = {
    "ConsumedReadCapacityUnits",
    "ConsumedWriteCapacityUnits",
    "ReadKeyRangeThroughputThrottleEvents",
    "ReadThrottleEvents",
    "SuccessfulRequestLatency",
    "SystemErrors",
    "ThrottledRequests",
    "UserErrors",
    "WriteKeyRangeThroughputThrottleEvents",
    "WriteThrottleEvents",
}


@dataclass(frozen=True, slots=True)
class Metric:
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str
    period: int = 60


@dataclass(frozen=True, slots=True)
class Alarm:
    name: str
    metrics: tuple[Metric, ...]
    expression: str
    values: Mapping[str, Any]
    # its dimensions are made by the apply, such as the name of a load balancer
    later: bool = False

    @property
    def severity(self) -> str:
        return str(self.values["tags"]["severity"])


def alarms(plan: Plan) -> dict[str, Alarm]:
    """By name without the environment's."""
    found = {}
    for address, values in plan.of("aws_cloudwatch_metric_alarm").items():
        name = re.sub(r"^(gateway-)?[a-z]+-", "", str(values["alarm_name"]))
        queries = values.get("metric_query") or []
        expression = next((query["expression"] for query in queries if query.get("expression")), "")
        later = _unknown(plan.unknown(address))
        found[name] = Alarm(name, tuple(_metrics(values)), expression, values, later)
    return found


def _unknown(values: Mapping[str, Any]) -> bool:
    queries = [metric for query in values.get("metric_query") or () for metric in query.get("metric") or ()]
    return any(each.get("dimensions") is True for each in (values, *queries))


def known(metric: Metric, own_namespace: str, published: set[str]) -> bool:
    """Whether somebody publishes this metric with these dimensions; `published` are the names that we publish."""
    if metric.namespace == own_namespace:
        return metric.name in published and not metric.dimensions
    return sorted(metric.dimensions) in SETS.get(metric.namespace, {}).get(metric.name, [])


def published_every(metric: Metric) -> int:
    """Seconds: AWS lists the metrics of DynamoDB that have a value each minute, all others have one in five."""
    return 300 if metric.namespace == "AWS/DynamoDB" and metric.name not in _EVERY_MINUTE else 60


def _metrics(values: Mapping[str, Any]) -> Iterator[Metric]:
    queries = [query["metric"][0] for query in values.get("metric_query") or [] if query.get("metric")]
    for metric in queries:
        named = (metric["namespace"], metric["metric_name"], metric.get("dimensions") or {})
        yield Metric(*named, metric["stat"], metric["period"])
    if not queries:
        statistic = values.get("statistic") or values.get("extended_statistic") or ""
        named = (values["namespace"], values["metric_name"], values.get("dimensions") or {})
        yield Metric(*named, statistic, values["period"])
