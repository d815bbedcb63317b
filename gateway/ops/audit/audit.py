"""The audit: gathers the facts, runs the checks, prints the checklist; the exit code is for CI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from gateway.errors import ConfigurationError
from gateway.model.files.keys import has_files
from gateway.model.model import Model
from gateway.ops.audit.checklist import NAMES, run_checks
from gateway.ops.audit.gather.account import AuditedAccount, Live
from gateway.ops.audit.gather.everything import Places, gather
from gateway.ops.audit.report import as_json, as_sarif, show
from gateway.ops.audit.results import AuditSubject, Case, LineResult, LineVerdict
from gateway.ops.json_file import read_json_file

FORMATS: Final = ("table", "json", "sarif")

_PLACES: Final = Places()


class _Silo(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    dax_role_arn: str | None = None


class _Config(BaseModel):
    """The settings of the gateway that an audit needs, and what Terraform adds to them; the rest is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    table_name: str | None = None
    region: str | None = None
    tenant_role_arn: str | None = None
    gateway_role_arn: str | None = None
    vpc_id: str | None = None
    dax_role_arn: str | None = None
    files_bucket: str | None = None
    silos: Mapping[str, _Silo] = {}
    domains: Annotated[tuple[str, ...], Field(strict=False)] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """The options of `gateway audit`; with `strict`, unknown lines fail as well."""

    subject: AuditSubject
    account: AuditedAccount
    places: Places = _PLACES
    format: str = "table"
    strict: bool = False
    skip: tuple[str, ...] = ()


def audit(options: Audit, model: Model, console: Console | None = None) -> int:
    """Returns the exit code: 0 if no line fails, else 1; raises `ConfigurationError` if the audit cannot run."""
    console = console or Console()
    _check(options)
    if has_files(model) and not options.subject.bucket:
        raise ConfigurationError(["files_bucket: is missing, and the model has files; name it in the file of --config"])
    live = Live(options.account)
    try:
        facts = gather(live, options.subject, model, options.places, datetime.now(UTC))
    finally:
        live.close()
    results = run_checks(Case(model, options.subject, facts), frozenset(options.skip))
    match options.format:
        case "json":
            _print(console, as_json(options.subject, results))
        case "sarif":
            _print(console, as_sarif(facts.table.arn, results))
        case _:
            show(console, options.subject, results)
    return exit_code(results, strict=options.strict)


def exit_code(results: Sequence[LineResult], *, strict: bool) -> int:
    bad = (LineVerdict.FAIL, LineVerdict.UNKNOWN) if strict else (LineVerdict.FAIL,)
    return 1 if any(result.verdict in bad for result in results) else 0


def subject_of(config: Path | None = None, **named: str | None) -> AuditSubject:
    """`named` take precedence over the file: Terraform's output `audit_config`, or settings of the gateway."""
    settings = _read(config).model_copy(update={name: value for name, value in named.items() if value})
    table, region = settings.table_name, settings.region
    if not table or not region:
        needed = {"--table": table, "--region": region}
        raise ConfigurationError([f"{option}: is missing" for option, value in needed.items() if not value])
    return AuditSubject(
        table,
        region,
        tenant_role=settings.tenant_role_arn,
        gateway_role=settings.gateway_role_arn,
        vpc=settings.vpc_id,
        dax_roles=frozenset(
            role for role in (settings.dax_role_arn, *(silo.dax_role_arn for silo in settings.silos.values())) if role
        ),
        bucket=settings.files_bucket or "",
    )


def domains_of(config: Path | None) -> tuple[str, ...]:
    """The modules of the domains that the gateway serves; empty if the file names none."""
    return _read(config).domains


def _read(config: Path | None) -> _Config:
    if config is None:
        return _Config()
    return read_json_file(config, _Config, named="config file", where=f"config file `{config}`: ")


def _check(options: Audit) -> None:
    faults = [
        f"--skip: there is no line `{name}`, only {', '.join(NAMES)}" for name in options.skip if name not in NAMES
    ]
    if options.format not in FORMATS:
        faults.append(f"--format: `{options.format}` is not one of {', '.join(FORMATS)}")
    if faults:
        raise ConfigurationError(faults)


def _print(console: Console, content: dict[str, Any]) -> None:
    console.out(json.dumps(content, indent=2), highlight=False)
