"""Alarms that can fire: on metrics that exist with these dimensions, no more of them than CloudWatch takes."""

import json
import re

import pytest

from gateway.demo import MODEL
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import demand
from tests.terraform.alarms import DATA, SETS, Alarm, Metric, alarms, known, published_every
from tests.terraform.conftest import PlanOf
from tests.terraform.tool import REPOSITORY

_ALL = ["dev", "prod", "provisioned", "extras", "streamed"]
_PLACES = ["table", *(index.name.lower() for index in MODEL.table.indexes)]
_KINDS = ["read", "write"]
_OPERATIONS = [
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "GetItem",
    "PutItem",
    "Query",
    "TransactWriteItems",
    "UpdateItem",
]


def _pairs(ending: str) -> set[str]:
    return {f"{place}-{kind}-{ending}" for place in _PLACES for kind in _KINDS}


@pytest.mark.parametrize("name", _ALL)
def test_every_metric_is_published_with_these_dimensions(name: str, plan_of: PlanOf) -> None:
    plan = plan_of(name)
    own = {
        each["metric_transformation"][0]["name"]: each["metric_transformation"][0]["namespace"]
        for each in plan.of("aws_cloudwatch_log_metric_filter").values()
    }
    namespace = next(iter(own.values()))
    found = alarms(plan)
    # those of the service are read back in test_apply
    assert all(alarm.name.startswith("gateway-") for alarm in found.values() if alarm.later)
    for alarm in found.values():
        for metric in alarm.metrics:
            assert alarm.later or known(metric, namespace, set(own)), (alarm.name, metric)


def test_a_metric_with_a_dimension_too_few_is_noticed() -> None:
    for name, dimensions in (("ThrottledRequests", {"TableName": "t"}), ("UserErrors", {"TableName": "t"})):
        assert not known(Metric("AWS/DynamoDB", name, dimensions, "Sum"), "Gateway/x", set())
    assert not known(Metric("AWS/DynamoDB", "ConsumedReadCapacityUnits", {}, "Sum"), "Gateway/x", set())


@pytest.mark.parametrize("name", _ALL)
def test_no_alarm_asks_for_values_more_often_than_they_are_published(name: str, plan_of: PlanOf) -> None:
    for alarm in alarms(plan_of(name)).values():
        for metric in alarm.metrics:
            assert metric.period >= published_every(metric), (alarm.name, metric)


@pytest.mark.parametrize("name", _ALL)
def test_no_alarm_has_more_than_ten_metrics_or_searches(name: str, plan_of: PlanOf) -> None:
    for alarm in alarms(plan_of(name)).values():
        assert len(alarm.metrics) <= 10, alarm.name
        assert "SEARCH" not in alarm.expression, alarm.name


def test_an_alarm_by_math_uses_each_of_its_metrics(plan_of: PlanOf) -> None:
    for alarm in alarms(plan_of("provisioned")).values():
        queries = alarm.values.get("metric_query") or []
        for query in queries:
            assert query["id"] == "result" or re.search(rf"\b{query['id']}\b", alarm.expression), alarm.name
        assert sum(bool(query.get("return_data")) for query in queries) == bool(queries)


def test_throttling_of_the_table_and_of_every_index_pages(plan_of: PlanOf) -> None:
    found = alarms(plan_of("prod"))
    for name in _pairs("throttled"):
        assert found[name].severity == "critical"
        metric = found[name].metrics[0]
        assert metric.name in ("ReadThrottleEvents", "WriteThrottleEvents")
        index = metric.dimensions.get("GlobalSecondaryIndexName", "table")
        assert name == f"{index}-{metric.name.removesuffix('ThrottleEvents')}-throttled".lower()
    for name, metric_name in (("throttled-requests", "ThrottledRequests"), ("system-errors", "SystemErrors")):
        assert found[name].severity == "critical"
        assert {metric.dimensions["Operation"] for metric in found[name].metrics} == set(_OPERATIONS)
        assert {metric.name for metric in found[name].metrics} == {metric_name}


def test_latency_is_watched_for_each_operation_by_percentile_and_by_average(plan_of: PlanOf) -> None:
    found = alarms(plan_of("prod"))
    for operation in _OPERATIONS:
        p99, average = found[f"{operation.lower()}-p99"], found[f"{operation.lower()}-average"]
        assert (p99.metrics[0].statistic, average.metrics[0].statistic) == ("p99", "Average")
        assert p99.values["evaluate_low_sample_count_percentiles"] == "ignore"
        assert all(alarm.metrics[0].dimensions["Operation"] == operation for alarm in (p99, average))


