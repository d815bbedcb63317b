"""The alarms that a production table needs, each as the metrics it must watch."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.iam.roles import READS
from gateway.ops.audit.checks.dimensions import INDEX_NAME, NAMESPACE, OPERATION, TABLE_NAME
from gateway.ops.audit.facts import CodeFacts, Metric
from gateway.ops.audit.lines import Case

_COUNT: Final = ("Sum",)
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
_KINDS: Final = ("Read", "Write")
_HIGH: Final = re.compile(r"p(99(\.\d+)?|100)")


@dataclass(frozen=True, slots=True)
class Signal:
    """Watched by an alarm on this metric with exactly these dimensions; `percentile` also takes p99 to p100."""

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
        same = (metric.namespace, metric.name, dict(metric.dimensions)) == (
            NAMESPACE,
            self.metric,
            dict(self.dimensions),
        )
        return same and (metric.statistic in self.statistics or (self.percentile and _high(metric.statistic)))


def _high(statistic: str) -> bool:
    return _HIGH.fullmatch(statistic) is not None


def signals(case: Case) -> Iterator[Signal]:
    table = case.facts.table
    whole = {TABLE_NAME: case.subject.table}
    places = (whole, *({**whole, INDEX_NAME: name} for name in table.indexes))
    for kind in _KINDS:
        for place in places:
            yield Signal("throttling", f"{kind}ThrottleEvents", place, _COUNT)
        # on demand the indexes have no ceiling of their own to be watched
        for place in places[:1] if table.on_demand else places:
            yield Signal("capacity", f"Consumed{kind}CapacityUnits", place, ("Sum", "Average"))
        if not table.on_demand:
            yield Signal("capacity", f"Provisioned{kind}CapacityUnits", whole, ("Maximum", "Average"))
    for operation in operations(case.facts.code):
        named = {**whole, OPERATION: operation}
        yield Signal("errors", "SystemErrors", named, _COUNT)
        yield Signal("latency", "SuccessfulRequestLatency", named, (), percentile=True)
    yield Signal("scans", "SuccessfulRequestLatency", {**whole, OPERATION: "Scan"}, ("SampleCount",))


def operations(code: CodeFacts) -> tuple[str, ...]:
    """Those that this installation sends; reads in any case."""
    return (*READS, *(name for name in _WRITES if name in code.sends))
