"""Parses policy documents; a `PolicyDocument` is always well formed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, get_args

from gateway.iam.language import operators, policy_text, variables
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.grammar import Kind, Statement, statement

VERSION: Final = "2012-10-17"
_OLD_VERSION: Final = "2008-10-17"
_WITH_ID: Final = frozenset(("trust", "endpoint"))


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    kind: Kind
    version: str | None
    statements: tuple[Statement, ...]
    text: str = field(repr=False)

    @property
    def has_variables(self) -> bool:
        """Whether `${...}` is a variable; in older versions it is ordinary text."""
        return self.version == VERSION

    @property
    def fingerprint(self) -> str:
        return sha256(self.text.encode()).hexdigest()


def parse(source: str | Mapping[str, Any], kind: Kind) -> PolicyDocument:
    """Returns the document; raises `PolicyError` if any part of it is not understood."""
    document = read(source, kind)
    for entry in document.statements:
        rows = [operators.fault(row.operator, row.values, document.has_variables) for row in entry.conditions]
        texts = (*entry.resources, *(value for row in entry.conditions for value in row.values))
        for fault in (*rows, *map(_variable_fault, texts)):
            if fault:
                raise PolicyError(f"statement `{entry.label}`: {fault}")
    return document


def read(source: str | Mapping[str, Any], kind: Kind) -> PolicyDocument:
    """Checks the grammar only: a statement with an unknown condition is kept, never grants and always denies."""
    if kind not in get_args(Kind):
        raise PolicyError(f"unknown kind of document `{kind}`")
    raw = policy_text.read_json(source)
    text = policy_text.canonical(raw)
    _check_top(raw, kind)
    entries = raw["Statement"] if isinstance(raw["Statement"], list) else [raw["Statement"]]
    statements = tuple(statement(entry, position, kind) for position, entry in enumerate(entries, 1))
    labels = [entry.label for entry in statements]
    for label in labels:
        if labels.count(label) > 1:
            raise PolicyError(f"statement `{label}`: its Sid is used twice")
    return PolicyDocument(kind, raw.get("Version"), statements, text)


def _check_top(raw: Mapping[str, Any], kind: Kind) -> None:
    allowed = {"Version", "Statement", "Id"} if kind in _WITH_ID else {"Version", "Statement"}
    unknown = raw.keys() - allowed
    if unknown:
        raise PolicyError(f"unknown key `{min(unknown)}` at the top of a document of kind {kind}")
    if "Version" in raw and raw["Version"] not in (VERSION, _OLD_VERSION):
        raise PolicyError(f"Version must be `{VERSION}`")
    if not isinstance(raw.get("Id", ""), str):
        raise PolicyError("Id must be a string")
    if not isinstance(raw.get("Statement"), dict | list) or not raw["Statement"]:
        raise PolicyError("Statement must be an object or a list of objects, and not empty")


def _variable_fault(text: str) -> str | None:
    # AWS takes an unterminated variable as literal text, and so does the parser; the linter reports it
    return f"malformed variable in `{text}`" if variables.fault(text) == "malformed variable" else None
