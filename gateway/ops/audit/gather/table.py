"""The table as DynamoDB describes it: keys, indexes, capacity, TTL, recovery, stream, encryption, resource policy."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.ops.audit.facts import BackupFacts, IndexFacts, KeyFacts, ScalingTarget, Statements, TableFacts, TtlFacts
from gateway.ops.audit.gather.account import FactUnavailable, Live
from gateway.ops.capacity.demand import TABLE, Need

_NO_LIMIT = float("inf")


def table_facts(live: Live, table: str) -> TableFacts:
    description = live.call("dynamodb", "describe_table", TableName=table)["Table"]
    mode = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    indexes = [_index(index) for index in description.get("GlobalSecondaryIndexes") or ()]
    local = [_index(index) for index in description.get("LocalSecondaryIndexes") or ()]
    return TableFacts(
        arn=description["TableArn"],
        status=description.get("TableStatus", "unknown"),
        on_demand=mode == "PAY_PER_REQUEST",
        keys=_keys(description),
        key_types={
            definition["AttributeName"]: definition["AttributeType"]
            for definition in description.get("AttributeDefinitions", ())
        },
        indexes={index.name: index for index in indexes},
        provisioned=_provisioned(description),
        limit=_limit(description),
        deletion_protection=bool(description.get("DeletionProtectionEnabled")),
        key_arn=_key(description.get("SSEDescription", {})),
        stream=_stream(description.get("StreamSpecification", {})),
        local_indexes={index.name: index for index in local},
    )


def _key(description: Mapping[str, Any]) -> str | None:
    # the key that was used before may still be named
    return None if description.get("Status") in ("DISABLING", "DISABLED") else description.get("KMSMasterKeyArn")


def _stream(description: Mapping[str, Any]) -> str | None:
    return description.get("StreamViewType", "unknown") if description.get("StreamEnabled") else None


def key_facts(live: Live, arn: str | None) -> KeyFacts | None:
    """None if DynamoDB encrypts with its own key, which it does not name."""
    if arn is None:
        return None
    metadata = live.call("kms", "describe_key", KeyId=arn)["KeyMetadata"]
    # KMS rotates the key of a service automatically, and does not report it
    ours = metadata.get("KeyManager") == "CUSTOMER"
    rotation = live.call("kms", "get_key_rotation_status", KeyId=arn) if ours else {}
    return KeyFacts(
        metadata.get("KeyManager", "unknown"),
        metadata.get("KeyState", "unknown"),
        bool(rotation.get("KeyRotationEnabled")),
    )


def ttl_facts(live: Live, table: str) -> TtlFacts:
    description = live.call("dynamodb", "describe_time_to_live", TableName=table).get("TimeToLiveDescription", {})
    return TtlFacts(description.get("TimeToLiveStatus", "DISABLED"), description.get("AttributeName"))


def backup_facts(live: Live, table: str) -> BackupFacts:
    answer = live.call("dynamodb", "describe_continuous_backups", TableName=table)
    recovery = answer.get("ContinuousBackupsDescription", {}).get("PointInTimeRecoveryDescription", {})
    return BackupFacts(recovery.get("PointInTimeRecoveryStatus") == "ENABLED", recovery.get("RecoveryPeriodInDays"))


def table_policy(live: Live, arn: str) -> Statements | None:
    try:
        policy = json.loads(live.call("dynamodb", "get_resource_policy", ResourceArn=arn)["Policy"])
    except FactUnavailable as error:
        if error.code == "PolicyNotFoundException":
            return None
        raise
    return policy if isinstance(policy, dict) else {}


def _index(description: Mapping[str, Any]) -> IndexFacts:
    projection = description.get("Projection", {})
    extra = sorted(projection.get("NonKeyAttributes", ()))
    return IndexFacts(
        name=description["IndexName"],
        keys=_keys(description),
        projection=" ".join([projection.get("ProjectionType", "unknown"), *extra]),
        status=description.get("IndexStatus", "unknown"),
        provisioned=_provisioned(description),
        limit=_limit(description),
    )


def _keys(description: Mapping[str, Any]) -> tuple[str, ...]:
    """Partition key first."""
    schema = sorted(description.get("KeySchema", ()), key=lambda key: key["KeyType"] != "HASH")
    return tuple(key["AttributeName"] for key in schema)


def _provisioned(description: Mapping[str, Any]) -> Need:
    throughput = description.get("ProvisionedThroughput", {})
    return Need(throughput.get("ReadCapacityUnits", 0), throughput.get("WriteCapacityUnits", 0))


def _limit(description: Mapping[str, Any]) -> Need:
    throughput = description.get("OnDemandThroughput", {})
    numbers = (throughput.get(name, -1) for name in ("MaxReadRequestUnits", "MaxWriteRequestUnits"))
    # DynamoDB returns -1 if there is none
    return Need(*(float(number) if number > 0 else _NO_LIMIT for number in numbers))


# How autoscaling is configured for the table and its indexes.

_KINDS = {"ReadCapacityUnits": "read", "WriteCapacityUnits": "write"}


def scaling_facts(live: Live, table: str, indexes: tuple[str, ...]) -> tuple[ScalingTarget, ...]:
    places = {f"table/{table}": TABLE, **{f"table/{table}/index/{name}": name for name in indexes}}
    request: dict[str, Any] = {"ServiceNamespace": "dynamodb", "ResourceIds": list(places)}
    targets = live.pages("application-autoscaling", "describe_scalable_targets", "ScalableTargets", **request)
    # policies can be listed for one resource, or for all of them
    policies = live.pages(
        "application-autoscaling", "describe_scaling_policies", "ScalingPolicies", ServiceNamespace="dynamodb"
    )
    tracked = {
        (policy["ResourceId"], policy["ScalableDimension"]): _percent(policy)
        for policy in policies
        if policy.get("PolicyType") == "TargetTrackingScaling"
    }
    return tuple(
        ScalingTarget(
            places[target["ResourceId"]],
            _KINDS.get(target["ScalableDimension"].rpartition(":")[2], "unknown"),
            target["MinCapacity"],
            target["MaxCapacity"],
            tracked.get((target["ResourceId"], target["ScalableDimension"])),
        )
        for target in targets
        if target["ResourceId"] in places
    )


def _percent(policy: Any) -> float | None:
    value = policy.get("TargetTrackingScalingPolicyConfiguration", {}).get("TargetValue")
    return None if value is None else float(value)
