"""Authorisations of the DynamoDB operations that do not name items: tables, backups, streams, tags and so on."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_schemas import TableRegistry, checked_arn, checked_name
from gateway.iam.dynamodb.wire import Body
from gateway.iam.language.verdict import Authorisation

Resources = Callable[[Body, TableRegistry], tuple[str, ...]]


def control(operation: str, body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """One authorisation for each resource that the operation names and for each further action that it implies."""
    resources = CONTROL[operation](body, place)
    actions = [operation, *(action for parameter, action in _IMPLIED.get(operation, ()) if body.get(parameter))]
    return tuple(Authorisation(f"dynamodb:{action}", resource, {}) for action in actions for resource in resources)


def _everything(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return ("*",)


def _table(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return (place.table_arn(body.get("TableName")),)


def _index(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return (place.index_arn(body.get("TableName"), body.get("IndexName")),)


def _table_and_index(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return _table(body, place) + (() if body.get("IndexName") is None else _index(body, place))


def _arn(parameter: str, *kinds: str) -> Resources:
    return lambda body, place: (checked_arn(body.get(parameter), *kinds),)


def _global_table(body: Body, place: TableRegistry) -> tuple[str, ...]:
    name = checked_name(body.get("GlobalTableName"))
    return (f"arn:{place.partition}:dynamodb::{place.account}:global-table/{name}",)


def _global_and_table(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return (*_global_table(body, place), place.table_arn(body.get("GlobalTableName")))


def _imported(body: Body, place: TableRegistry) -> tuple[str, ...]:
    created: Any = body.get("TableCreationParameters")
    return (place.table_arn(created.get("TableName") if isinstance(created, dict) else None),)


def _from_backup(body: Body, place: TableRegistry) -> tuple[str, ...]:
    return (checked_arn(body.get("BackupArn"), "table"), place.table_arn(body.get("TargetTableName")))


def _from_table(body: Body, place: TableRegistry) -> tuple[str, ...]:
    named = [body[name] for name in ("SourceTableName", "SourceTableArn") if body.get(name) is not None]
    if not named:
        raise NotUnderstood("a restore must name its source")
    return (*(place.table_arn(source) for source in named), place.table_arn(body.get("TargetTableName")))


def _records(body: Body, place: TableRegistry) -> tuple[str, ...]:
    # AWS documents an iterator as opaque, but writes the ARN of its stream at its beginning.
    iterator = body.get("ShardIterator")
    return (checked_arn(iterator.split("|", 1)[0] if isinstance(iterator, str) else None, "table"),)


_IMPLIED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "CreateTable": (("Tags", "TagResource"), ("ResourcePolicy", "PutResourcePolicy")),
}
_BACKUP: Final = _arn("BackupArn", "table")
_RESOURCE: Final = _arn("ResourceArn", "table")
_STREAM: Final = _arn("StreamArn", "table")
_BULK: Final = _arn("BulkOperationArn", "table", "bulk-operation")

_NAMED: Final[Mapping[Resources, str]] = {
    _BULK: "CancelBulkOperation DescribeBulkOperation",
    _table: (
        "CreateBackup CreateTable DeleteTable DescribeContinuousBackups DescribeKinesisStreamingDestination "
        "DescribeTable DescribeTableReplicaAutoScaling DescribeTimeToLive DisableKinesisStreamingDestination "
        "EnableKinesisStreamingDestination StartBulkPutItems UpdateContinuousBackups "
        "UpdateKinesisStreamingDestination UpdateTable UpdateTableReplicaAutoScaling UpdateTimeToLive"
    ),
    _global_and_table: "CreateGlobalTable UpdateGlobalTable UpdateGlobalTableSettings",
    _BACKUP: "DeleteBackup DescribeBackup",
    _RESOURCE: "DeleteResourcePolicy GetResourcePolicy ListTagsOfResource PutResourcePolicy TagResource UntagResource",
    _table_and_index: "DescribeContributorInsights UpdateContributorInsights",
    _everything: (
        "DescribeEndpoints DescribeLimits ListBackups ListBulkOperations ListContributorInsights ListExports "
        "ListGlobalTables ListImports ListStreams ListTables"
    ),
    _arn("ExportArn", "table"): "DescribeExport",
    _global_table: "DescribeGlobalTable DescribeGlobalTableSettings",
    _arn("ImportArn", "table"): "DescribeImport",
    _STREAM: "DescribeStream GetShardIterator",
    _arn("TableArn", "table"): "ExportTableToPointInTime",
    _records: "GetRecords",
    _imported: "ImportTable",
    _from_backup: "RestoreTableFromBackup",
    _from_table: "RestoreTableToPointInTime",
    _index: "SearchVectors",
}
CONTROL: Final[Mapping[str, Resources]] = {
    operation: resources for resources, operations in _NAMED.items() for operation in operations.split()
}