def test_consumed_capacity_is_watched_in_both_modes(plan_of: PlanOf) -> None:
    assert set(alarms(plan_of("prod"))) >= _pairs("consumed")
    found = alarms(plan_of("provisioned"))
    assert set(found) >= _pairs("utilisation") | _pairs("ceiling") | {"account-read-quota", "account-write-quota"}
    assert not set(found) & _pairs("consumed")
    assert {found[name].values["threshold"] for name in _pairs("ceiling")} == {3600, 1800}
    for name in _pairs("utilisation"):
        assert found[name].expression == "100 * (FILL(consumed, 0) / PERIOD(consumed)) / provisioned"


def test_a_switch_of_the_mode_makes_no_alarm_of_the_name_of_one_it_deletes(plan_of: PlanOf) -> None:
    on_demand, provisioned = (alarms(plan_of(name)) for name in ("prod", "provisioned"))
    for name in set(on_demand) & set(provisioned):
        assert bool(on_demand[name].expression) == bool(provisioned[name].expression), name


def test_a_single_scan_is_reported(plan_of: PlanOf) -> None:
    scans = alarms(plan_of("prod"))["scans"]
    assert scans.metrics[0].dimensions["Operation"] == "Scan"
    assert scans.metrics[0].statistic == "SampleCount"
    assert (scans.values["threshold"], scans.values["datapoints_to_alarm"]) == (0, 1)


def test_isolation_pages_at_the_first_event(plan_of: PlanOf) -> None:
    found = alarms(plan_of("prod"))
    for name in ("isolation-breach", "foreign-rows", "denied-by-aws", "roles-changed"):
        assert found[name].severity == "critical"
        assert (found[name].values["threshold"], found[name].values["evaluation_periods"]) == (0, 1)


def test_operations_that_fail_page_with_or_without_a_load_balancer(plan_of: PlanOf) -> None:
    for name in _ALL:
        failures = alarms(plan_of(name))["gateway-failures"]
        assert (failures.severity, failures.metrics[0].name) == ("critical", "Failures")


def test_the_service_is_watched_where_there_is_one(plan_of: PlanOf) -> None:
    kinds = ("5xx", "unreachable", "unhealthy", "no-host", "silent", "response-p99", "cpu", "memory")
    names = {f"gateway-{kind}" for kind in kinds}
    assert set(alarms(plan_of("prod"))) >= names
    assert not set(alarms(plan_of("provisioned"))) & names


def test_dax_is_watched_where_there_is_one(plan_of: PlanOf) -> None:
    found = {name for name in alarms(plan_of("extras")) if name.startswith("dax-")}
    assert found == {"dax-cpu", "dax-memory", "dax-faults", "dax-errors", "dax-throttled", "dax-evictions"}


@pytest.mark.parametrize("name", _ALL)
def test_one_alarm_pages_for_all_that_are_critical(name: str, plan_of: PlanOf) -> None:
    plan = plan_of(name)
    composite = plan.one("aws_cloudwatch_composite_alarm")
    critical = {str(alarm.values["alarm_name"]) for alarm in alarms(plan).values() if alarm.severity == "critical"}
    assert set(re.findall(r'ALARM\("([^"]+)"\)', composite["alarm_rule"])) == critical
    assert re.sub(r'ALARM\("[^"]+"\)', "", composite["alarm_rule"]).split() == ["OR"] * (len(critical) - 1)
    assert len(composite["alarm_rule"]) <= 10_240


@pytest.mark.parametrize("name", _ALL)
def test_counts_that_are_missing_are_no_alarm_and_every_alarm_acts(name: str, plan_of: PlanOf) -> None:
    for alarm in alarms(plan_of(name)).values():
        # without a task the load balancer counts nothing, and nobody reports on the stream: that is the alarm
        missing = "breaching" if alarm.name in ("gateway-no-host", "stream-stopped") else "notBreaching"
        assert alarm.values["treat_missing_data"] == missing
        assert alarm.values["actions_enabled"] is True
        assert alarm.values["datapoints_to_alarm"] <= alarm.values["evaluation_periods"]


def test_every_alarm_names_a_runbook_that_exists_and_speaks_of_it(plan_of: PlanOf) -> None:
    everything = {**alarms(plan_of("prod")), **alarms(plan_of("provisioned")), **alarms(plan_of("extras"))}
    everything |= alarms(plan_of("streamed"))
    for alarm in everything.values():
        page = _runbook(alarm)
        assert f"`{_family(alarm.name)}`" in page, f"{alarm.name} is not explained in its runbook"


