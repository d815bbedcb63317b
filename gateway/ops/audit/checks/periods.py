"""How often DynamoDB publishes each metric: an alarm that waits for more values than come never fires."""

from math import ceil
from typing import Final

from gateway.ops.audit.checks.signals import ALLOWED, NAMESPACE
from gateway.ops.audit.facts import Alarm, Metric

_CAUSES: Final = ("", "AccountLimit", "KeyRangeThroughput", "MaxOnDemandThroughput", "ProvisionedThroughput")
EVERY_MINUTE: Final = frozenset(
    (
        "ConditionalCheckFailedRequests",
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "ReturnedBytes",
        "ReturnedItemCount",
        "ReturnedRecordsCount",
        "SuccessfulRequestLatency",
        "SystemErrors",
        "ThrottledRequests",
        "TimeToLiveDeletedItemCount",
        "TransactionConflict",
        "UserErrors",
        *(f"{kind}{cause}ThrottleEvents" for kind in ("Read", "Write") for cause in _CAUSES),
    )
)
_OTHERS: Final = 300
"""Seconds between two values of every other metric of DynamoDB."""


def period_fault(alarm: Alarm) -> str | None:
    """What is wrong with how often an alarm asks; None where its values come often enough."""
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
