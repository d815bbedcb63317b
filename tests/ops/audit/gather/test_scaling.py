from typing import Any

from gateway.ops.audit.facts import ScalingTarget
from gateway.ops.audit.gather.account import AuditedAccount, Live
from gateway.ops.audit.gather.table import scaling_facts
from tests.ops.audit.fixtures import TABLE, client


def target(resource: str, dimension: str, **more: Any) -> None:
    named = {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}
    client("application-autoscaling").register_scalable_target(**named, MinCapacity=5, MaxCapacity=50)
    if more:
        metric = {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"}
        client("application-autoscaling").put_scaling_policy(
            PolicyName="track",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={"PredefinedMetricSpecification": metric, **more},
            **named,
        )


def test_targets_of_the_table_and_its_indexes_come_with_what_they_track(account: AuditedAccount) -> None:
    target(f"table/{TABLE}", "dynamodb:table:ReadCapacityUnits", TargetValue=70.0)
    target(f"table/{TABLE}/index/GSI1", "dynamodb:index:WriteCapacityUnits")
    target("table/other", "dynamodb:table:ReadCapacityUnits", TargetValue=50.0)
    live = Live(account)
    found = scaling_facts(live, TABLE, ("GSI1", "GSI2"))
    live.close()
    assert sorted(found, key=lambda each: each.place) == [
        ScalingTarget("GSI1", "write", 5, 50, None),
        ScalingTarget("table", "read", 5, 50, 70.0),
    ]
