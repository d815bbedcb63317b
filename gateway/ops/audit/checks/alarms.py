"""Alarms: every signal is watched with dimensions that exist, and what fires reaches somebody."""

from collections.abc import Iterator
from typing import Final

from gateway.ops.audit import fixes
from gateway.ops.audit.checks.dimensions import NAMESPACE, TABLE_NAME, dimension_fault
from gateway.ops.audit.checks.periods import period_fault
from gateway.ops.audit.checks.signals import Signal, signals
from gateway.ops.audit.facts import Alarm, Metric
from gateway.ops.audit.lines import Case, Finding, failed, missing, passed

_MOST_METRICS: Final = 10
_SHOWN: Final = 4
# autoscaling makes and keeps these itself
_OWN_OF_AUTOSCALING: Final = "TargetTracking-"


def alarms(case: Case) -> Iterator[Finding]:
    found = case.facts.alarms
    if not isinstance(found, tuple):
        yield missing(found)
        return
    ours = [alarm for alarm in found if _ours(alarm, case.subject.table)]
    yield from _faulty(ours)
    yield from _watched(case, ours)
    yield from _delivered(ours, found)


def _ours(alarm: Alarm, table: str) -> bool:
    """About this table, or about DynamoDB without naming any table, where a dimension may have been forgotten."""
    if alarm.name.startswith(_OWN_OF_AUTOSCALING):
        return False
    return any(
        metric.namespace == NAMESPACE and metric.dimensions.get(TABLE_NAME, table) == table for metric in alarm.metrics
    )


def _faulty(ours: list[Alarm]) -> Iterator[Finding]:
    for alarm in ours:
        faults = dict.fromkeys(fault for metric in alarm.metrics if (fault := dimension_fault(metric)))
        if len(alarm.metrics) > _MOST_METRICS:
            faults[f"has {len(alarm.metrics)} metrics, CloudWatch evaluates {_MOST_METRICS}"] = None
        if late := period_fault(alarm):
            faults[late] = None
        if faults:
            yield failed(f"alarm `{alarm.name}`: {'; '.join(faults)}", fixes.ALARMS)


def _watched(case: Case, ours: list[Alarm]) -> Iterator[Finding]:
    groups: dict[str, list[Signal]] = {}
    for signal in signals(case):
        groups.setdefault(signal.group, []).append(signal)
    seen = [metric for alarm in ours if period_fault(alarm) is None for metric in alarm.metrics]
    for group, wanted in groups.items():
        blind = [signal.label for signal in wanted if not _any(signal, seen)]
        if blind:
            more = f" and {len(blind) - _SHOWN} more" if len(blind) > _SHOWN else ""
            yield failed(f"{group}: no alarm on {', '.join(blind[:_SHOWN])}{more}", fixes.ALARMS)
        else:
            yield passed(f"{group}: {len(wanted)} signals are watched with the right dimensions")


def _any(signal: Signal, seen: list[Metric]) -> bool:
    return any(signal.watched_by(metric) for metric in seen)


def _delivered(ours: list[Alarm], found: tuple[Alarm, ...]) -> Iterator[Finding]:
    """An alarm tells somebody itself, or by a composite alarm that names it."""
    composed = " ".join(alarm.rule for alarm in found if alarm.notifies and alarm.rule)
    silent = [alarm.name for alarm in ours if not alarm.notifies and not _named(alarm.name, composed)]
    if silent:
        more = f" and {len(silent) - _SHOWN} more" if len(silent) > _SHOWN else ""
        yield failed(f"nobody is told by {', '.join(silent[:_SHOWN])}{more}", fixes.DELIVERY)
    elif ours:
        yield passed(f"{len(ours)} alarms tell somebody, themselves or by a composite alarm")


def _named(name: str, rules: str) -> bool:
    # a rule names an alarm in quotation marks, or by its ARN, or bare in parentheses
    return any(mark in rules for mark in (f'"{name}"', f":{name})", f':{name}"', f"({name})"))
