"""An account in moto that passes every line of the checklist, and what tests need to spoil it."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import boto3

from gateway.demo import MODEL
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import BOUNDARY_FILE, ENDPOINT_FILE, GATEWAY_FILE, TENANT_FILE, TRUST_FILE, documents
from gateway.ops.audit.facts import Metric
from gateway.ops.audit.results import AuditSubject

REGION, TABLE, NUMBER = "eu-west-1", "shop-prod", "123456789012"
TENANT_ROLE = f"arn:aws:iam::{NUMBER}:role/shop-prod-tenant"
GATEWAY_ROLE = f"arn:aws:iam::{NUMBER}:role/shop-prod-gateway"
TOPIC = f"arn:aws:sns:{REGION}:{NUMBER}:shop-prod-notice"
SUBJECT = AuditSubject(TABLE, REGION, TENANT_ROLE, GATEWAY_ROLE)
DEPLOYMENT = Deployment.of_role(TENANT_ROLE, REGION, TABLE, GATEWAY_ROLE)
INDEXES = tuple(index.name for index in MODEL.table.indexes)
# as the Terraform module `observability` has them
OPERATIONS = (
    *("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
    *("BatchWriteItem", "TransactWriteItems"),
)


def policy(name: str) -> dict[str, Any]:
    return render(documents(MODEL)[name], DEPLOYMENT)


def build(*, encrypted: bool = True) -> None:
    """Everything, in the account that moto plays, which does not take a key off a table that has one."""
    _table(encrypted)
    _roles()
    _endpoint()
    _subscriber()
    for each in alarms():
        client("cloudwatch").put_metric_alarm(**each)


@cache
def client(name: str) -> Any:
    """Kept, because each costs half a second to make; moto answers whichever was made before or after it."""
    # typed by name of the service only; here the name is a variable
    session: Any = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)
    return session.client(name)


def _table(encrypted: bool) -> None:
    dynamodb = client("dynamodb")
    key = client("kms").create_key()["KeyMetadata"]["Arn"]
    client("kms").enable_key_rotation(KeyId=key)
    dynamodb.create_table(
        **MODEL.table.create_request(TABLE),
        DeletionProtectionEnabled=True,
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
        if encrypted
        else {"Enabled": False},
    )
    dynamodb.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"AttributeName": MODEL.table.ttl, "Enabled": True}
    )
    dynamodb.update_continuous_backups(
        TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


def _roles() -> None:
    iam = client("iam")
    platform = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": "ecs-tasks.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ],
    }
    iam.create_role(RoleName="shop-prod-gateway", AssumeRolePolicyDocument=json.dumps(platform))
    iam.put_role_policy(
        RoleName="shop-prod-gateway", PolicyName="tenant", PolicyDocument=json.dumps(policy(GATEWAY_FILE))
    )
    boundary = iam.create_policy(PolicyName="boundary", PolicyDocument=json.dumps(policy(BOUNDARY_FILE)))
    iam.create_role(
        RoleName="shop-prod-tenant",
        AssumeRolePolicyDocument=json.dumps(policy(TRUST_FILE)),
        PermissionsBoundary=boundary["Policy"]["Arn"],
    )
    iam.put_role_policy(
        RoleName="shop-prod-tenant", PolicyName="own-rows", PolicyDocument=json.dumps(policy(TENANT_FILE))
    )


def _subscriber() -> None:
    topic = client("sns").create_topic(Name=TOPIC.rpartition(":")[2])["TopicArn"]
    client("sns").subscribe(TopicArn=topic, Protocol="https", Endpoint="https://on-call.example.com/")


def _endpoint() -> None:
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    routes = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{REGION}.dynamodb",
        VpcEndpointType="Gateway",
        RouteTableIds=[routes],
        PolicyDocument=json.dumps(policy(ENDPOINT_FILE)),
    )


def alarms() -> Iterator[dict[str, Any]]:
    """PutMetricAlarm requests for a table on demand."""
    whole = {"TableName": TABLE}
    for place in (whole, *({**whole, "GlobalSecondaryIndexName": name} for name in INDEXES)):
        for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
            yield alarm(metric, place, "Sum")
    for kind in ("Read", "Write"):
        yield alarm(f"Consumed{kind}CapacityUnits", whole, "Sum")
    for operation in OPERATIONS:
        named = {**whole, "Operation": operation}
        latency = alarm("SuccessfulRequestLatency", named, "p99")
        yield {**latency, "ExtendedStatistic": latency.pop("Statistic")}
    yield alarm("SuccessfulRequestLatency", {**whole, "Operation": "Scan"}, "SampleCount")
    yield math(
        "system-errors",
        [Metric("AWS/DynamoDB", "SystemErrors", {**whole, "Operation": each}, "Sum") for each in OPERATIONS],
    )


def alarm(metric: str, dimensions: Mapping[str, str], statistic: str) -> dict[str, Any]:
    return {
        "AlarmName": "-".join([metric, statistic, *dimensions.values()]),
        "Namespace": "AWS/DynamoDB",
        "MetricName": metric,
        "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
        "Statistic": statistic,
        "Period": 60,
        **_rule(),
    }


def math(name: str, metrics: list[Metric]) -> dict[str, Any]:
    queries: list[dict[str, Any]] = [
        {
            "Id": f"m{number}",
            "ReturnData": False,
            "MetricStat": {
                "Metric": {
                    "Namespace": metric.namespace,
                    "MetricName": metric.name,
                    "Dimensions": [{"Name": key, "Value": value} for key, value in metric.dimensions.items()],
                },
                "Period": 60,
                "Stat": metric.statistic,
            },
        }
        for number, metric in enumerate(metrics)
    ]
    total = "SUM([" + ", ".join(f"FILL(m{number}, 0)" for number in range(len(metrics))) + "])"
    return {"AlarmName": name, "Metrics": [*queries, {"Id": "result", "Expression": total}], **_rule()}


def _rule() -> dict[str, Any]:
    return {
        "EvaluationPeriods": 5,
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": 0,
        "AlarmActions": [TOPIC],
    }
