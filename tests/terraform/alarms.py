"""The alarms of a plan as values: which metrics each one looks at."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.terraform.plan import Plan

SETS: dict[str, dict[str, list[list[str]]]] = json.loads((Path(__file__).parent / "dimension_sets.json").read_text())


@dataclass(frozen=True, slots=True)
class Metric:
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str


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
        name = str(values["alarm_name"]).removeprefix("gateway-").partition("-")[2]
        queries = values.get("metric_query") or []
        expression = next((query["expression"] for query in queries if query.get("expression")), "")
        later = plan.unknown(address).get("dimensions") is True
        found[name] = Alarm(name, tuple(_metrics(values)), expression, values, later)
    return found


def known(metric: Metric, own_namespace: str, published: set[str]) -> bool:
    """Whether somebody publishes this metric with these dimensions; `published` are the names that we publish."""
    if metric.namespace == own_namespace:
        return metric.name in published and not metric.dimensions
    return sorted(metric.dimensions) in SETS.get(metric.namespace, {}).get(metric.name, [])


def _metrics(values: Mapping[str, Any]) -> Iterator[Metric]:
    queries = [query["metric"][0] for query in values.get("metric_query") or [] if query.get("metric")]
    for metric in queries:
        yield Metric(metric["namespace"], metric["metric_name"], metric["dimensions"] or {}, metric["stat"])
    if not queries:
        statistic = values.get("statistic") or values.get("extended_statistic") or ""
        yield Metric(values["namespace"], values["metric_name"], values.get("dimensions") or {}, statistic)
