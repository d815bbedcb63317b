"""Which dimensions each DynamoDB metric has: an alarm with others is accepted by CloudWatch and never fires."""

from collections.abc import Mapping
from typing import Final

from gateway.ops.audit.facts import Metric

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
