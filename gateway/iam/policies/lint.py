"""Finds common mistakes in tenant policies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from gateway.iam.dynamodb.condition_keys import KEYED, KEYS, MULTIVALUED, PRINCIPAL_TENANT
from gateway.iam.language import operators, variables
from gateway.iam.language.document import VERSION, PolicyDocument
from gateway.iam.language.glob import Wild
from gateway.iam.language.grammar import Condition, Kind, Statement
from gateway.iam.language.operators import operation
from gateway.iam.language.variables import Variable
from gateway.iam.policies.roles import FILE_ACTIONS
from gateway.iam.policies.statements import STREAM_READS
from gateway.model.tenant import LEASE_PARTITION

_LEADING: Final = "dynamodb:leadingkeys"
_SEVERAL: Final = frozenset(key.lower() for key in MULTIVALUED)
_LIKE: Final = ("StringLike", "StringNotLike")
_VARIABLE_FAMILIES: Final = ("String", "Arn")


@dataclass(frozen=True, slots=True)
class LintFinding:
    """An error can let one tenant reach another, or does not mean what it says; a warning has no effect on AWS."""

    level: Literal["error", "warning"]
    statement: str
    message: str


def lint(document: PolicyDocument, *, of_stream: bool = False) -> tuple[LintFinding, ...]:
    """`of_stream` is the role that reads the table's stream, which no condition can limit to one tenant."""
    findings = (
        [] if document.has_variables else [LintFinding("error", "", f"Version is not `{VERSION}`: variables are text")]
    )
    for statement in document.statements:
        findings += [
            LintFinding("error", statement.label, message) for message in _errors(document, statement, of_stream)
        ]
        findings += [LintFinding("warning", statement.label, message) for message in _idle_keys(statement)]
    if document.kind == "trust":
        findings += [LintFinding("error", "", message) for message in _trust(document)]
    return tuple(findings)


def _errors(document: PolicyDocument, statement: Statement, of_stream: bool) -> Iterator[str]:
    for row in statement.conditions:
        yield from _row(row, document.has_variables)
    for text in (*statement.resources, *(value for row in statement.conditions for value in row.values)):
        fault = variables.fault(text)
        if fault:
            yield f"{fault} in `{text}`"
    if statement.effect == "Allow":
        yield from _granting_conditions(statement, of_stream)
        yield from _granting_actions(statement, of_stream)
        yield from _granting_files(statement, document.kind)
        if document.kind != "session":
            # A session policy can only restrict, so the role may be the one that names the table.
            yield from _granting_resources(statement, of_stream)
        if document.kind == "identity":
            yield from _unkeyed(statement)
        if ("AWS", "*") in statement.principals and document.kind == "trust":
            yield "the trust policy trusts every principal"


def _row(row: Condition, with_variables: bool) -> Iterator[str]:
    fault = operators.fault(row.operator, row.values, with_variables)
    use = operation(row.operator)
    if fault or use is None:
        yield fault or f"unknown operator `{row.operator}`"
        return
    if use.quantifier == "ForAnyValue" and use.if_exists:
        yield f"`{row.operator}`: what it means for an absent key is not documented"
    if use.quantifier is None and use.name != "Null" and row.key.lower() in _SEVERAL:
        yield f"`{row.key}` holds several values and needs ForAllValues or ForAnyValue"
    if use.name.endswith("IgnoreCase") and not all(value.isascii() for value in row.values):
        yield f"`{row.operator}` beyond ASCII is not documented"


def _granting_conditions(statement: Statement, of_stream: bool) -> Iterator[str]:
    guarded = demanded(statement)
    for row in statement.conditions:
        use = operation(row.operator)
        if use is None:
            continue
        key = row.key.lower()
        if use.operator.negated:
            yield f"`{row.operator}` grants when `{row.key}` is absent"
        if use.quantifier == "ForAllValues" and key not in guarded:
            yield f"`{row.operator}` holds when `{row.key}` is absent: add Null `false`"
        if use.quantifier == "ForAnyValue" and key == _LEADING:
            yield f"`{row.operator}` lets one own key open a whole batch"
        if use.name.startswith(_VARIABLE_FAMILIES):
            for value in row.values:
                if of_stream and key == _LEADING and value == LEASE_PARTITION:
                    continue
                yield from _pattern(value, key, guarded, wildcards=use.name in _LIKE or use.name.startswith("Arn"))


def demanded(statement: Statement) -> set[str]:
    """The keys, in lower case, that must be present for the statement to apply."""
    rows = (row for row in statement.conditions if (row.operator, row.values) == ("Null", ("false",)))
    return {row.key.lower() for row in rows}


