"""`gateway capacity`: reads what is assumed and measured, prints the plan."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markdown import Markdown

from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.ops.capacity.assumptions import DEFAULTS, read_assumptions
from gateway.ops.capacity.measured import read_logs
from gateway.ops.capacity.plan import CapacityPlan, plan
from gateway.ops.capacity.plot import curves
from gateway.ops.capacity.prices import SHIPPED, read_prices
from gateway.ops.capacity.report import page
from gateway.ops.capacity.svg import svg

FORMATS: Final = ("markdown", "json")


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """What `gateway capacity` is asked for."""

    traffic: Path | None = None
    logs: Path | None = None
    prices: Path = SHIPPED
    svg: Path | None = None
    format: str = "markdown"


def capacity(wanted: CapacityOptions, model: Model, console: Console | None = None) -> int:
    """Prints the plan; the exit code. Raises `ConfigurationError` where a file cannot be used."""
    console = console or Console()
    if wanted.format not in FORMATS:
        raise ConfigurationError([f"--format: `{wanted.format}` is none of {', '.join(FORMATS)}"])
    assumed = DEFAULTS if wanted.traffic is None else read_assumptions(wanted.traffic, model)
    measured = None if wanted.logs is None else read_logs(wanted.logs)
    made = plan(model, assumed, read_prices(wanted.prices), measured)
    if wanted.svg is not None:
        _draw(wanted.svg, made)
    if wanted.format == "json":
        console.out(json.dumps(as_json(made), indent=2), highlight=False)
    elif console.is_terminal:
        console.print(Markdown(page(made)))
    else:
        console.out(page(made), highlight=False, end="")
    return 0


def as_json(made: CapacityPlan) -> dict[str, Any]:
    """The figures, for other programs; shares are parts of 1, costs are of a month."""
    places = {place: asdict(made.demand.need(place)) for place in made.demand.places}
    measured = None if made.measured is None else asdict(made.measured)
    return {
        "prices": {"region": made.prices.region, "currency": made.prices.currency, "as_of": made.prices.as_of},
        "assumed": made.assumed.model_dump(mode="json"),
        "consumption": [{**asdict(row), "units": row.units} for row in made.demand.rows],
        "places": places,
        "expected": _finite(asdict(made.expected)),
        "partitions": [{**asdict(each), "heat": each.heat, "advice": each.advice} for each in made.partitions],
        "dax": [_finite({**asdict(each), "pays": each.pays}) for each in made.payoffs],
        "trail": [{**asdict(each), "total": each.total} for each in made.trails],
        "measured": measured,
        "measured_bill": None if made.measured_bill is None else _finite(asdict(made.measured_bill)),
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity: what is never reached is null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_finite(each) for each in value]
    return None if value == float("inf") else value


def _draw(path: Path, made: CapacityPlan) -> None:
    bill = made.measured_bill or made.expected
    title = f"{made.prices.currency} a month by capacity mode ({made.prices.region}, prices of {made.prices.as_of})"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg(curves(bill, made.prices), bill.shape.average_share, title), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError([f"`{path}` cannot be written: {error}"]) from error
