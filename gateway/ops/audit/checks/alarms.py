"""Alarms: every signal is watched with existing dimensions, and a firing alarm notifies someone."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.ops.audit import fixes
from gateway.ops.audit.checks.dynamodb_metrics import NAMESPACE, TABLE_NAME, dimension_fault, period_fault
from gateway.ops.audit.checks.signals import Signal, signals
from gateway.ops.audit.facts import Alarm, Missing
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed, some

_MOST_METRICS: Final = 10
_SHOWN: Final = 4
# autoscaling creates and maintains these itself
_OWN_OF_AUTOSCALING: Final = "TargetTracking-"


def alarms(case: Case) -> Iterator[AuditFinding]:
    alarms_found = case.facts.alarms
    if not isinstance(alarms_found, tuple):
        yield missing(alarms_found)
        return
    ours = [alarm for alarm in alarms_found if _ours(alarm, case.subject.table)]
    yield from _faulty(ours)
    yield from _watched(case, ours)
    yield from _delivered(ours, alarms_found, case.facts.subscribers)


def _ours(alarm: Alarm, table: str) -> bool:
    """Whether it is about this table, or has its name while its metric names none because a dimension was forgotten.

    Without that name it may belong to another environment, and cannot count as watching this one.
    """
    if alarm.name.startswith(_OWN_OF_AUTOSCALING):
        return False
    tables = {metric.dimensions.get(TABLE_NAME) for metric in alarm.metrics if metric.namespace == NAMESPACE}
    return table in tables or (None in tables and _called_after(alarm.name, table))


def _called_after(name: str, table: str) -> bool:
    # two environments whose names start alike, `shop` and `shop-eu`, cannot be distinguished by this
    return name == table or name.startswith(f"{table}-")


def _faulty(ours: list[Alarm]) -> Iterator[AuditFinding]:
    for alarm in ours:
        faults = dict.fromkeys(fault for metric in alarm.metrics if (fault := dimension_fault(metric)))
        if len(alarm.metrics) > _MOST_METRICS:
            faults[f"has {len(alarm.metrics)} metrics, CloudWatch evaluates {_MOST_METRICS}"] = None
        if late := period_fault(alarm):
            faults[late] = None
        if faults:
            yield failed(f"alarm `{alarm.name}`: {'; '.join(faults)}", fixes.ALARMS)


def _watched(case: Case, ours: list[Alarm]) -> Iterator[AuditFinding]:
    groups: dict[str, list[Signal]] = {}
    for signal in signals(case):
        groups.setdefault(signal.group, []).append(signal)
    seen = [metric for alarm in ours if period_fault(alarm) is None for metric in alarm.metrics]
    for group, group_signals in groups.items():
        blind = [signal.label for signal in group_signals if not any(map(signal.watched_by, seen))]
        if blind:
            yield failed(f"{group}: no alarm on {some(blind, _SHOWN)}", fixes.ALARMS)
        else:
            yield passed(f"{group}: {len(group_signals)} signals are watched with the right dimensions")


def _delivered(
    ours: list[Alarm], everywhere: tuple[Alarm, ...], subscribers: Mapping[str, int | Missing]
) -> Iterator[AuditFinding]:
    """An alarm notifies a topic directly, or through a composite alarm that names it."""
    topics = {action: subscribers.get(action, 1) for alarm in everywhere for action in alarm.actions}
    composites = [alarm for alarm in everywhere if alarm.rule and any(_named(own.name, alarm.rule) for own in ours)]
    composed = " ".join(alarm.rule for alarm in composites if _heard(alarm, topics))
    silent = [alarm.name for alarm in ours if not _heard(alarm, topics) and not _named(alarm.name, composed)]
    yield from _unheard([*ours, *composites], topics)
    if silent:
        yield failed(f"no notification by {some(silent, _SHOWN)}", fixes.DELIVERY)
    elif ours:
        yield passed(f"{len(ours)} alarms notify a receiver, directly or through a composite alarm")


def _heard(alarm: Alarm, topics: Mapping[str, int | Missing]) -> bool:
    """An action that is not a topic, such as a function, is a receiver; an unreadable topic is reported below."""
    return any(topics[action] != 0 for action in alarm.actions)


def _unheard(notifying: list[Alarm], topics: Mapping[str, int | Missing]) -> Iterator[AuditFinding]:
    for action in dict.fromkeys(action for alarm in notifying for action in alarm.actions):
        count = topics[action]
        if not isinstance(count, int):
            yield missing(count)
        elif count == 0:
            yield failed(f"the topic `{action}` has no subscriber who has confirmed", fixes.DELIVERY)


def _named(name: str, rules: str) -> bool:
    # a rule names an alarm in quotation marks, or by its ARN, or bare in parentheses
    return any(mark in rules for mark in (f'"{name}"', f":{name})", f':{name}"', f"({name})"))
