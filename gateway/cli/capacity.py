"""`gateway capacity`: plans capacity and cost from the model, your own traffic figures, or the gateway's log."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.errors import exit_on_error
from gateway.cli.options import Domains, named


def capacity(
    traffic: Annotated[Path | None, typer.Option(help="JSON file with your own rates and sizes.")] = None,
    from_logs: Annotated[
        Path | None, typer.Option(help="The gateway's log, to add what operations really consumed.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="JSON file with other prices. Default: us-east-1.")] = None,
    output: Annotated[str, typer.Option("--format", help="markdown or json.")] = "markdown",
    domains: Domains = None,
) -> None:
    """Plan capacity: what the expected traffic needs, what it costs, and which partitions get hot."""
    from rich.console import Console

    from gateway.domains import load_domains
    from gateway.ops.capacity.assumptions import DEFAULTS, read_assumptions
    from gateway.ops.capacity.measured import read_logs
    from gateway.ops.capacity.plan import plan
    from gateway.ops.capacity.prices import SHIPPED, read_prices
    from gateway.ops.capacity.report import check_format, show

    with exit_on_error("capacity cannot be planned"):
        check_format(output)
        model = load_domains(named(domains)).model
        assumed = DEFAULTS if traffic is None else read_assumptions(traffic, model)
        measured = None if from_logs is None else read_logs(from_logs)
        show(plan(model, assumed, read_prices(prices or SHIPPED), measured), output, Console())
