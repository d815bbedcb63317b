"""The tasks that read the table's stream: in a role that nobody else has, and the gateway's tasks without it."""

import json
from typing import Any

import pytest

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.settings import Settings
from tests.terraform.alarms import DATA, alarms
from tests.terraform.conftest import PlanOf, WorkspaceOf
from tests.terraform.installed_policies import ACCOUNT, REGION
from tests.terraform.plan import Plan
from tests.terraform.test_refused import _refusal

_TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/gateway-dev"
_STREAM = f"{_TABLE}/stream/2026-01-31T10:00:00.000"
_ROLE = f"arn:aws:iam::{ACCOUNT}:role/gateway-dev-{REGION}-stream"
_READS = ("DescribeStream", "GetRecords", "GetShardIterator")
_BUS = {"servers": ["tls://bus.example.com:4222"]}


def _may(documents: list[Any], action: str, resource: str, **context: Any) -> bool:
    policies = PolicySet(tuple(parse(each, "identity") for each in documents))
    return evaluate(policies, Authorisation(action, resource, context)).allowed


def _inline(plan: Plan, role: str) -> list[Any]:
    found = plan.of("aws_iam_role_policy").values()
    return [json.loads(each["policy"]) for each in found if each["role"] == f"gateway-dev-{REGION}-{role}"]


def _container(plan: Plan, name: str) -> dict[str, Any]:
    definitions = plan.of("aws_ecs_task_definition").values()
    texts = [each["container_definitions"] for each in definitions if each["family"] == name]
    [[container]] = [json.loads(text) for text in texts]
    return dict(container)


def test_the_stream_role_reads_the_stream_and_reaches_no_row_of_a_tenant(plan_of: PlanOf) -> None:
    own = _inline(plan_of("streamed"), "stream")
    lease = {"dynamodb:LeadingKeys": ("SYSTEM#STREAM",)}
    for action in _READS:
        assert _may(own, f"dynamodb:{action}", _STREAM)
        assert not _may(own, f"dynamodb:{action}", _STREAM.replace("gateway-dev", "other"))
    for action in ("GetItem", "PutItem", "Query", "UpdateItem"):
        assert _may(own, f"dynamodb:{action}", _TABLE, **lease)
        assert not _may(own, f"dynamodb:{action}", _TABLE, **{"dynamodb:LeadingKeys": ("TENANT#acme#USER#1",)})
    for action in ("Scan", "DeleteItem", "BatchGetItem"):
        assert not _may(own, f"dynamodb:{action}", _TABLE, **lease)
    assert not _may(own, "sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/gateway-dev-{REGION}-tenant")


@pytest.mark.parametrize("name", ["streamed", "dev"])
def test_the_gateways_tasks_hold_no_right_to_the_stream_and_cannot_get_it(plan_of: PlanOf, name: str) -> None:
    plan = plan_of(name)
    own = _inline(plan, "gateway")
    assert own
    for action in (*_READS, "ListStreams"):
        assert not _may(own, f"dynamodb:{action}", _STREAM)
    assert not _may(own, "sts:AssumeRole", _ROLE)
    tenant = _inline(plan, "tenant")
    for action in _READS:
        assert not _may(tenant, f"dynamodb:{action}", _STREAM, **{"aws:PrincipalTag/TenantId": "acme"})


def test_nobody_but_the_tasks_assumes_the_stream_role(plan_of: PlanOf) -> None:
    plan = plan_of("streamed")
    [statement] = json.loads(plan.one("aws_iam_role", "aws_iam_role.stream")["assume_role_policy"])["Statement"]
    assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    lists = plan.of("aws_iam_role_policies_exclusive", "module.iam").values()
    [kept] = [each["policy_names"] for each in lists if each["role_name"] == _ROLE.rpartition("/")[2]]
    assert set(kept) == {"stream"}


