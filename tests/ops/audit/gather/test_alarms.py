from datetime import UTC, datetime, timedelta

from gateway.ops.audit.account import Account, Live
from gateway.ops.audit.facts import Alarm, Facts, Metric, Seen
from gateway.ops.audit.gather.alarms import alarm_facts, seen_facts
from tests.ops.audit.scripted import Scripted
from tests.ops.audit.world import OPERATIONS, TABLE, client


def test_metric_alarms_come_with_their_metrics(facts: Facts) -> None:
    assert isinstance(facts.alarms, tuple)
    by_name = {alarm.name: alarm for alarm in facts.alarms}
    latency = by_name[f"SuccessfulRequestLatency-p99-{TABLE}-Query"]
    named = {"TableName": TABLE, "Operation": "Query"}
    assert latency.metrics == (Metric("AWS/DynamoDB", "SuccessfulRequestLatency", named, "p99"),)
    assert latency.notifies
    assert len(by_name["system-errors"].metrics) == len(OPERATIONS)
    assert by_name["system-errors"].expressions == 1


def test_composite_alarms_come_with_their_rule_and_switched_off_ones_tell_nobody() -> None:
    answer = {
        "CompositeAlarms": [{"AlarmName": "page", "AlarmRule": 'ALARM("a")', "AlarmActions": ["topic"]}],
        "MetricAlarms": [{"AlarmName": "off", "ActionsEnabled": False, "AlarmActions": ["topic"], "Metrics": []}],
    }
    assert alarm_facts(Scripted({"describe_alarms": answer})) == (
        Alarm("off", (), notifies=False),
        Alarm("page", (), notifies=True, rule='ALARM("a")'),
    )


def test_scans_and_throttles_are_counted(account: Account) -> None:
    now = datetime.now(UTC)
    scan = [{"Name": "TableName", "Value": TABLE}, {"Name": "Operation", "Value": "Scan"}]
    index = [{"Name": "TableName", "Value": TABLE}, {"Name": "GlobalSecondaryIndexName", "Value": "GSI1"}]
    for at in (now - timedelta(hours=1), now - timedelta(days=3), now - timedelta(days=30)):
        client("cloudwatch").put_metric_data(
            Namespace="AWS/DynamoDB",
            MetricData=[
                {"MetricName": "SuccessfulRequestLatency", "Dimensions": scan, "Value": 250.0, "Timestamp": at},
                {"MetricName": "WriteThrottleEvents", "Dimensions": index, "Value": 4.0, "Timestamp": at},
            ],
        )
    live = Live(account)
    found = seen_facts(live, TABLE, ("GSI1",), now)
    live.close()
    quiet = {("table", "read"): 0.0, ("table", "write"): 0.0, ("GSI1", "read"): 0.0}
    assert found == Seen(7, 2.0, {**quiet, ("GSI1", "write"): 8.0})
