"""The production checklist, line by line, in what Terraform would make."""

import json
from typing import Any

import pytest

from gateway.demo import MODEL
from tests.terraform.conftest import PlanOf, WorkspaceOf
from tests.terraform.plan import Values
from tests.terraform.test_refused import _refusal

_INDEXES = {index.name for index in MODEL.table.indexes}
_PLACES = {"table", *_INDEXES}
_ALL = ["dev", "prod", "provisioned", "extras"]


@pytest.mark.parametrize("name", [*_ALL, "minimal"])
def test_keys_and_indexes_are_those_of_the_model(name: str, plan_of: PlanOf) -> None:
    table = plan_of(name).one("aws_dynamodb_table")
    assert (table["hash_key"], table["range_key"]) == (MODEL.table.pk, MODEL.table.sk)
    found = {(each["name"], each["hash_key"], each["range_key"], each["projection_type"]) for each in _gsis(table)}
    assert found == {(index.name, index.pk, index.sk, index.projection) for index in MODEL.table.indexes}


def test_capacity_is_on_demand_unless_asked_otherwise(plan_of: PlanOf) -> None:
    for name in ("dev", "prod", "minimal"):
        table = plan_of(name).one("aws_dynamodb_table")
        assert table["billing_mode"] == "PAY_PER_REQUEST"
        assert not plan_of(name).of("aws_appautoscaling_target", "module.table")


def test_provisioned_capacity_scales_at_70_percent_for_the_table_and_every_index(plan_of: PlanOf) -> None:
    plan = plan_of("provisioned")
    assert plan.one("aws_dynamodb_table")["billing_mode"] == "PROVISIONED"
    targets = plan.of("aws_appautoscaling_target", "module.table")
    assert {_key(address) for address in targets} == {
        f"{place}-{kind}" for place in _PLACES for kind in ("read", "write")
    }
    assert all(target["min_capacity"] < target["max_capacity"] for target in targets.values())
    policies = plan.of("aws_appautoscaling_policy", "module.table")
    assert {_key(address) for address in policies} == {_key(address) for address in targets}
    for address, policy in policies.items():
        tracking = policy["target_tracking_scaling_policy_configuration"][0]
        kind = _key(address).rpartition("-")[2].title()
        metric = tracking["predefined_metric_specification"][0]["predefined_metric_type"]
        assert (tracking["target_value"], metric) == (70, f"DynamoDB{kind}CapacityUtilization")


def test_each_index_has_capacity_of_its_own(plan_of: PlanOf) -> None:
    table = plan_of("provisioned").one("aws_dynamodb_table")
    assert (table["read_capacity"], table["write_capacity"]) == (50, 50)
    assert {(each["name"], each["read_capacity"], each["write_capacity"]) for each in _gsis(table)} == {
        (name, 50, 50) for name in _INDEXES
    }


@pytest.mark.parametrize("name", [*_ALL, "minimal"])
def test_ttl_is_on_for_the_attribute_of_the_model(name: str, plan_of: PlanOf) -> None:
    ttl = plan_of(name).one("aws_dynamodb_table")["ttl"][0]
    assert (ttl["attribute_name"], ttl["enabled"]) == (MODEL.table.ttl, True)


@pytest.mark.parametrize("name", [*_ALL, "minimal"])
def test_the_table_can_be_restored_to_any_moment(name: str, plan_of: PlanOf) -> None:
    recovery = plan_of(name).one("aws_dynamodb_table")["point_in_time_recovery"][0]
    assert recovery["enabled"] is True
    assert recovery["recovery_period_in_days"] == (7 if name in ("dev", "extras") else 35)


@pytest.mark.parametrize("name", _ALL)
def test_a_key_of_ours_that_rotates_encrypts_the_table(name: str, plan_of: PlanOf) -> None:
    plan = plan_of(name)
    assert plan.one("aws_dynamodb_table")["server_side_encryption"][0]["enabled"] is True
    # the key's ARN is known after the apply; that it is this key is read back there
    for key in plan.of("aws_kms_key").values():
        assert key["enable_key_rotation"] is True
        assert key["rotation_period_in_days"] == 365


