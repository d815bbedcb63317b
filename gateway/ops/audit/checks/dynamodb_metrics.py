"""What CloudWatch publishes about DynamoDB: the dimensions of each metric, and how often it has a value.

CloudWatch accepts an alarm on dimensions that are never published, or on more values than it gets; such an alarm
never fires.
"""

from collections.abc import Mapping
from math import ceil
from typing import Final

from gateway.ops.audit.facts import Alarm, Metric

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
_OF_STREAM: Final = ("ReturnedBytes", "ReturnedRecordsCount")
# the reasons of throttling, which CloudWatch counts one by one
_CAUSES: Final = ("KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit")

ALLOWED: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    **dict.fromkeys(_BY_OPERATION, (_OPERATION,)),
    **{f"{what}{kind}CapacityUnits": _EITHER for what in ("Consumed", "Provisioned") for kind in ("Read", "Write")},
    **{f"{kind}ThrottleEvents": _EITHER for kind in ("Read", "Write")},
    **{f"{kind}{cause}ThrottleEvents": _EITHER for kind in ("Read", "Write") for cause in _CAUSES},
    **{f"OnlineIndex{what}": (_INDEX,) for what in ("ConsumedWriteCapacity", "PercentageProgress", "ThrottleEvents")},
    **dict.fromkeys(_BY_TABLE, (_TABLE,)),
    **dict.fromkeys(_OF_STREAM, (_STREAM,)),
    **dict.fromkeys(("ReplicationLatency", "PendingReplicationCount"), (_REPLICA,)),
    "UserErrors": (_ACCOUNT,),
    **{f"AccountMax{what}": (_ACCOUNT,) for what in ("Reads", "Writes", "TableLevelReads", "TableLevelWrites")},
    **{f"AccountProvisioned{kind}CapacityUtilization": (_ACCOUNT,) for kind in ("Read", "Write")},
    **{f"MaxProvisionedTable{kind}CapacityUtilization": (_ACCOUNT,) for kind in ("Read", "Write")},
}


def dimension_fault(metric: Metric) -> str | None:
    """What is wrong with the dimensions of a metric; None if they are right or the metric is not in the list."""
    allowed = ALLOWED.get(metric.name)
    actual = frozenset(metric.dimensions)
    if metric.namespace != NAMESPACE or allowed is None or actual in allowed:
        return None
    right = " or ".join("+".join(sorted(names, reverse=True)) or "no dimension" for names in allowed)
    return f"{metric.name} by {'+'.join(sorted(actual, reverse=True)) or 'no dimension'} never has a value: use {right}"


EVERY_MINUTE: Final = frozenset(
    (
        *(*_BY_OPERATION, *_BY_TABLE, *_OF_STREAM, "UserErrors"),
        *(f"Consumed{kind}CapacityUnits" for kind in ("Read", "Write")),
        *(f"{kind}{cause}ThrottleEvents" for kind in ("Read", "Write") for cause in ("", *_CAUSES)),
    )
)
_OTHERS: Final = 300
"""Seconds between two values of every other DynamoDB metric."""


def period_fault(alarm: Alarm) -> str | None:
    """What is wrong with the period of an alarm; None if its metrics have values often enough."""
    late = [metric for metric in alarm.metrics if _starves(alarm, metric)]
    if not late:
        return None
    return (
        f"{late[0].name} has a value every {_OTHERS} s: of {alarm.periods} periods of {late[0].period} s never "
        f"{alarm.points} have one; use a period of {_OTHERS} s"
    )


def _starves(alarm: Alarm, metric: Metric) -> bool:
    if metric.namespace != NAMESPACE or metric.name not in ALLOWED or metric.name in EVERY_MINUTE:
        return False
    return metric.period < _OTHERS and alarm.points > ceil(alarm.periods * metric.period / _OTHERS)