def test_its_tasks_know_nothing_of_tenants(plan_of: PlanOf) -> None:
    plan = plan_of("streamed")
    reader = _container(plan, "gateway-dev-stream")
    assert (reader["image"], reader["command"]) == ("registry.example.com/gateway:1.0.0", ["stream"])
    assert (reader["user"], reader["readonlyRootFilesystem"]) == ("10001:10001", True)
    given = {each["name"]: each["value"] for each in reader["environment"]}
    names = {name.removeprefix("GATEWAY_").lower() for name in given}
    assert names <= Settings.model_fields.keys()
    assert not names & {"issuers", "tenant_role_arn", "cursor_secret", "silos", "tenants", "stream_role_arn"}
    [secret] = reader["secrets"]
    assert (secret["name"], secret["valueFrom"].rpartition(":")[2]) == ("GATEWAY_BUS_PASSWORD", "reader")
    assert (given["GATEWAY_STREAM"], given["GATEWAY_BUS_USER"]) == ("bus", "reader")
    assert json.loads(given["GATEWAY_BUS_SERVERS"]) == _BUS["servers"]
    definitions = plan.of("aws_ecs_task_definition").values()
    assert {each["family"]: each["task_role_arn"] for each in definitions}["gateway-dev-stream"] == _ROLE


def test_the_gateways_tasks_use_the_bus_with_a_user_of_their_own(plan_of: PlanOf) -> None:
    config = plan_of("streamed").outputs()["gateway_config"]
    assert (config["stream"], config["bus_user"], config["bus_servers"]) == ("bus", "web", _BUS["servers"])
    assert not config.keys() & {"stream_role_arn", "bus_password"}
    assert "stream" not in plan_of("dev").outputs()["gateway_config"]


def test_both_reach_the_bus_and_nobody_reaches_the_reader(plan_of: PlanOf) -> None:
    plan = plan_of("streamed")
    rules = [each for name, each in plan.of("aws_vpc_security_group_egress_rule").items() if ".bus[" in name]
    assert [(each["from_port"], each["to_port"]) for each in rules] == [(4222, 4222)] * 2
    assert {each["referenced_security_group_id"] for each in rules} == {"sg-0123456789abcdef0"}
    assert not [name for name in plan.of("aws_vpc_security_group_ingress_rule") if "stream" in name]


def test_the_endpoint_of_the_vpc_lets_the_leases_through_and_no_rows(plan_of: PlanOf) -> None:
    policy = json.loads(plan_of("streamed").one("aws_vpc_endpoint", "aws_vpc_endpoint.dynamodb")["policy"])
    own = [each for each in policy["Statement"] if each["Sid"].startswith("Stream")]
    assert {action for each in own for action in each["Action"]} >= {"dynamodb:DescribeTable", "dynamodb:UpdateItem"}
    for statement in own:
        assert statement["Condition"]["ArnEquals"] == {"aws:PrincipalArn": _ROLE}
        if "dynamodb:UpdateItem" in statement["Action"]:
            assert statement["Condition"]["ForAllValues:StringEquals"] == {"dynamodb:LeadingKeys": ["SYSTEM#STREAM"]}


def test_the_stream_is_watched_where_somebody_reads_it(plan_of: PlanOf) -> None:
    expected = {name for name, alarm in DATA["alarms"].items() if alarm.get("when") == "stream"}
    assert expected == {
        *("stream-stopped", "stream-lag", "stream-leases", "stream-trimmed", "stream-dropped", "bus-interrupted"),
    }
    assert expected <= alarms(plan_of("streamed")).keys()
    assert not expected & alarms(plan_of("dev")).keys()
    stopped = alarms(plan_of("streamed"))["stream-stopped"].values
    assert (stopped["treat_missing_data"], stopped["threshold"]) == ("breaching", 1)


@pytest.mark.parametrize(
    ("bus", "said"),
    [
        ({"servers": ["nats://bus.example.com:4222"]}, "addresses of NATS servers with tls://"),
        ({"servers": []}, "addresses of NATS servers with tls://"),
        ({**_BUS, "web": {"user": "web", "password_secret_arn": "arn:x"}}, "both `bus.web` and `bus.reader`"),
        (
            {**_BUS, **{key: {"user": "one", "password_secret_arn": "arn:x"} for key in ("web", "reader")}},
            "are two users",
        ),
        ({**_BUS, "tasks": 0}, "At least one task reads"),
    ],
)
def test_a_wrong_bus_is_refused(workspace_of: WorkspaceOf, bus: dict[str, Any], said: str) -> None:
    assert said in " ".join(_refusal(workspace_of, "envs/dev", bus=bus).split())
