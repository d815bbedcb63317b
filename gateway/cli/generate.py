"""The commands that write files from the model: `docs` and `terraform-inputs`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.errors import exit_on_error
from gateway.cli.options import Check, Domains, write_or_check

Output = Annotated[Path, typer.Option(help="The file to write.")]


def docs(check: Check = False, path: Output = Path("docs/access-patterns.md"), domains: Domains = None) -> None:
    """Write docs/access-patterns.md from the model."""
    from gateway.domains import load_domains
    from gateway.model.pattern_docs import access_patterns

    with exit_on_error():
        write_or_check(path, access_patterns(load_domains(domains or ()).model), check=check, command="gateway docs")


def terraform_inputs(
    check: Check = False, path: Output = Path("terraform/table.json"), domains: Domains = None
) -> None:
    """Write terraform/table.json from the model: keys, indexes, TTL and expected traffic of the table."""
    from gateway.domains import load_domains
    from gateway.ops.capacity.demand import expected_units

    with exit_on_error():
        model = load_domains(domains or ()).model
        text = json.dumps({**model.table.terraform_inputs(), "expected": expected_units(model)}, indent=2) + "\n"
        write_or_check(path, text, check=check, command="gateway terraform-inputs")
