"""Attacks with operations that no tenant may use, with unusual spellings, and on hidden attributes."""

from collections.abc import Iterator
from string import Template
from typing import Any, Final

from gateway.iam.dynamodb import sample_requests
from gateway.model.tenant import partition
from gateway.ops.isolation.probes import (
    Probe,
    ProbeScene,
    key_probes,
    mutation_probes,
    other_subject_probes,
    pattern_probes,
    row_probes,
    subject_probes,
    write_probes,
)

# A table that does not exist, so that a request that is not denied finds nothing.
_ABSENT: Final = "isolation-probe-absent"
_STATEMENTS: Final = {
    "SELECT of everything": 'SELECT * FROM "$table"',
    "SELECT by foreign key": "SELECT * FROM \"$table\" WHERE $pk = '$foreign'",
    "SELECT by own or foreign key": "SELECT * FROM \"$table\" WHERE $pk = '$own' OR $pk = '$foreign'",
    "SELECT by IN": "SELECT * FROM \"$table\" WHERE $pk IN ['$own', '$foreign']",
    "SELECT behind a comment": 'SELECT * FROM "$table" -- WHERE $pk = own',
    "SELECT by a quoted name": 'SELECT * FROM "$table" WHERE "$pk" = \'$foreign\'',
    "EXISTS": "EXISTS(SELECT * FROM \"$table\" WHERE $pk = '$foreign' AND $sk = '~absent')",
    "UPDATE by foreign key": "UPDATE \"$table\" SET probe = 1 WHERE $pk = '$foreign' AND $sk = '~absent'",
    "DELETE by foreign key": "DELETE FROM \"$table\" WHERE $pk = '$foreign' AND $sk = '~absent'",
}


def probes(scene: ProbeScene) -> tuple[Probe, ...]:
    """Every probe of one session against one other tenant."""
    groups = (
        *(pattern_probes, subject_probes, row_probes, key_probes, write_probes),
        *(mutation_probes, other_subject_probes),
        *(wording_probes, whole_table_probes, control_probes),
    )
    all_probes = [probe for group in groups for probe in group(scene)]
    return (*all_probes, *(attribute_probes(scene) if scene.role.hidden else ()))


def wording_probes(scene: ProbeScene) -> Iterator[Probe]:
    """The other tenant's partition in spellings that a careless request parser would miss."""
    table, spec, few = scene.table, scene.model.table, scene.keys_only
    pk = partition(scene.victim, "USER#1")
    plain = sample_requests.query(table, spec, pk, few)
    for name, text in {
        "parentheses": "((#pk = :pk))",
        "tabs and line ends": "#pk\t=\n:pk",
        "the value first": ":pk = #pk",
    }.items():
        yield Probe("wording", f"Query with {name}", "Query", {**plain, "KeyConditionExpression": text})
    bare = {key: value for key, value in plain.items() if key != "KeyConditionExpression"}
    aliased = {**bare["ExpressionAttributeNames"], "#own": spec.pk}
    own = partition(scene.tenant, scene.own_path("Query"))
    values = {":pk": {"S": pk}, ":own": {"S": own}}
    both = {"ExpressionAttributeNames": aliased, "ExpressionAttributeValues": values}
    twice = {**bare, **both, "KeyConditionExpression": "#own = :own AND #pk = :pk"}
    yield Probe("wording", "Query that names the key twice", "Query", twice)
    legacy = {spec.pk: {"AttributeValueList": [{"S": pk}], "ComparisonOperator": "EQ"}}
    old = {"TableName": table, "KeyConditions": legacy, "AttributesToGet": list(few)}
    yield Probe("wording", "Query with legacy key conditions", "Query", old)
    place = scene.deployment
    arn = f"arn:{place.partition}:dynamodb:{place.region}:{place.account}:table/{table}"
    yield Probe("wording", "GetItem with the table's ARN", "GetItem", sample_requests.get(arn, scene.foreign(), few))
    yield Probe("wording", "GetItem from another table", "GetItem", sample_requests.get(_ABSENT, scene.own(), few))
    elsewhere = f"arn:{place.partition}:dynamodb:{place.region}:000000000000:table/{table}"
    yield Probe("wording", "GetItem from another account", "GetItem", sample_requests.get(elsewhere, scene.own(), few))
    start = {**sample_requests.query(table, spec, own, few), "ExclusiveStartKey": scene.foreign()}
    yield Probe("limits", "own Query that starts at a foreign key", "Query", start, "harmless")


