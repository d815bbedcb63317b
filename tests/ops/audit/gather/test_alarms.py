from datetime import UTC, datetime, timedelta

from gateway.ops.audit.facts import Alarm, CountedByCloudWatch, Facts, Metric, UnknownFact
from gateway.ops.audit.gather.account import AuditedAccount, Live
from gateway.ops.audit.gather.alarms import alarm_facts, seen_facts, subscriber_facts
from tests.ops.audit.fixtures import OPERATIONS, TABLE, TOPIC, client
from tests.ops.audit.scripted import Scripted, refused


def test_metric_alarms_come_with_their_metrics(facts: Facts) -> None:
    assert isinstance(facts.alarms, tuple)
    by_name = {alarm.name: alarm for alarm in facts.alarms}
    latency = by_name[f"SuccessfulRequestLatency-p99-{TABLE}-Query"]
    named = {"TableName": TABLE, "Operation": "Query"}
    assert latency.metrics == (Metric("AWS/DynamoDB", "SuccessfulRequestLatency", named, "p99"),)
    assert latency.actions == (TOPIC,)
    assert facts.subscribers == {TOPIC: 1}
    assert len(by_name["system-errors"].metrics) == len(OPERATIONS)


def test_composite_alarms_come_with_their_rule_and_switched_off_ones_notify_nobody() -> None:
    answer = {
        "CompositeAlarms": [{"AlarmName": "page", "AlarmRule": 'ALARM("a")', "AlarmActions": ["topic"]}],
        "MetricAlarms": [{"AlarmName": "off", "ActionsEnabled": False, "AlarmActions": ["topic"], "Metrics": []}],
    }
    assert alarm_facts(Scripted({"describe_alarms": answer})) == (
        Alarm("off", (), actions=()),
        Alarm("page", (), actions=("topic",), rule='ALARM("a")'),
    )


def test_scans_and_throttles_are_counted(account: AuditedAccount) -> None:
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
    assert found == CountedByCloudWatch(7, 2.0, {**quiet, ("GSI1", "write"): 8.0})


def test_only_subscribers_who_have_confirmed_are_counted_and_each_topic_is_asked_once() -> None:
    topics: list[object] = []

    def answer(**parameters: object) -> dict[str, object]:
        topics.append(parameters["TopicArn"])
        return {"Subscriptions": [{"SubscriptionArn": "PendingConfirmation"}, {"SubscriptionArn": f"{TOPIC}:1"}]}

    alarms = (Alarm("a", (), (TOPIC, "arn:aws:lambda:eu-west-1:1:function:x")), Alarm("b", (), (TOPIC,)))
    live = Scripted({"list_subscriptions_by_topic": answer})
    assert subscriber_facts(live, alarms) == {TOPIC: 1}
    assert topics == [TOPIC]
    assert subscriber_facts(live, UnknownFact("why")) == {}


def test_a_topic_that_may_not_be_read_is_unknown() -> None:
    live = Scripted({"list_subscriptions_by_topic": refused("AuthorizationError")})
    assert subscriber_facts(live, (Alarm("a", (), (TOPIC,)),)) == {TOPIC: UnknownFact("failed: AuthorizationError")}
