from dataclasses import replace

import pytest

from gateway.ops.audit.checks.capacity import autoscaling, ceiling, index_capacity, mode
from gateway.ops.audit.facts import CountedByCloudWatch, NotHere, ScalingTarget, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from gateway.ops.capacity.demand import Need
from tests.ops.audit.spoil import changed, facts_of, failures, provisioned, verdicts, with_index, with_table


def without(case: Case, place: str, kind: str) -> Case:
    targets = case.facts.scaling
    assert isinstance(targets, tuple)
    return changed(case, scaling=tuple(each for each in targets if (each.place, each.kind) != (place, kind)))


def test_provisioned_capacity_that_is_autoscaled_everywhere_passes(case: Case) -> None:
    good = provisioned(case)
    assert verdicts([*index_capacity(good), *mode(good), *autoscaling(good)]) == {LineVerdict.PASS}


def test_an_index_that_takes_less_than_the_table_fails(case: Case) -> None:
    small = without(provisioned(case), "GSI2", "write")
    assert failures(index_capacity, small) == ["GSI2 takes 10 WCU at most, the table 5,000 WCU"]
    limited = with_table(case, indexes=with_index(case.facts.table, "GSI1", limit=Need(10, 20)))
    assert failures(index_capacity, limited) == ["GSI1 takes 20 WCU at most, the table what the account's quota allows"]


def test_an_index_under_construction_or_throttled_fails(case: Case) -> None:
    making = with_table(case, indexes=with_index(case.facts.table, "GSI3", status="CREATING"))
    assert failures(index_capacity, making) == ["GSI3 is CREATING"]
    throttled = changed(case, seen=CountedByCloudWatch(7, 0, {("GSI1", "write"): 3.0}))
    assert failures(index_capacity, throttled) == ["GSI1: 3 throttled writes in 7 days"]


def test_a_table_without_indexes_has_nothing_to_compare(case: Case) -> None:
    assert verdicts(index_capacity(with_table(case, indexes={}))) == {LineVerdict.NOT_APPLICABLE}


def test_one_unit_after_a_switch_of_the_mode_fails(case: Case) -> None:
    dropped = changed(with_table(case, on_demand=False, provisioned=Need(1, 1), indexes={}), scaling=())
    facts = failures(mode, dropped)
    assert [fact.partition(",")[0] for fact in facts] == [
        "provisioned: table has 1 RCU at most",
        "provisioned: table has 1 WCU at most",
    ]


def test_a_limit_on_demand_below_the_expected_load_fails(case: Case) -> None:
    assert failures(mode, with_table(case, limit=Need(float("inf"), 5))) == [
        fact for fact in failures(mode, with_table(case, limit=Need(1e9, 5))) if "5 WCU" in fact
    ]
    assert len(failures(mode, with_table(case, limit=Need(1, 1)))) == 2


def test_a_table_that_was_throttled_fails(case: Case) -> None:
    assert failures(mode, changed(case, seen=CountedByCloudWatch(7, 0, {("table", "read"): 1.0}))) == [
        "table: 1 throttled reads in 7 days"
    ]


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        (None, "is not autoscaled"),
        (ScalingTarget("GSI1", "read", 5, 100, None), "has bounds, but no policy that tracks a target"),
        (ScalingTarget("GSI1", "read", 5, 100, 50), "tracks 50 %"),
        (ScalingTarget("GSI1", "read", 5, 5, 70), "cannot move: both bounds are 5"),
    ],
)
def test_autoscaling_that_cannot_work_fails(case: Case, target: ScalingTarget | None, fault: str) -> None:
    spoilt = without(provisioned(case), "GSI1", "read")
    assert isinstance(spoilt.facts.scaling, tuple)
    spoilt = changed(spoilt, scaling=(*spoilt.facts.scaling, *([target] if target else [])))
    assert failures(autoscaling, spoilt) == [f"GSI1, read: {fault}"]


def test_autoscaling_that_nobody_may_look_at_is_unknown(case: Case) -> None:
    blind = changed(provisioned(case), scaling=UnknownFact("no permission"))
    assert facts_of(autoscaling, blind, LineVerdict.UNKNOWN) == ["no permission"]
    # what was bought still counts
    assert ceiling(blind.facts, "table", "write") == 10


def test_bounds_that_nobody_may_look_at_neither_pass_nor_fail_what_depends_on_them(case: Case) -> None:
    blind = changed(provisioned(case), scaling=UnknownFact("no permission"))
    assert verdicts([*index_capacity(blind), *mode(blind)]) == {LineVerdict.UNKNOWN}


def test_throttles_that_nobody_may_look_up_are_unknown_and_hide_no_fault(case: Case) -> None:
    blind = changed(case, seen=UnknownFact("no permission for `cloudwatch:GetMetricData`"))
    for check in (index_capacity, mode):
        assert verdicts(check(blind)) == {LineVerdict.UNKNOWN}
    limited = with_table(blind, limit=Need(1, 1))
    assert verdicts(mode(limited)) == {LineVerdict.UNKNOWN, LineVerdict.FAIL}


def test_a_table_without_any_autoscaling_passes_nothing(case: Case) -> None:
    bare = changed(provisioned(case), scaling=())
    assert verdicts(autoscaling(bare)) == {LineVerdict.FAIL}


def test_throttles_are_left_out_where_cloudwatch_is_absent(case: Case) -> None:
    assert verdicts(mode(changed(case, seen=NotHere("no cloudwatch")))) == {LineVerdict.PASS}


def test_the_ceiling_is_the_larger_of_what_is_bought_and_what_may_be(case: Case) -> None:
    large = with_table(provisioned(case, most=100), provisioned=Need(500, 500))
    assert ceiling(replace(large.facts), "table", "read") == 500
