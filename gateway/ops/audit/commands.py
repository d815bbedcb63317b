"""`gateway audit`: gathers the facts, judges them, prints the checklist; the exit code is for CI."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console

from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.ops.audit.account import Account, Live
from gateway.ops.audit.checklist import NAMES, judge
from gateway.ops.audit.gather.everything import gather
from gateway.ops.audit.gather.files import Places
from gateway.ops.audit.lines import Case, Result, Subject, Verdict
from gateway.ops.audit.report.machine import as_json, as_sarif
from gateway.ops.audit.report.table import show

Format = Literal["table", "json", "sarif"]

_PLACES: Final = Places()


@dataclass(frozen=True, slots=True)
class Audit:
    """What `gateway audit` is asked for; with `strict` what is unknown fails, too."""

    subject: Subject
    account: Account
    places: Places = _PLACES
    format: Format = "table"
    strict: bool = False
    skip: tuple[str, ...] = ()


def audit(wanted: Audit, model: Model, console: Console | None = None) -> int:
    """0 when no line fails, 1 when one does; `ConfigurationError` where it cannot run at all."""
    console = console or Console()
    strange = [name for name in wanted.skip if name not in NAMES]
    if strange:
        raise ConfigurationError([f"skip: there is no line `{name}`; there are {', '.join(NAMES)}" for name in strange])
    live = Live(wanted.account)
    try:
        facts = gather(live, wanted.subject, model, wanted.places, datetime.now(UTC))
    finally:
        live.close()
    results = judge(Case(model, wanted.subject, facts), frozenset(wanted.skip))
    match wanted.format:
        case "table":
            show(console, wanted.subject, results)
        case "json":
            _print(console, as_json(wanted.subject, results))
        case "sarif":
            _print(console, as_sarif(facts.table.arn, results))
    return exit_code(results, strict=wanted.strict)


def exit_code(results: Sequence[Result], *, strict: bool) -> int:
    bad = (Verdict.FAIL, Verdict.UNKNOWN) if strict else (Verdict.FAIL,)
    return 1 if any(result.verdict in bad for result in results) else 0


def read_subject(config: Path) -> Subject:
    """From Terraform's output `gateway_config`, or any file with these settings of the gateway."""
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError([f"config file `{config}` cannot be read: {error}"]) from error
    given = content if isinstance(content, dict) else {}
    faults = [f"config file `{config}`: `{name}` is missing" for name in ("table_name", "region") if name not in given]
    if faults:
        raise ConfigurationError(faults)
    return Subject(given["table_name"], given["region"], given.get("tenant_role_arn"), given.get("gateway_role_arn"))


def _print(console: Console, content: dict[str, Any]) -> None:
    console.out(json.dumps(content, indent=2), highlight=False)
