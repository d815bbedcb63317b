"""The alarms that a production table needs, each as the metrics it must watch."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.iam.policies.roles import READS
from gateway.ops.audit.facts import CodeFacts, Metric
from gateway.ops.audit.results import Case

# Which dimensions each DynamoDB metric has: an alarm with others is accepted by CloudWatch and never fires.

NAMESPACE: Final = "AWS/DynamoDB"
TABLE_NAME: Final = "TableName"
INDEX_NAME: Final = "GlobalSecondaryIndexName"
OPERATION: Final = "Operation"

_ACCOUNT: Final = frozenset[str]()
_TABLE: Final = frozenset((TABLE_NAME,))
_INDEX: Final = frozenset((TABLE_NAME, INDEX_NAME))
_OPERATION: Final = frozenset((TABLE_NAME, OPERATION))
_EITHER: Final = (_TABLE, _INDEX)
_STREAM: Final = frozenset((TABLE_NAME, OPERATION, "StreamLabel"))
_REPLICA: Final = frozenset((TABLE_NAME, "ReceivingRegion"))

_BY_OPERATION: Final = ("SuccessfulRequestLatency", "ThrottledRequests", "SystemErrors", "ReturnedItemCount")
_BY_TABLE: Final = ("ConditionalCheckFailedRequests", "TransactionConflict", "TimeToLiveDeletedItemCount")
# the reasons of throttling, which CloudWatch counts one by one
_CAUSES: Final = ("KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit")

ALLOWED: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    **dict.fromkeys(_BY_OPERATION, (_OPERATION,)),
    **{f"{what}{kind}CapacityUnits": _EITHER for what in ("Consumed", "Provisioned") for kind in ("Read", "Write")},
    **{f"{kind}ThrottleEvents": _EITHER for kind in ("Read", "Write")},
    **{f"{kind}{cause}ThrottleEvents": _EITHER for kind in ("Read", "Write") for cause in _CAUSES},
    **{f"OnlineIndex{what}": (_INDEX,) for what in ("ConsumedWriteCapacity", "PercentageProgress", "ThrottleEvents")},
    **dict.fromkeys(_BY_TABLE, (_TABLE,)),
    **dict.fromkeys(("ReturnedBytes", "ReturnedRecordsCount"), (_STREAM,)),
    **dict.fromkeys(("ReplicationLatency", "PendingReplicationCount"), (_REPLICA,)),
    "UserErrors": (_ACCOUNT,),
    **{f"AccountMax{what}": (_ACCOUNT,) for what in ("Reads", "Writes", "TableLevelReads", "TableLevelWrites")},
    **{f"AccountProvisioned{kind}CapacityUtilization": (_ACCOUNT,) for kind in ("Read", "Write")},
    **{f"MaxProvisionedTable{kind}CapacityUtilization": (_ACCOUNT,) for kind in ("Read", "Write")},
}


def dimension_fault(metric: Metric) -> str | None:
    """What is wrong with a metric's dimensions; None where they are right, or the metric is not known here."""
    allowed = ALLOWED.get(metric.name)
    given = frozenset(metric.dimensions)
    if metric.namespace != NAMESPACE or allowed is None or given in allowed:
        return None
    right = " or ".join("+".join(sorted(each, reverse=True)) or "no dimension" for each in allowed)
    return f"{metric.name} by {'+'.join(sorted(given, reverse=True)) or 'no dimension'} never has a value: use {right}"


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