def _pattern(value: str, key: str, guarded: set[str], *, wildcards: bool) -> Iterator[str]:
    parts = variables.template(value, wildcards=wildcards, variables=True)
    for part, after in zip(parts, (*parts[1:], None), strict=True):
        if isinstance(part, Variable):
            if isinstance(after, Wild):
                yield f"`{value}`: a wildcard right after a variable also matches longer names"
            if part.key not in guarded:
                yield f"`{value}`: `{part.key}` may be absent: add Null `false`"
    if key == _LEADING and not any(isinstance(part, Variable) for part in parts):
        yield f"`{value}`: a leading key without a variable is the same for every tenant"


def _granting_actions(statement: Statement, of_stream: bool) -> Iterator[str]:
    if statement.excludes_actions:
        yield "NotAction grants every action that is not listed, including those that AWS adds later"
        return
    for action in statement.actions:
        name = _dynamodb(action)
        if "*" in action or "?" in action:
            yield f"`{action}`: a wildcard also grants actions that AWS adds later"
        elif of_stream and name in (*STREAM_READS, "DescribeTable"):
            continue
        elif name is not None and (name not in KEYED or name.startswith("PartiQL")):
            yield f"`{action}`: LeadingKeys cannot keep tenants apart there"


def _granting_resources(statement: Statement, of_stream: bool) -> Iterator[str]:
    if not any(action == "*" or _dynamodb(action) is not None for action in statement.actions):
        return
    if statement.excludes_resources:
        yield "NotResource grants every resource that is not listed"
        return
    for resource in statement.resources:
        # a stream gets another name each time it is switched on
        table = resource.removesuffix("/stream/*") if of_stream else resource
        if table == "*" or any(mark in table.split(":", 5)[5] for mark in "*?"):
            yield f"resource `{resource}` may hold a table or index that is not keyed by tenant"


def _granting_files(statement: Statement, kind: Kind) -> Iterator[str]:
    """Objects are distinguished by their keys, which start with the tenant."""
    actions = [action for action in statement.actions if action.lower().startswith("s3:")]
    if not actions or statement.excludes_actions:
        return
    yield from (
        f"`{action}` is not one of {', '.join(FILE_ACTIONS)}" for action in actions if action not in FILE_ACTIONS
    )
    if statement.excludes_resources:
        yield "NotResource grants every resource that is not listed"
        return
    guarded = demanded(statement)
    for resource in () if kind == "endpoint" else statement.resources:
        if f"/${{{PRINCIPAL_TENANT}}}/" not in resource:
            yield f"resource `{resource}` may hold files of every tenant"
        yield from _pattern(resource, "", guarded, wildcards=True)
        if kind != "session" and any(mark in resource.partition("/")[0] for mark in "*?"):
            yield f"resource `{resource}` may name another bucket"


def _unkeyed(statement: Statement) -> Iterator[str]:
    keyed = any(row.key.lower() == _LEADING and row.operator != "Null" for row in statement.conditions)
    for action in statement.actions:
        if not keyed and _dynamodb(action) in KEYED:
            yield f"`{action}` is granted without a condition on LeadingKeys"


def _idle_keys(statement: Statement) -> Iterator[str]:
    if statement.excludes_actions:
        return
    for row in statement.conditions:
        for action in statement.actions:
            name = _dynamodb(action)
            if name is None or "*" in name or "?" in name or not row.key.lower().startswith("dynamodb:"):
                continue
            if row.key.lower() not in {key.lower() for key in KEYS.get(name, ())}:
                yield f"`{action}` never has `{row.key}`"


def _trust(document: PolicyDocument) -> Iterator[str]:
    allows = [statement for statement in document.statements if statement.effect == "Allow"]
    tagging = [statement for statement in allows if "sts:TagSession" in statement.actions]
    if not tagging:
        yield "sts:TagSession is not allowed: a session gets no tenant"
    for statement in tagging:
        if not any(key.startswith("aws:requesttag/") for key in demanded(statement)):
            yield f"`{statement.label}` lets a session start without its tenant tag: add Null `false`"
        yield from _tag_texts(statement)


def _tag_texts(statement: Statement) -> Iterator[str]:
    """A required tag also has a pattern, because AWS does not document whether an empty tag is null."""
    rows = [row for row in statement.conditions if row.key.lower().startswith("aws:requesttag/")]
    pinned = {row.key for row in rows if row.operator == "Null" and row.values == ("false",)}
    like = {row.key for row in rows if row.operator == "StringLike"}
    yield from (f"`{statement.label}`: `{key}` may be empty: add StringLike" for key in sorted(pinned - like) if like)
    yield from (f"`{statement.label}`: `{key}` may be absent: add Null `false`" for key in sorted(like - pinned))


def _dynamodb(action: str) -> str | None:
    service, _, name = action.partition(":")
    if service.lower() != "dynamodb":
        return None
    return next((action_name for action_name in KEYS if action_name.lower() == name.lower()), name)