def whole_table_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Operations that reach rows without leading keys."""
    table = scene.table
    yield Probe("whole table", "Scan", "Scan", {"TableName": table})
    yield Probe("whole table", "Scan of a segment", "Scan", {"TableName": table, "Segment": 0, "TotalSegments": 2})
    for index in scene.model.table.indexes:
        yield Probe("whole table", f"Scan of {index.name}", "Scan", {"TableName": table, "IndexName": index.name})
        vector = {"TableName": table, "IndexName": index.name}
        yield Probe("whole table", f"SearchVectors on {index.name}", "SearchVectors", vector)
    yield from _partiql(scene)


def _partiql(scene: ProbeScene) -> Iterator[Probe]:
    spec = scene.model.table
    words = {
        "table": scene.table,
        "pk": spec.pk,
        "sk": spec.sk,
        "own": partition(scene.tenant, "USER#1"),
        "foreign": partition(scene.victim, "USER#1"),
    }
    for name, text in _STATEMENTS.items():
        statement = {"Statement": Template(text).substitute(words)}
        yield Probe("whole table", f"PartiQL {name}", "ExecuteStatement", statement)
        yield Probe("whole table", f"PartiQL {name}, in a batch", "BatchExecuteStatement", {"Statements": [statement]})
        bound = {"TransactStatements": [statement]}
        yield Probe("whole table", f"PartiQL {name}, in a transaction", "ExecuteTransaction", bound)


def control_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Operations on tables, streams, backups and policies."""
    place = scene.deployment
    absent = f"arn:{place.partition}:dynamodb:{place.region}:{place.account}:table/{_ABSENT}"
    for operation, body in {**_on_tables(scene.table, absent), **_on_streams(scene.table, absent)}.items():
        yield Probe("tables", operation, operation, body)


def _on_tables(table: str, absent: str) -> dict[str, dict[str, Any]]:
    target = {"TargetTableName": f"{_ABSENT}-copy"}
    expiry = {"TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}}
    return {
        "DescribeTable": {"TableName": table},
        "ListTables": {},
        "UpdateTable": {"TableName": _ABSENT, "DeletionProtectionEnabled": True},
        "DeleteTable": {"TableName": _ABSENT},
        "UpdateTimeToLive": {"TableName": _ABSENT, **expiry},
        "PutResourcePolicy": {"ResourceArn": absent, "Policy": "{}"},
        "GetResourcePolicy": {"ResourceArn": absent},
        "DeleteResourcePolicy": {"ResourceArn": absent},
        "TagResource": {"ResourceArn": absent, "Tags": [{"Key": "probe", "Value": "probe"}]},
        "CreateBackup": {"TableName": _ABSENT, "BackupName": _ABSENT},
        "ListBackups": {},
        "RestoreTableToPointInTime": {"SourceTableName": _ABSENT, **target},
        "RestoreTableFromBackup": {"BackupArn": f"{absent}/backup/01489602797149-73d8d5bc", **target},
        "ExportTableToPointInTime": {"TableArn": absent, "S3Bucket": _ABSENT},
    }


def _on_streams(table: str, absent: str) -> dict[str, dict[str, Any]]:
    stream = f"{absent}/stream/2026-01-01T00:00:00.000"
    shard = {"ShardId": "shardId-00000000000000000000-00000000", "ShardIteratorType": "TRIM_HORIZON"}
    return {
        "ListStreams": {"TableName": table},
        "DescribeStream": {"StreamArn": stream},
        "GetShardIterator": {"StreamArn": stream, **shard},
        "GetRecords": {"ShardIterator": f"{stream}|1|AAAA"},
    }


def attribute_probes(scene: ProbeScene) -> Iterator[Probe]:
    """The session's own rows, but attributes that the role may not read: named, filtered by, nested, or with
    everything."""
    table, spec, few = scene.table, scene.model.table, scene.keys_only
    own, pk = scene.own(), partition(scene.tenant, scene.own_path("GetItem"))
    for name in scene.role.hidden:
        hidden = (*few, name)
        yield Probe("attributes", f"GetItem of `{name}`", "GetItem", sample_requests.get(table, own, hidden))
        batch = sample_requests.batch_get(table, [own], hidden)
        yield Probe("attributes", f"BatchGetItem of `{name}`", "BatchGetItem", batch)
        yield Probe("attributes", f"Query of `{name}`", "Query", sample_requests.query(table, spec, pk, hidden))
        nested = {
            "TableName": table,
            "Key": own,
            "ProjectionExpression": "#a.x",
            "ExpressionAttributeNames": {"#a": name},
        }
        yield Probe("attributes", f"GetItem inside `{name}`", "GetItem", nested)
        request = sample_requests.query(table, spec, pk, few)
        names = {**request["ExpressionAttributeNames"], "#a": name}
        filtered = {**request, "FilterExpression": "attribute_exists(#a)", "ExpressionAttributeNames": names}
        yield Probe("attributes", f"Query filtered by `{name}`", "Query", filtered)
        counted = {key: value for key, value in filtered.items() if key != "ProjectionExpression"}
        counted |= {"Select": "COUNT", "ExpressionAttributeNames": {"#pk": spec.pk, "#a": name}}
        yield Probe("attributes", f"count by `{name}`", "Query", counted)
    yield Probe("attributes", "GetItem of everything", "GetItem", sample_requests.get(table, own))
    yield Probe("attributes", "BatchGetItem of everything", "BatchGetItem", sample_requests.batch_get(table, [own]))
    yield Probe("attributes", "Query of everything", "Query", sample_requests.query(table, spec, pk))
    for index in spec.indexes:
        whole = sample_requests.query(table, spec, pk, (), index.name)
        yield Probe("attributes", f"Query of everything on {index.name}", "Query", whole)
