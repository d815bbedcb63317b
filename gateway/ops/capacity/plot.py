"""Plots in plain characters: bars for capacity, curves for what a month costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from gateway.ops.capacity.cost import monthly
from gateway.ops.capacity.plan import Bill
from gateway.ops.capacity.prices import Prices

_BAR: Final = 40
_WIDTH, _HEIGHT = 61, 14
_POINTS: Final = 60


@dataclass(frozen=True, slots=True)
class Curve:
    """Cost by average share, from 0 to 1 in even steps; `mark` draws it."""

    name: str
    mark: str
    costs: tuple[float, ...]


def curves(bill: Bill, prices: Prices) -> tuple[Curve, ...]:
    shares = [step / _POINTS for step in range(_POINTS + 1)]
    months = [monthly(bill.needs, replace(bill.shape, average_share=share), prices) for share in shares]
    return (
        Curve("provisioned for the busy hour", "=", tuple(month.fixed for month in months)),
        Curve("autoscaled, following at once", "-", tuple(month.autoscaled for month in months)),
        Curve("on demand", "o", tuple(month.on_demand for month in months)),
    )


def bars(rows: Sequence[tuple[str, float, str]]) -> list[str]:
    """A line for each label, value and unit, as long as its part of the largest."""
    largest = max((value for _, value, _ in rows), default=0)
    width = max((len(label) for label, _, _ in rows), default=0)
    return [
        f"{label:<{width}} {'█' * _length(value, largest):<{_BAR}} {value:>10,.1f} {unit}".rstrip()
        for label, value, unit in rows
    ]


def _length(value: float, largest: float) -> int:
    # what is more than nothing shows
    return ceil(_BAR * value / largest) if largest else 0


def chart(drawn: Sequence[Curve], share: float, currency: str) -> list[str]:
    """The curves over the average share; a column of dots stands at `share`."""
    top = max(cost for curve in drawn for cost in curve.costs) or 1
    grid = [[" "] * _WIDTH for _ in range(_HEIGHT + 1)]
    for row in grid:
        row[round(share * _POINTS)] = "·"
    for curve in drawn:
        for column, cost in enumerate(curve.costs):
            grid[_HEIGHT - round(_HEIGHT * cost / top)][column] = curve.mark
    scale = {0: f"{top:,.0f}", _HEIGHT: "0"}
    width = max(len(text) for text in scale.values())
    lines = [f"{scale.get(number, ''):>{width}} │{''.join(row)}".rstrip() for number, row in enumerate(grid)]
    lines.append(f"{'':>{width}} └{'─' * _WIDTH}")
    lines.append(f"{'':>{width}}  0 %{'average load as a part of the busy hour':^{_WIDTH - 8}}100 %".rstrip())
    legend = ", ".join(f"{curve.mark} {curve.name}" for curve in drawn)
    return [f"{currency} a month", *lines, f"{legend}, · assumed today"]
