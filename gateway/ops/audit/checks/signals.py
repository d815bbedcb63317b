"""The signals that a production table needs an alarm for, from the list of alarms that Terraform deploys."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from gateway.iam.policies.roles import READS
from gateway.ops.audit.checks.dynamodb_metrics import INDEX_NAME, NAMESPACE, OPERATION, TABLE_NAME
from gateway.ops.audit.facts import Metric
from gateway.ops.audit.results import Case

ALARMS: Final = Path(__file__).with_name("alarms.json")
"""A copy of terraform/modules/observability/alarms.json, for installations without the repository; a test compares."""

OPERATIONS: Final = (*READS, "BatchWriteItem", "TransactWriteItems")
"""The operations that the gateway sends to DynamoDB."""

_KINDS: Final = ("Read", "Write")
_HIGH: Final = re.compile(r"p(99(\.\d+)?|100)")
_Row = Mapping[str, Any]
_Instance = tuple[str, Mapping[str, str]]  # kind, dimensions


@dataclass(frozen=True, slots=True)
class Signal:
    """Watched by an alarm on this metric with exactly these dimensions; `percentile` also accepts p99 to p100."""

    group: str
    metric: str
    dimensions: Mapping[str, str]
    statistics: tuple[str, ...]
    percentile: bool = False

    @property
    def label(self) -> str:
        around = [value for name, value in self.dimensions.items() if name != TABLE_NAME]
        return " of ".join([self.metric, *around])

    def watched_by(self, metric: Metric) -> bool:
        if (metric.namespace, metric.name, metric.dimensions) != (NAMESPACE, self.metric, self.dimensions):
            return False
        high = self.percentile and _HIGH.fullmatch(metric.statistic) is not None
        return high or metric.statistic in self.statistics


def signals(case: Case) -> Iterator[Signal]:
    """One for each metric, place and operation of an alarm that has `audit` in alarms.json."""
    table = case.facts.table
    mode = "on_demand" if table.on_demand else "provisioned"
    for alarm in _alarms().values():
        if alarm.get("when", mode) != mode:
            continue
        for row in (alarm, *alarm.get("metrics", {}).values()):
            if "audit" in row:
                yield from _signals(row, _instances(case.subject.table, tuple(table.indexes), alarm["each"]))


def _signals(row: _Row, instances: Iterator[_Instance]) -> Iterator[Signal]:
    audit, statistic = row["audit"], row.get("statistic")
    accepted = tuple(audit.get("statistics", [statistic] if statistic else []))
    for kind, dimensions in instances:
        if not (audit.get("table_only") and INDEX_NAME in dimensions):
            metric = row["metric"].replace("{Kind}", kind)
            yield Signal(audit["group"], metric, dimensions, accepted, percentile="percentile" in row)


def _instances(table: str, indexes: tuple[str, ...], each: str) -> Iterator[_Instance]:
    """What an alarm is repeated for, as `instances` of the Terraform module `observability`."""
    whole = {TABLE_NAME: table}
    match each:
        case "scan":
            yield "", {**whole, OPERATION: "Scan"}
        case "operation":
            yield from (("", {**whole, OPERATION: operation}) for operation in OPERATIONS)
        case "place_kind":
            places = (whole, *({**whole, INDEX_NAME: name} for name in indexes))
            yield from ((kind, place) for place in places for kind in _KINDS)


@cache
def _alarms() -> Mapping[str, _Row]:
    content: Mapping[str, Mapping[str, _Row]] = json.loads(ALARMS.read_text(encoding="utf-8"))
    return content["alarms"]
