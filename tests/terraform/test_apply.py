"""`terraform apply` of dev, read back with boto3; changed behind Terraform's back; destroyed.

The tests of this file run in their order: each begins where the one before it ended.
"""

import json
from typing import Any

from gateway.demo import MODEL
from tests.terraform.alarms import Metric, known
from tests.terraform.deployed import NAME, REGION, Deployed, Undestroyed

# what moto does not remember or gives back in another form; never a finding of ours
_MOTO_FORGETS = {
    "module.stack.module.gateway[0].aws_ecs_service.this": {
        "availability_zone_rebalancing",
        "enable_ecs_managed_tags",
        "health_check_grace_period_seconds",
    },
    # the description of a rule that names another group or a list of addresses
    "module.stack.module.gateway[0].aws_vpc_security_group_egress_rule.balancer": {"description"},
    'module.stack.module.gateway[0].aws_vpc_security_group_egress_rule.gateways["dynamodb"]': {"description"},
    "module.stack.module.gateway[0].aws_vpc_security_group_ingress_rule.tasks": {"description"},
}


def _unexpected(deployed: Deployed, **variables: Any) -> dict[str, Any]:
    """What a plan would change although nothing was changed."""
    found = deployed.workspace.plan(**deployed.variables, **variables).changes()
    return {
        address: change
        for address, change in found.items()
        if not (change[0] == ["update"] and change[1] <= _MOTO_FORGETS.get(address, set()))
    }


def _table(deployed: Deployed) -> dict[str, Any]:
    found: dict[str, Any] = deployed.client("dynamodb").describe_table(TableName=NAME)["Table"]
    return found


def test_the_table_is_there_as_the_model_says(deployed: Deployed) -> None:
    table = _table(deployed)
    keys = {each["KeyType"]: each["AttributeName"] for each in table["KeySchema"]}
    assert keys == {"HASH": MODEL.table.pk, "RANGE": MODEL.table.sk}
    assert {
        (each["IndexName"], *(key["AttributeName"] for key in each["KeySchema"]), each["Projection"]["ProjectionType"])
        for each in table["GlobalSecondaryIndexes"]
    } == {(index.name, index.pk, index.sk, index.projection) for index in MODEL.table.indexes}
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_ttl_and_recovery_are_on(deployed: Deployed) -> None:
    client = deployed.client("dynamodb")
    ttl = client.describe_time_to_live(TableName=NAME)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": MODEL.table.ttl}
    backups = client.describe_continuous_backups(TableName=NAME)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def test_the_table_is_encrypted_with_the_data_key_and_the_topics_with_the_other(deployed: Deployed) -> None:
    kms = deployed.client("kms")
    data, operations = (
        kms.describe_key(KeyId=f"alias/{NAME}-{kind}")["KeyMetadata"]["Arn"] for kind in ("data", "operations")
    )
    assert _table(deployed)["SSEDescription"]["KMSMasterKeyArn"] == data
    for topic in deployed.workspace.output("topics").values():
        found = deployed.client("sns").get_topic_attributes(TopicArn=topic)["Attributes"]
        assert found["KmsMasterKeyId"] == operations
    assert kms.get_key_rotation_status(KeyId=data)["KeyRotationEnabled"] is True


def test_the_tenants_role_has_its_boundary_and_no_policy_but_its_own(deployed: Deployed) -> None:
    iam = deployed.client("iam")
    role = iam.get_role(RoleName=f"{NAME}-{REGION}-tenant")["Role"]
    assert role["PermissionsBoundary"]["PermissionsBoundaryArn"].endswith(f":policy/{NAME}-{REGION}-tenant-boundary")
    assert iam.list_role_policies(RoleName=f"{NAME}-{REGION}-tenant")["PolicyNames"] == ["own-rows"]
    assert iam.list_attached_role_policies(RoleName=f"{NAME}-{REGION}-tenant")["AttachedPolicies"] == []


def test_the_rule_on_key_changes_names_the_key_and_pages(deployed: Deployed) -> None:
    data = deployed.client("kms").describe_key(KeyId=f"alias/{NAME}-data")["KeyMetadata"]
    events = deployed.client("events")
    pattern = json.loads(events.describe_rule(Name=f"{NAME}-data-key")["EventPattern"])
    assert pattern["detail"]["requestParameters"]["keyId"] == [data["KeyId"], data["Arn"]]
    assert {"DisableKey", "ScheduleKeyDeletion", "PutKeyPolicy"} <= set(pattern["detail"]["eventName"])
    targets = events.list_targets_by_rule(Rule=f"{NAME}-data-key")["Targets"]
    assert [target["Arn"] for target in targets] == [deployed.workspace.output("topics")["page"]]


def test_every_alarm_watches_a_metric_that_exists(deployed: Deployed) -> None:
    own = {each["metricName"] for each in _transformations(deployed)}
    found = list(deployed.pages("cloudwatch", "describe_alarms", "MetricAlarms"))
    # autoscaling makes no alarms in moto, so all of these are Terraform's
    assert len(found) > 50
    for alarm in found:
        for metric in _metrics(alarm):
            assert known(metric, f"Gateway/{NAME}", own), (alarm["AlarmName"], metric)


