"""What autoscaling is told to do with the table and its indexes."""

from typing import Any

from gateway.ops.audit.account import Live
from gateway.ops.audit.facts import ScalingTarget
from gateway.ops.capacity.demand import TABLE

_KINDS = {"ReadCapacityUnits": "read", "WriteCapacityUnits": "write"}


def scaling_facts(live: Live, table: str, indexes: tuple[str, ...]) -> tuple[ScalingTarget, ...]:
    places = {f"table/{table}": TABLE, **{f"table/{table}/index/{name}": name for name in indexes}}
    asked: dict[str, Any] = {"ServiceNamespace": "dynamodb", "ResourceIds": list(places)}
    targets = live.pages("application-autoscaling", "describe_scalable_targets", "ScalableTargets", **asked)
    # policies can be asked for by one resource only, or all at once
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
