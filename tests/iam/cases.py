"""Decision cases: policies and a request in, a verdict out, written as data in `decisions/`.

A file holds default policies and a default request; a case overrides parts of them. `condition` replaces the condition
of the statement `Tested`; `lenient` reads the documents by their grammar only. `expected` is `allow`, `deny` (nothing
allows) or `explicit deny`; `names` are fields of the denial.
"""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.iam.language.document import PolicyDocument, parse, read
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.grammar import Kind
from gateway.iam.language.verdict import Authorisation

FOLDER = Path(__file__).parent / "decisions"


@dataclass(frozen=True, slots=True)
class Case:
    title: str
    policies: PolicySet
    request: Authorisation
    expected: str
    names: Mapping[str, str | None]


def load_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.json")) for case in _file(json.loads(path.read_text("utf-8")))]


def _file(content: Mapping[str, Any]) -> list[Case]:
    return [_case(content, entry) for entry in content["cases"]]


def _case(content: Mapping[str, Any], entry: Mapping[str, Any]) -> Case:
    policies = copy.deepcopy(entry.get("policies", content["policies"]))
    if "condition" in entry:
        tested = [one for one in policies["identity"][0]["Statement"] if one["Sid"] == "Tested"]
        tested[0]["Condition"] = entry["condition"]
    request = {**content["request"], **entry["request"]}
    return Case(
        entry["title"],
        _policies(policies, lenient=entry.get("lenient", False)),
        Authorisation(request["action"], request["resource"], _context(request["context"])),
        entry["expected"],
        entry.get("names", {}),
    )


def _policies(raw: Mapping[str, Any], *, lenient: bool) -> PolicySet:
    def document(source: Mapping[str, Any], kind: Kind) -> PolicyDocument:
        return read(source, kind) if lenient else parse(source, kind)

    return PolicySet(
        identity=tuple(document(one, "identity") for one in raw["identity"]),
        session=tuple(document(one, "session") for one in raw["session"]) if "session" in raw else None,
        boundary=document(raw["boundary"], "boundary") if "boundary" in raw else None,
    )


def _context(raw: Mapping[str, Any]) -> dict[str, str | tuple[str, ...]]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