def test_the_alarm_that_pages_names_alarms_that_exist(deployed: Deployed) -> None:
    (composite,) = deployed.pages("cloudwatch", "describe_alarms", "CompositeAlarms", AlarmTypes=["CompositeAlarm"])
    names = {each["AlarmName"] for each in deployed.pages("cloudwatch", "describe_alarms", "MetricAlarms")}
    named = {part.split('"')[1] for part in composite["AlarmRule"].split(" OR ")}
    assert named <= names
    assert f"{NAME}-isolation-breach" in named
    assert composite["AlarmActions"] == [deployed.workspace.output("topics")["page"]]


def test_the_task_has_no_rights_of_the_machine_and_no_secret_in_its_definition(deployed: Deployed) -> None:
    task = deployed.client("ecs").describe_task_definition(taskDefinition=NAME)["taskDefinition"]
    (container,) = task["containerDefinitions"]
    assert task["taskRoleArn"] == deployed.workspace.output("gateway_role_arn")
    assert task["executionRoleArn"] != task["taskRoleArn"]
    assert container["readonlyRootFilesystem"] is True
    assert container["user"] == "10001:10001"
    assert container["linuxParameters"]["capabilities"]["drop"] == ["ALL"]
    assert [each["name"] for each in container["secrets"]] == ["GATEWAY_CURSOR_SECRET"]
    assert "GATEWAY_CURSOR_SECRET" not in {each["name"] for each in container["environment"]}


def test_the_cursor_secret_is_long_and_not_in_the_state(deployed: Deployed) -> None:
    task = deployed.client("ecs").describe_task_definition(taskDefinition=NAME)["taskDefinition"]
    arn = task["containerDefinitions"][0]["secrets"][0]["valueFrom"]
    secret = deployed.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
    assert len(secret) >= 32
    assert secret not in (deployed.workspace.root / "terraform.tfstate").read_text()


def test_a_second_plan_finds_nothing_to_do_and_keeps_the_gateway(deployed: Deployed) -> None:
    # with what stands in files alone, as a plain `terraform apply` on another day
    assert "gateway_image" not in deployed.variables
    assert _unexpected(deployed) == {}
    (service,) = deployed.client("ecs").list_services(cluster=NAME)["serviceArns"]
    assert service.endswith(f"/{NAME}")


def test_a_switch_to_provisioned_starts_at_the_floor_and_not_at_one(deployed: Deployed) -> None:
    deployed.workspace.apply(**deployed.variables, capacity_mode="provisioned")
    table = _table(deployed)
    assert table["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert _capacities(table) == dict.fromkeys(("table", "GSI1", "GSI2", "GSI3", "GSI4", "GSI5"), (5, 5))
    described = ("application-autoscaling", "describe_scalable_targets", "ScalableTargets")
    assert len(list(deployed.pages(*described, ServiceNamespace="dynamodb"))) == 12


def test_what_autoscaling_did_is_not_reverted(deployed: Deployed) -> None:
    scaled = {"ReadCapacityUnits": 33, "WriteCapacityUnits": 22}
    deployed.client("dynamodb").update_table(
        TableName=NAME,
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "GSI1", "ProvisionedThroughput": scaled}}],
    )
    # the table itself above its ceiling, which is brought back: that is what a ceiling is for
    deployed.client("dynamodb").update_table(
        TableName=NAME, ProvisionedThroughput={"ReadCapacityUnits": 400, "WriteCapacityUnits": 22}
    )
    found = _unexpected(deployed, capacity_mode="provisioned")
    assert found == {"module.stack.module.table.aws_dynamodb_table.this": (["update"], {"read_capacity"})}


def test_dev_can_be_destroyed(deployed: Deployed) -> None:
    deployed.workspace.destroy(**deployed.variables, capacity_mode="provisioned")
    assert NAME not in deployed.client("dynamodb").list_tables()["TableNames"]
    assert deployed.workspace.run("state", "list") == ""


def test_prod_cannot_be_destroyed(undestroyed: Undestroyed) -> None:
    assert "Instance cannot be destroyed" in undestroyed.error
    # refused as a whole: not even a part of it is gone
    assert undestroyed.left == undestroyed.made
    assert len(undestroyed.made) > 10


def test_the_table_of_prod_refuses_by_itself(undestroyed: Undestroyed) -> None:
    assert "DeletionProtectionEnabled" in undestroyed.error_of_table
    assert undestroyed.tables == ["gateway-prod"]


def _capacities(table: dict[str, Any]) -> dict[str, tuple[int, int]]:
    places = {"table": table, **{each["IndexName"]: each for each in table["GlobalSecondaryIndexes"]}}
    return {
        name: (each["ProvisionedThroughput"]["ReadCapacityUnits"], each["ProvisionedThroughput"]["WriteCapacityUnits"])
        for name, each in places.items()
    }


def _transformations(deployed: Deployed) -> list[dict[str, Any]]:
    filters = deployed.pages("logs", "describe_metric_filters", "metricFilters", logGroupName=f"/gateway/{NAME}")
    return [transformation for each in filters for transformation in each["metricTransformations"]]


def _metrics(alarm: dict[str, Any]) -> list[Metric]:
    stats = [each["MetricStat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
    if not stats:
        dimensions = {each["Name"]: each["Value"] for each in alarm.get("Dimensions", ())}
        return [Metric(alarm["Namespace"], alarm["MetricName"], dimensions, "")]
    return [
        Metric(
            each["Metric"]["Namespace"],
            each["Metric"]["MetricName"],
            {dimension["Name"]: dimension["Value"] for dimension in each["Metric"]["Dimensions"]},
            each["Stat"],
        )
        for each in stats
    ]