@pytest.mark.parametrize("name", _ALL)
def test_changes_can_be_followed(name: str, plan_of: PlanOf) -> None:
    table = plan_of(name).one("aws_dynamodb_table")
    assert (table["stream_enabled"], table["stream_view_type"]) == (True, "NEW_AND_OLD_IMAGES")


def test_production_cannot_be_deleted_and_development_can(plan_of: PlanOf) -> None:
    assert plan_of("prod").one("aws_dynamodb_table")["deletion_protection_enabled"] is True
    assert plan_of("prod").one("aws_lb")["enable_deletion_protection"] is True
    assert plan_of("dev").one("aws_dynamodb_table")["deletion_protection_enabled"] is False


@pytest.mark.parametrize("name", _ALL)
def test_dynamodb_is_reached_by_an_endpoint_with_a_policy(name: str, plan_of: PlanOf) -> None:
    endpoint = plan_of(name).one("aws_vpc_endpoint", ".dynamodb")
    assert endpoint["vpc_endpoint_type"] == "Gateway"
    assert endpoint["service_name"] == "com.amazonaws.eu-west-1.dynamodb"
    assert json.loads(endpoint["policy"])["Statement"][0]["Sid"] == "TenantRoleOnly"


def test_a_network_without_nat_has_the_endpoints_that_the_gateway_needs(plan_of: PlanOf) -> None:
    found = plan_of("prod").of("aws_vpc_endpoint", ".interface")
    assert {_key(address) for address in found} == {"sts", "logs", "ecr.api", "ecr.dkr", "secretsmanager"}
    assert all(endpoint["private_dns_enabled"] for endpoint in found.values())
    layers = json.loads(plan_of("prod").one("aws_vpc_endpoint", ".s3")["policy"])
    assert layers["Statement"][0]["Resource"] == "arn:aws:s3:::prod-eu-west-1-starport-layer-bucket/*"


def test_the_gateway_runs_without_rights_of_the_machine(plan_of: PlanOf) -> None:
    for name in ("dev", "prod"):
        # a task definition that names a secret which is not made yet is known after the apply; see test_apply
        service = plan_of(name).one("aws_ecs_service")
        assert service["network_configuration"][0]["assign_public_ip"] is False
        assert service["deployment_circuit_breaker"][0] == {"enable": True, "rollback": True}
        assert service["enable_execute_command"] is False


def test_an_apply_ends_when_the_tasks_are_up(plan_of: PlanOf) -> None:
    for name in ("dev", "prod"):
        assert plan_of(name).one("aws_ecs_service")["wait_for_steady_state"] is True


def test_a_task_takes_requests_only_once_it_has_read_the_table(plan_of: PlanOf) -> None:
    for name in ("dev", "prod"):
        plan = plan_of(name)
        assert plan.one("aws_lb_target_group")["health_check"][0]["path"] == "/readyz"
        # an id that no tenant has: every tenant is served, so none is listed
        assert plan.outputs()["gateway_config"]["readiness_tenant"] == "gateway-readiness"


def test_production_speaks_tls_only(plan_of: PlanOf) -> None:
    listeners = plan_of("prod").of("aws_lb_listener")
    assert {(each["protocol"], each["port"]) for each in listeners.values()} == {("HTTPS", 443)}
    assert plan_of("dev").one("aws_lb")["internal"] is True


def test_production_records_writes_and_whatever_others_than_tenants_do(plan_of: PlanOf) -> None:
    trail = plan_of("prod").one("aws_cloudtrail")
    assert trail["enable_log_file_validation"] is True
    selectors = _selectors(trail)
    assert selectors.keys() == {"RowsByOthers", "WritesByTenants", "Changes"}
    tenants = ["arn:aws:sts::123456789012:assumed-role/gateway-prod-eu-west-1-tenant/"]
    others, writes = selectors["RowsByOthers"], selectors["WritesByTenants"]
    assert (others["userIdentity.arn"], writes["userIdentity.arn"]) == (
        {"not_starts_with": tenants},
        {"starts_with": tenants},
    )
    assert ("readOnly" in others, writes["readOnly"]) == (False, {"equals": ["false"]})
    assert others["resources.type"] == writes["resources.type"] == {"equals": ["AWS::DynamoDB::Table"]}
    assert not plan_of("dev").of("aws_cloudtrail")


