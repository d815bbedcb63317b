from dataclasses import replace

import pytest

from gateway.ops.audit.checks.alarms import alarms
from gateway.ops.audit.facts import Alarm, Metric, Unknown
from gateway.ops.audit.lines import Case, Verdict
from tests.ops.audit.spoil import changed, failures, provisioned, verdicts
from tests.ops.audit.world import TABLE


def listed(case: Case) -> tuple[Alarm, ...]:
    assert isinstance(case.facts.alarms, tuple)
    return case.facts.alarms


def metric(name: str, **dimensions: str) -> Metric:
    return Metric("AWS/DynamoDB", name, dimensions, "Sum")


def without(case: Case, words: str) -> Case:
    return changed(case, alarms=tuple(alarm for alarm in listed(case) if words not in alarm.name))


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("WriteThrottleEvents-Sum-shop-prod-GSI2", "throttling: no alarm on WriteThrottleEvents of GSI2"),
        ("ConsumedRead", "capacity: no alarm on ConsumedReadCapacityUnits"),
        ("-Scan", "scans: no alarm on SuccessfulRequestLatency of Scan"),
        ("p99-shop-prod-Query", "latency: no alarm on SuccessfulRequestLatency of Query"),
    ],
)
def test_a_signal_that_nobody_watches_fails(case: Case, words: str, fact: str) -> None:
    assert failures(alarms, without(case, words)) == [fact]


def test_many_missing_alarms_are_summed_up(case: Case) -> None:
    [*_, errors] = [fact for fact in failures(alarms, changed(case, alarms=())) if fact.startswith("throttling")]
    assert errors.endswith("and 4 more")


def test_an_alarm_that_never_fires_fails_and_does_not_count(case: Case) -> None:
    wrong = Alarm("by-table", (metric("SystemErrors", TableName=TABLE),), notifies=True)
    facts = failures(
        alarms, changed(without(case, "system-errors"), alarms=(*listed(without(case, "system-errors")), wrong))
    )
    assert facts[0].startswith("alarm `by-table`: SystemErrors by TableName never has a value")
    assert facts[1].startswith("errors: no alarm on SystemErrors of")


def test_a_forgotten_table_name_is_found_too(case: Case) -> None:
    wrong = Alarm("nameless", (metric("ConsumedReadCapacityUnits"),), notifies=True)
    [fact] = failures(alarms, changed(case, alarms=(*listed(case), wrong)))
    assert fact.startswith("alarm `nameless`: ConsumedReadCapacityUnits by no dimension never has a value")


def test_an_alarm_that_waits_for_values_that_never_come_fails_and_does_not_count(case: Case) -> None:
    whole = provisioned(case)
    kept = listed(without(whole, "ProvisionedRead"))
    by_minute = metric("ProvisionedReadCapacityUnits", TableName=TABLE)
    late = Alarm("late", (replace(by_minute, statistic="Maximum"),), notifies=True, periods=5, points=5)
    facts = failures(alarms, changed(whole, alarms=(*kept, late)))
    assert facts[0] == (
        "alarm `late`: ProvisionedReadCapacityUnits has a value every 300 s: of 5 periods of 60 s never 5 have one; "
        "use a period of 300 s"
    )
    right = replace(late, periods=1, points=1)
    blind = failures(alarms, changed(whole, alarms=kept))
    assert facts[1:] == blind
    assert failures(alarms, changed(whole, alarms=(*kept, right))) != blind


def test_alarms_of_other_tables_and_of_autoscaling_are_not_ours(case: Case) -> None:
    others = (
        Alarm("other", (metric("SystemErrors", TableName="other"),), notifies=False),
        Alarm(f"TargetTracking-table/{TABLE}-AlarmHigh-1", (metric("ConsumedReadCapacityUnits"),), notifies=False),
    )
    assert failures(alarms, changed(case, alarms=(*listed(case), *others))) == []


def test_math_over_more_than_ten_metrics_fails(case: Case) -> None:
    many = tuple(metric("SystemErrors", TableName=TABLE, Operation=f"Op{number}") for number in range(11))
    [fact] = failures(alarms, changed(case, alarms=(*listed(case), Alarm("large", many, notifies=True))))
    assert fact == "alarm `large`: has 11 metrics, CloudWatch evaluates 10"


def test_an_alarm_that_tells_nobody_fails_unless_a_composite_does(case: Case) -> None:
    silent = tuple(replace(alarm, notifies=False) for alarm in listed(case))
    [fact] = failures(alarms, changed(case, alarms=silent))
    assert fact.startswith("nobody is told by ")
    assert fact.endswith(" more")
    rule = " OR ".join(f'ALARM("{alarm.name}")' for alarm in silent)
    told = Alarm("data-plane", (), notifies=True, rule=rule)
    assert failures(alarms, changed(case, alarms=(*silent, told))) == []
    mute = replace(told, notifies=False)
    assert len(failures(alarms, changed(case, alarms=(*silent, mute)))) == 1


def test_provisioned_capacity_needs_more_alarms(case: Case) -> None:
    [fact] = failures(alarms, provisioned(case))
    assert fact.startswith("capacity: no alarm on ConsumedReadCapacityUnits of GSI1")
    assert fact.endswith("and 4 more")


def test_alarms_that_nobody_may_list_are_unknown(case: Case) -> None:
    assert verdicts(alarms(changed(case, alarms=Unknown("why")))) == {Verdict.UNKNOWN}