def test_changes_of_the_data_key_page(plan_of: PlanOf) -> None:
    # the pattern names the key, which is known after the apply: test_apply reads it back
    rule = plan_of("prod").one("aws_cloudwatch_event_rule", ".data_key")
    assert "docs/runbooks/key-changes.md" in rule["description"]
    assert plan_of("prod").of("aws_cloudwatch_event_target", ".data_key")


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_consumption_is_unexpected_only_above_what_the_model_itself_expects(name: str, plan_of: PlanOf) -> None:
    found, demanded = alarms(plan_of(name)), demand(MODEL, DEFAULTS)
    for place in demanded.places:
        need = demanded.need(place)
        for kind, units in (("read", need.read), ("write", need.write)):
            threshold = found[f"{place.lower()}-{kind}-consumed"].values["threshold"] / 60
            assert 1.4 * units <= threshold <= max(25, 1.6 * units), (place, kind)


def test_no_healthy_host_pages_and_tasks_that_come_and_go_do_not(plan_of: PlanOf) -> None:
    alarm = alarms(plan_of("prod"))["gateway-no-host"]
    assert alarm.severity == "critical"
    assert (alarm.metrics[0].name, alarm.metrics[0].statistic) == ("HealthyHostCount", "Maximum")
    assert (alarm.values["comparison_operator"], alarm.values["threshold"]) == ("LessThanThreshold", 1)
    # a deployment starts new tasks before it stops old ones, and a single minute without any is no page
    assert plan_of("prod").one("aws_ecs_service")["deployment_minimum_healthy_percent"] == 100
    assert alarm.values["datapoints_to_alarm"] >= 3


def test_requests_without_log_lines_page(plan_of: PlanOf) -> None:
    alarm = alarms(plan_of("prod"))["gateway-silent"]
    assert alarm.severity == "critical"
    assert {metric.namespace: metric.name for metric in alarm.metrics} == {
        "AWS/ApplicationELB": "RequestCount",
        "AWS/Logs": "IncomingLogEvents",
    }
    # quiet hours are no alarm: without requests nothing has to be logged
    assert alarm.expression == "IF(FILL(requests, 0) >= 60 AND FILL(lines, 0) < 1, 1, 0)"


def test_the_dashboard_shows_metrics_that_exist() -> None:
    graphs = [graph for graph in DATA["graphs"] if graph["namespace"] == "AWS/DynamoDB"]
    assert len(graphs) >= 8
    for graph in graphs:
        assert {entry["metric"] for entry in graph["metrics"]} <= set(SETS["AWS/DynamoDB"]), graph["title"]


def test_the_dashboard_shows_metrics_that_the_filters_count() -> None:
    counted = {row["metric"] for row in (*DATA["log_filters"].values(), *DATA["trail_filters"].values())}
    graphs = [graph for graph in DATA["graphs"] if graph["namespace"] == "gateway"]
    assert graphs
    for graph in graphs:
        assert {entry["metric"] for entry in graph["metrics"]} <= counted, graph["title"]


def test_every_alarm_in_the_file_is_deployed_somewhere(plan_of: PlanOf) -> None:
    deployed = {_family(name) for plan in _ALL for name in alarms(plan_of(plan))}
    # off by default: one needs deployment roles, the other counts errors of the whole account
    assert set(DATA["alarms"]) - deployed <= {"roles-deployed", "user-errors"}
    text = json.dumps([alarm.values for plan in _ALL for alarm in alarms(plan_of(plan)).values()])
    assert not re.search(r"\{(place|kind|Kind|operation|threshold|limit)\}|<(place|index|kind|operation|n)>", text)


def _runbook(alarm: Alarm) -> str:
    found = re.search(r"Runbook: (docs/runbooks/[a-z-]+\.md)$", str(alarm.values["alarm_description"]))
    assert found is not None, alarm.name
    return (REPOSITORY / found[1]).read_text()


def _family(name: str) -> str:
    """The name in alarms.json and in the runbooks: of those that fit, the one with the fewest placeholders."""
    fitting = [family for family in DATA["alarms"] if re.fullmatch(re.sub(r"<\w+>", "[a-z0-9]+", family), name)]
    return str(min(fitting, key=lambda family: family.count("<")))