@pytest.mark.parametrize(
    ("choice", "names"), [("all", {"Rows"}), ("others", {"RowsByOthers"}), ("none", set()), ("reads", None)]
)
def test_what_the_trail_records_is_a_choice(choice: str, names: set[str] | None, workspace_of: WorkspaceOf) -> None:
    if names is None:
        assert "Data events are `all`" in _refusal(workspace_of, "envs/prod", audit_data_events=choice)
        return
    selectors = _selectors(workspace_of("envs/prod").plan(audit_data_events=choice).one("aws_cloudtrail"))
    assert selectors.keys() == {*names, "Changes"}
    if choice == "all":
        assert selectors["Rows"].keys() == {"eventCategory", "resources.type", "resources.ARN"}


def _selectors(trail: Values) -> dict[str, dict[str, dict[str, Any]]]:
    """By name and field, the operators that are set; a field that only the apply will know has none."""
    return {
        each["name"]: {
            selector["field"]: {key: value for key, value in selector.items() if key != "field" and value}
            for selector in each["field_selector"]
        }
        for each in trail["advanced_event_selector"]
    }


def test_production_keeps_backups_and_a_budget_and_watches_keys(plan_of: PlanOf) -> None:
    plan = plan_of("prod")
    assert plan.one("aws_backup_plan")["rule"][0]["lifecycle"][0]["delete_after"] == 90
    budget = plan.one("aws_budgets_budget")
    assert {each["notification_type"] for each in budget["notification"]} == {"ACTUAL", "FORECASTED"}
    insights = plan.of("aws_dynamodb_contributor_insights")
    assert {each.get("index_name") for each in insights.values()} == {None, *_INDEXES}


@pytest.mark.parametrize("name", _ALL)
def test_everything_that_can_be_is_tagged(name: str, plan_of: PlanOf) -> None:
    table = plan_of(name).one("aws_dynamodb_table")
    assert set(table["tags_all"]) >= {"app", "env", "owner", "cost-center", "data-class"}


def test_tags_of_ones_own_go_on_everything_and_come_first(plan_of: PlanOf) -> None:
    for kind in ("aws_dynamodb_table", "aws_iam_role", "aws_kms_key", "aws_ecs_service", "aws_cloudwatch_metric_alarm"):
        for values in plan_of("dev").of(kind).values():
            assert values["tags_all"].items() >= {"owner": "shop", "project": "web", "app": "gateway"}.items(), kind


def test_alarms_name_their_page_where_the_operator_has_it(plan_of: PlanOf) -> None:
    alarm = plan_of("dev").one("aws_cloudwatch_metric_alarm", '.metric["isolation-breach"]')
    assert alarm["alarm_description"].endswith("Runbook: https://runbooks.example.com/isolation.md")


@pytest.mark.parametrize("name", [*_ALL, "minimal"])
def test_names_that_are_the_accounts_have_the_region_in_them(name: str, plan_of: PlanOf) -> None:
    plan = plan_of(name)
    roles = [values["name"] for values in plan.of("aws_iam_role").values()]
    assert len(roles) >= 2
    others = [*plan.of("aws_iam_policy").values(), *plan.of("aws_budgets_budget").values()]
    buckets = [values["bucket"] for values in plan.of("aws_s3_bucket").values()]
    for each in (*roles, *buckets, *(values["name"] for values in others)):
        assert "eu-west-1" in each
        assert len(each) <= 64


def test_dax_is_off_and_when_on_it_is_encrypted_and_never_given_to_the_gateway(plan_of: PlanOf) -> None:
    assert not plan_of("prod").of("aws_dax_cluster")
    plan = plan_of("extras")
    cluster = plan.one("aws_dax_cluster")
    assert cluster["cluster_endpoint_encryption_type"] == "TLS"
    assert cluster["server_side_encryption"][0]["enabled"] is True
    assert not plan.of("aws_vpc_security_group_ingress_rule", "module.dax")
    assert "dax" not in json.dumps(plan.outputs()["gateway_config"]).lower()


def _gsis(table: Any) -> list[Any]:
    return list(table["global_secondary_index"])


def _key(address: str) -> str:
    """The key of a resource made by for_each."""
    return address.rpartition('["')[2].removesuffix('"]')
