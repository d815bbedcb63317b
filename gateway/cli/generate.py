"""The commands that write files from the model: `docs`, `records` and `terraform-inputs`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.options import Check, Domains, exit_on_error, loaded, write_or_check

if TYPE_CHECKING:
    from gateway.model.model import Model

Output = Annotated[Path, typer.Option(help="The file to write.")]


def docs(check: Check = False, path: Output = Path("docs/access-patterns.md"), domains: Domains = None) -> None:
    """Write docs/access-patterns.md from the model, and the matrix of its roles into roles.md next to it."""
    from gateway.model.docs.patterns import access_patterns
    from gateway.model.docs.roles import with_matrix

    with exit_on_error():
        model, page = loaded(domains).model, path.parent / "roles.md"
        # a page that does not exist, or has no marks for the matrix, is not written
        if page.exists():
            text = with_matrix(page.read_text(encoding="utf-8"), model)
            write_or_check(page, text, check=check, command="gateway docs")
        write_or_check(path, access_patterns(model), check=check, command="gateway docs")


def records(check: Check = False, path: Output = Path("records.py"), domains: Domains = None) -> None:
    """Write a typed class for each entity, for the mutations of the domain."""
    from gateway.ops.record_classes import StandIn, record_classes

    with exit_on_error():
        sys.meta_path.insert(0, StandIn(path))
        model = loaded(domains).model
        write_or_check(path, record_classes(model), check=check, command="gateway records")


def terraform_inputs(
    check: Check = False, path: Output = Path("terraform/table.json"), domains: Domains = None
) -> None:
    """Write terraform/table.json from the model: keys, indexes, TTL and expected traffic of the table."""
    with exit_on_error():
        text = table_json(loaded(domains).model)
        write_or_check(path, text, check=check, command="gateway terraform-inputs")


def table_json(model: "Model") -> str:
    from gateway.ops.capacity.demand import expected_units

    return json.dumps({**model.table.terraform_inputs(), "expected": expected_units(model)}, indent=2) + "\n"
