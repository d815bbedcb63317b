"""A capacity plan as a Markdown page for people, and as JSON for other programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.markdown import Markdown

from gateway.errors import ConfigurationError
from gateway.model.docs.keys import code, markdown_table
from gateway.ops.capacity.cost import WARNING, BreakEven, provisioned
from gateway.ops.capacity.measured import Measured
from gateway.ops.capacity.partitions import PARTITION_READS, PARTITION_WRITES
from gateway.ops.capacity.plan import Bill, CapacityPlan

FORMATS: Final = ("markdown", "json")
_SHOWN: Final = 8  # partitions and operations


def check_format(name: str) -> None:
    if name not in FORMATS:
        raise ConfigurationError([f"--format: `{name}` is not one of {', '.join(FORMATS)}"])


def show(plan: CapacityPlan, output: str, console: Console) -> None:
    """Prints the plan; a terminal renders the Markdown."""
    if output == "json":
        console.out(json.dumps(as_json(plan), indent=2), highlight=False)
    elif console.is_terminal:
        console.print(Markdown(page(plan)))
    else:
        console.out(page(plan), highlight=False, end="")


def as_json(plan: CapacityPlan) -> dict[str, Any]:
    """The figures; shares are fractions of 1, costs are per month."""
    measured = None if plan.measured is None else asdict(plan.measured)
    return {
        "prices": {"region": plan.prices.region, "currency": plan.prices.currency, "as_of": plan.prices.as_of},
        "assumed": plan.assumed.model_dump(mode="json"),
        "consumption": [{**asdict(row), "units": row.units} for row in plan.demand.rows],
        "places": {place: asdict(plan.demand.need(place)) for place in plan.demand.places},
        "expected": _finite(asdict(plan.expected)),
        "partitions": [{**asdict(item), "heat": item.heat, "advice": item.advice} for item in plan.partitions],
        "dax": [_finite({**asdict(payoff), "pays": payoff.pays}) for payoff in plan.payoffs],
        "around": [asdict(expense) for expense in plan.around],
        "trail": [{**asdict(trail), "total": trail.total} for trail in plan.trails],
        "measured": measured,
        "measured_bill": None if plan.measured_bill is None else _finite(asdict(plan.measured_bill)),
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity: a break-even that is never reached is null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_finite(item) for item in value]
    return None if value == float("inf") else value


def page(plan: CapacityPlan) -> str:
    parts = (
        _opening(plan),
        _consumption(plan),
        _places(plan),
        _costs(plan),
        _partitions(plan),
        _dax(plan),
        _trail(plan),
        _around(plan),
    )
    measured = _measured(plan, plan.measured, plan.measured_bill) if plan.measured and plan.measured_bill else ()
    return "\n".join(line for part in (*parts, measured) for line in part) + "\n"


def _opening(plan: CapacityPlan) -> Iterator[str]:
    assumed, prices = plan.assumed, plan.prices
    yield from ("# Capacity", "")
    yield "Rates and sizes are those of the model's access patterns, and mean a busy hour."
    yield f"Writes are {assumed.writes_per_read:.0%} of an entity's reads unless the traffic file says otherwise."
    yield f"The average load is taken as {assumed.average_share:.0%} of the busy hour's,"
    yield f"and provisioned capacity is kept {assumed.utilisation:.0%} full."
    yield f"Prices: {prices.region}, {prices.currency}, as of {prices.as_of}."
    yield ""
    yield f"Source of the prices: {prices.source}"
    yield ""


def _consumption(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## What each pattern and write takes", "")
    rows = (
        (
            row.name,
            row.place,
            f"{row.per_second:,.4g}/s",
            f"{row.each:,.4g}",
            f"{row.units:,.1f} {'RCU' if row.kind == 'read' else 'WCU'}",
            row.remark,
        )
        for row in plan.demand.rows
    )
    yield from markdown_table(("what", "in", "rate", "units each", "units a second", "remark"), rows)
    yield ""


def _places(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## What the table and each index need", "")
    needs = {place: plan.demand.need(place) for place in plan.demand.places}
    bought = {place: provisioned(need, plan.assumed.utilisation) for place, need in needs.items()}
    rows = [
        (place, f"{need.read:,.1f}", f"{need.write:,.1f}", f"{bought[place].read:,.0f}", f"{bought[place].write:,.0f}")
        for place, need in needs.items()
    ]
    yield from markdown_table(("in", "RCU", "WCU", "RCU to provision", "WCU to provision"), rows)
    yield from ("", _amplification(plan), "")


def _amplification(plan: CapacityPlan) -> str:
    written = sum(row.per_second for row in plan.demand.rows if row.kind == "write" and row.place == "table")
    total = plan.demand.total.write
    average = total / written if written else 0
    return f"Write amplification: {written:,.1f} writes a second become {total:,.1f} WCU, {average:.1f} for each write."


def _costs(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## What a month costs", "")
    yield from _bill(plan, plan.expected)


def _bill(plan: CapacityPlan, bill: Bill) -> Iterator[str]:
    month, currency = bill.month, plan.prices.currency
    rows = [
        ("on demand", f"{month.on_demand:,.2f}", "what is used, at the average load"),
        ("provisioned, fixed", f"{month.fixed:,.2f}", "enough for the busy hour, all the time"),
        ("autoscaled", f"{month.autoscaled:,.2f}", "at best: if it followed the load without delay"),
    ]
    rows += [
        (f"fixed, reserved for {years} year{'s' if years > 1 else ''}", f"{amount:,.2f}", "whole hundreds of units")
        for years, amount in month.reserved.items()
    ]
    rows += [("storage", f"{month.storage:,.2f}", "in every mode")] if month.storage else []
    yield from markdown_table(("mode", f"{currency} a month", "remark"), rows)
    yield from ("", f"Cheapest without a commitment: {month.cheapest}. {_break_even_words(bill.break_even)}", "")


def _break_even_words(point: BreakEven) -> str:
    share = (
        f"capacity fixed for the busy hour is cheaper once the average load is above {point.average_share:.0%} of it"
        if point.average_share <= 1
        else "capacity fixed for the busy hour is never cheaper"
    )
    return (
        f"Break-even: a provisioned unit is cheaper than on demand when it is used more than "
        f"{point.read_utilisation:.1%} (reads) or {point.write_utilisation:.1%} (writes) of the time; {share}."
    )


def _partitions(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## The busiest partitions", "")
    assumed = plan.assumed
    yield f"One partition takes {PARTITION_READS:,} RCU and {PARTITION_WRITES:,} WCU."
    yield f"Assumed: the busiest tenant makes {assumed.busiest_tenant:.0%} of the traffic,"
    yield f"its busiest id gets {assumed.busiest_key:.0%} of that, the busiest value of a choice"
    yield f"{assumed.busiest_value:.0%}."
    yield ""
    shown = [row for number, row in enumerate(plan.partitions) if number < _SHOWN or row.heat != "fine"]
    rows = (
        (
            partition.place,
            code(partition.key),
            f"{partition.read:,.1f}",
            f"{partition.write:,.1f}",
            f"{partition.shards}",
            partition.heat,
            partition.advice,
        )
        for partition in shown
    )
    yield from markdown_table(("in", "key", "RCU", "WCU", "shards", "verdict", "advice"), rows)
    yield ""


def _dax(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## Would DAX pay?", "")
    rows = (
        (
            f"{payoff.nodes} x {payoff.node}",
            f"{payoff.cluster:,.2f}",
            f"{payoff.saved_on_demand:,.2f}",
            f"{payoff.saved_autoscaled:,.2f}",
            f"{payoff.break_even:,.0f} RCU",
            "yes" if payoff.pays else "no",
        )
        for payoff in plan.payoffs
    )
    head = ("cluster", "a month", "saves on demand", "saves autoscaled", "pays from an average of", "pays on demand")
    yield from markdown_table(head, rows)
    yield from ("", f"Assumed: it answers {plan.assumed.cache_hits:.0%} of the eventual reads. {WARNING}", "")


def _trail(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## What an audit trail costs", "")
    rows = (
        (
            code(trail.records),
            f"{trail.events / 1e6:,.0f} million",
            f"{trail.recording:,.2f}",
            f"{trail.copy:,.2f}",
            f"{trail.total:,.2f}",
            trail.says,
        )
        for trail in plan.trails
    )
    head = ("records", "events a month", "CloudTrail", "copy for alarms", f"{plan.prices.currency} a month", "what")
    yield from markdown_table(head, rows)
    on_demand = plan.expected.month.on_demand
    whole = f", {plan.trails[0].total / on_demand:.0%} of it for `all`" if on_demand else ""
    yield from ("", f"In addition to {on_demand:,.2f} for the table on demand{whole}; set by `audit.data_events`.", "")
    yield f"Assumed: every request is one event of {plan.assumed.event_bytes:,} bytes. What people and jobs do is not"
    yield "counted, nor is storage."
    yield ""


def _around(plan: CapacityPlan) -> Iterator[str]:
    yield from ("## What runs around the table", "")
    rows = [(expense.name, f"{expense.month:,.2f}", expense.how) for expense in plan.around]
    yield from markdown_table(("what", f"{plan.prices.currency} a month", "for"), rows)
    around, month = sum(expense.month for expense in plan.around), plan.expected.month
    whole = around + month.on_demand + month.storage
    yield from (
        "",
        f"Together {around:,.2f}; with the table on demand and its storage {whole:,.2f}. The audit trail is separate.",
    )
    yield "Set by `around` of the traffic file. Traffic between zones, DAX, the bucket of the trail and support are not"
    yield "counted."
    yield ""


def _measured(plan: CapacityPlan, measured: Measured, bill: Bill) -> Iterator[str]:
    yield from ("## Measured", "")
    minutes, left_out = measured.seconds / 60, measured.skipped
    yield f"{sum(operation.count for operation in measured.operations):,} operations in {minutes:,.1f} minutes;"
    yield f"on average {measured.average.read:,.2f} RCU and {measured.average.write:,.2f} WCU,"
    yield f"in the busiest minute {measured.busiest.read:,.2f} RCU and {measured.busiest.write:,.2f} WCU."
    yield f"{left_out:,} other lines were left out."
    yield "A line has one number of units: those of mutations count as writes, all others as reads."
    yield ""
    rows = (
        (
            operation.name,
            f"{operation.count:,}",
            f"{operation.calls_each:.1f}",
            f"{operation.units_each:.2f}",
            f"{operation.units:,.1f}",
        )
        for operation in measured.operations[:_SHOWN]
    )
    yield from markdown_table(("operation", "count", "calls each", "units each", "units"), rows)
    yield ""
    yield from _bill(plan, bill)
