from dataclasses import replace

import pytest

from gateway.ops.audit.checks.alarms import alarms
from gateway.ops.audit.facts import Alarm, Metric, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.fixtures import TABLE, TOPIC
from tests.ops.audit.spoil import changed, failures, provisioned, verdicts


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
    assert errors.endswith("and 8 more")


def test_an_alarm_that_never_fires_fails_and_does_not_count(case: Case) -> None:
    wrong = Alarm("by-table", (metric("SystemErrors", TableName=TABLE),), actions=(TOPIC,))
    facts = failures(
        alarms, changed(without(case, "system-errors"), alarms=(*listed(without(case, "system-errors")), wrong))
    )
    assert facts[0].startswith("alarm `by-table`: SystemErrors by TableName never has a value")
    assert facts[1].startswith("errors: no alarm on SystemErrors of")


def test_a_forgotten_table_name_is_found_too(case: Case) -> None:
    wrong = Alarm(f"{TABLE}-reads", (metric("ConsumedReadCapacityUnits"),), actions=(TOPIC,))
    [fact] = failures(alarms, changed(case, alarms=(*listed(case), wrong)))
    assert fact.startswith(f"alarm `{TABLE}-reads`: ConsumedReadCapacityUnits by no dimension never has a value")


def test_alarms_of_another_environment_in_the_account_do_not_fail_this_one(case: Case) -> None:
    theirs = "arn:aws:sns:eu-west-1:123456789012:shop-test-notice"
    others = (
        Alarm("shop-test-reads", (metric("ConsumedReadCapacityUnits"),), actions=(theirs,)),
        Alarm("shop-test-user-errors", (metric("UserErrors"),), actions=()),
        Alarm("shop-test-errors", (metric("SystemErrors", TableName="shop-test"),), actions=(theirs,)),
        Alarm("shop-test-data-plane", (), actions=(theirs,), rule='ALARM("shop-test-errors")'),
    )
    shared = changed(case, alarms=(*listed(case), *others), subscribers={**case.facts.subscribers, theirs: 0})
    assert verdicts(alarms(shared)) == {LineVerdict.PASS}


def test_an_alarm_that_waits_for_values_that_never_come_fails_and_does_not_count(case: Case) -> None:
    whole = provisioned(case)
    kept = listed(without(whole, "ProvisionedRead"))
    by_minute = metric("ProvisionedReadCapacityUnits", TableName=TABLE)
    late = Alarm("late", (replace(by_minute, statistic="Maximum"),), actions=(TOPIC,), periods=5, points=5)
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
        Alarm("other", (metric("SystemErrors", TableName="other"),), actions=()),
        Alarm(f"TargetTracking-table/{TABLE}-AlarmHigh-1", (metric("ConsumedReadCapacityUnits"),), actions=()),
    )
    assert failures(alarms, changed(case, alarms=(*listed(case), *others))) == []


def test_math_over_more_than_ten_metrics_fails(case: Case) -> None:
    many = tuple(metric("SystemErrors", TableName=TABLE, Operation=f"Op{number}") for number in range(11))
    [fact] = failures(alarms, changed(case, alarms=(*listed(case), Alarm("large", many, actions=(TOPIC,)))))
    assert fact == "alarm `large`: has 11 metrics, CloudWatch evaluates 10"


def test_an_alarm_that_notifies_nobody_fails_unless_a_composite_does(case: Case) -> None:
    silent = tuple(replace(alarm, actions=()) for alarm in listed(case))
    [fact] = failures(alarms, changed(case, alarms=silent))
    assert fact.startswith("no notification by ")
    assert fact.endswith(" more")
    rule = " OR ".join(f'ALARM("{alarm.name}")' for alarm in silent)
    composite = Alarm("data-plane", (), actions=(TOPIC,), rule=rule)
    assert failures(alarms, changed(case, alarms=(*silent, composite))) == []
    mute = replace(composite, actions=())
    assert len(failures(alarms, changed(case, alarms=(*silent, mute)))) == 1


def test_provisioned_capacity_needs_more_alarms(case: Case) -> None:
    [fact] = failures(alarms, provisioned(case))
    assert fact.startswith("capacity: no alarm on ConsumedReadCapacityUnits of GSI1")
    assert fact.endswith("and 8 more")


def test_alarms_that_nobody_may_list_are_unknown(case: Case) -> None:
    assert verdicts(alarms(changed(case, alarms=UnknownFact("why")))) == {LineVerdict.UNKNOWN}


def test_a_topic_without_a_confirmed_subscriber_notifies_nobody(case: Case) -> None:
    deaf = changed(case, subscribers={TOPIC: 0})
    topic, nobody = failures(alarms, deaf)
    assert topic == f"the topic `{TOPIC}` has no subscriber who has confirmed"
    assert nobody.startswith("no notification by ")


def test_a_page_that_nobody_receives_fails_although_notices_are_read(case: Case) -> None:
    page = "arn:aws:sns:eu-west-1:123456789012:shop-prod-page"
    composite = Alarm("data-plane", (), actions=(page,), rule=f'ALARM("{listed(case)[0].name}")')
    with_page = changed(case, alarms=(*listed(case), composite), subscribers={TOPIC: 1, page: 0})
    assert failures(alarms, with_page) == [f"the topic `{page}` has no subscriber who has confirmed"]


def test_a_topic_that_nobody_may_look_at_is_unknown(case: Case) -> None:
    found = list(alarms(changed(case, subscribers={TOPIC: UnknownFact("no permission")})))
    assert [finding.fact for finding in found if finding.verdict is LineVerdict.UNKNOWN] == ["no permission"]
    assert LineVerdict.FAIL not in verdicts(found)


def test_a_function_is_a_receiver_of_its_own(case: Case) -> None:
    called = tuple(replace(alarm, actions=("arn:aws:lambda:eu-west-1:1:function:x",)) for alarm in listed(case))
    assert failures(alarms, changed(case, alarms=called, subscribers={})) == []


def test_an_average_does_not_stand_in_for_p99(case: Case) -> None:
    def averaged(alarm: Alarm) -> Alarm:
        return replace(alarm, metrics=tuple(replace(each, statistic="Average") for each in alarm.metrics))

    spoilt = tuple(averaged(each) if "p99-shop-prod-Query" in each.name else each for each in listed(case))
    assert failures(alarms, changed(case, alarms=spoilt)) == ["latency: no alarm on SuccessfulRequestLatency of Query"]
