"""Metric and composite alarms of CloudWatch, their subscribers, and what CloudWatch has counted."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from gateway.ops.audit.facts import Alarm, CountedByCloudWatch, Metric, Missing
from gateway.ops.audit.gather.account import Live, learn
from gateway.ops.capacity.demand import TABLE

NAMESPACE: Final = "AWS/DynamoDB"
_MINUTE: Final = 60
_DAY: Final = 86_400
_DAYS: Final = 7


def alarm_facts(live: Live) -> tuple[Alarm, ...]:
    kinds = ["MetricAlarm", "CompositeAlarm"]
    single = live.pages("cloudwatch", "describe_alarms", "MetricAlarms", AlarmTypes=kinds)
    composite = live.pages("cloudwatch", "describe_alarms", "CompositeAlarms", AlarmTypes=kinds)
    return tuple(map(_alarm, (*single, *composite)))


def _alarm(description: Mapping[str, Any]) -> Alarm:
    stats = [part["MetricStat"] for part in description.get("Metrics") or () if "MetricStat" in part]
    metrics = [_metric(stat["Metric"], stat["Stat"], stat["Period"]) for stat in stats]
    if description.get("MetricName"):
        statistic = description.get("ExtendedStatistic") or description.get("Statistic") or ""
        metrics.append(_metric(description, statistic, description.get("Period", _MINUTE)))
    periods = description.get("EvaluationPeriods", 1)
    return Alarm(
        name=description["AlarmName"],
        metrics=tuple(metrics),
        actions=tuple(description.get("AlarmActions", ())) if description.get("ActionsEnabled", True) else (),
        rule=description.get("AlarmRule", ""),
        periods=periods,
        # by default, all of them
        points=description.get("DatapointsToAlarm") or periods,
    )


def subscriber_facts(live: Live, alarms: tuple[Alarm, ...] | Missing) -> Mapping[str, int | Missing]:
    """The number of confirmed subscriptions of each topic that an alarm names."""
    listed = alarms if isinstance(alarms, tuple) else ()
    topics = dict.fromkeys(action for alarm in listed for action in alarm.actions if ":sns:" in action)
    return {topic: learn(partial(_confirmed, live, topic)) for topic in topics}


def _confirmed(live: Live, topic: str) -> int:
    subscriptions = live.pages("sns", "list_subscriptions_by_topic", "Subscriptions", TopicArn=topic)
    # an unconfirmed subscription has a word instead of an ARN: PendingConfirmation, Deleted
    return sum(str(subscription.get("SubscriptionArn", "")).startswith("arn:") for subscription in subscriptions)


def _metric(description: Mapping[str, Any], statistic: str, period: int) -> Metric:
    dimensions = {dimension["Name"]: dimension["Value"] for dimension in description.get("Dimensions", ())}
    return Metric(description.get("Namespace", ""), description.get("MetricName", ""), dimensions, statistic, period)


def seen_facts(live: Live, table: str, indexes: tuple[str, ...], now: datetime) -> CountedByCloudWatch:
    """One request: scans of the table, and throttled reads and writes of the table and each index."""
    places = [(place, kind) for place in (TABLE, *indexes) for kind in ("Read", "Write")]
    queries = [_query("scans", "SuccessfulRequestLatency", "SampleCount", {"TableName": table, "Operation": "Scan"})]
    for number, (place, kind) in enumerate(places):
        dimensions = {"TableName": table} | ({} if place == TABLE else {"GlobalSecondaryIndexName": place})
        queries.append(_query(f"throttles{number}", f"{kind}ThrottleEvents", "Sum", dimensions))
    answers = live.pages(
        "cloudwatch",
        "get_metric_data",
        "MetricDataResults",
        MetricDataQueries=queries,
        StartTime=now - timedelta(days=_DAYS),
        EndTime=now,
    )
    counted = {query["Id"]: 0.0 for query in queries}
    for answer in answers:
        counted[answer["Id"]] += sum(answer.get("Values", ()))
    throttles = {(place, kind.lower()): counted[f"throttles{number}"] for number, (place, kind) in enumerate(places)}
    return CountedByCloudWatch(_DAYS, counted["scans"], throttles)


def _query(name: str, metric: str, statistic: str, dimensions: Mapping[str, str]) -> dict[str, Any]:
    listed = [{"Name": key, "Value": value} for key, value in dimensions.items()]
    what = {"Namespace": NAMESPACE, "MetricName": metric, "Dimensions": listed}
    return {"Id": name, "MetricStat": {"Metric": what, "Period": _DAY, "Stat": statistic}}
