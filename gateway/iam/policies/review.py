"""Checks that a tenant policy explicitly denies everything that it does not grant."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_TENANT
from gateway.iam.dynamodb.control_plane import CONTROL
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.rules import Rule, RuleCompiler
from gateway.iam.language.variables import Value, Variable, template
from gateway.iam.policies.lint import LintFinding, demanded
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, RETURNING
from gateway.model.tenant import LEASE_PARTITION, TenantId, partition

EVERY_ACTION: Final = frozenset(
    (*ITEM_ACTIONS, *CONTROL, "Scan", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")
)
"""Every documented DynamoDB action."""

_LAYERS: Final = frozenset(("identity", "session", "boundary"))
_OWN, _FOREIGN = (partition(TenantId(name), "X") for name in ("acme", "acme2"))
_TENANT: Final[dict[str, Value]] = {PRINCIPAL_TENANT.lower(): "acme"}
_KEYS: Final = LEADING_KEYS.lower()
_WHOLE: Final = ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
_RETURNED: Final = ("ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")


def review(document: PolicyDocument, *, of_stream: bool = False) -> tuple[LintFinding, ...]:
    """The errors of one document; `of_stream` as in `lint`."""
    rules = RuleCompiler().rules(document, document.kind)
    denials = tuple(rule for rule in rules if rule.statement.effect == "Deny")
    findings = [*_if_exists(document), *_defaults(document)]
    if document.kind in _LAYERS:
        granted = frozenset(action for action in EVERY_ACTION if any(_grants(rule, action) for rule in rules))
        findings += _second_line(denials, granted)
        if of_stream:
            findings += _open_rows(denials, granted & frozenset(ITEM_ACTIONS), _TENANT_ROWS)
        elif document.kind == "identity":
            findings += _open_rows(denials, granted, _FOREIGN_ROWS)
            findings += _foreign_files(document, denials)
        findings += _whole_items(denials, granted)
    if document.kind == "trust":
        findings += _trust(document)
    return tuple(LintFinding("error", label, message) for label, message in findings)


def _if_exists(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for statement in document.statements:
        for row in statement.conditions:
            if row.operator.endswith("IfExists"):
                yield statement.label, f"`{row.operator}`: say with Null what holds when `{row.key}` is absent"


def _defaults(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for statement in document.statements:
        for row in statement.conditions:
            for value in row.values:
                parts = template(value, wildcards=True, variables=True)
                if any(isinstance(part, Variable) and part.default is not None for part in parts):
                    yield statement.label, f"`{value}`: a default would replace a missing tenant"


def _grants(rule: Rule, action: str) -> bool:
    return rule.statement.effect == "Allow" and rule.acts(f"dynamodb:{action}".lower())


def _denied(denials: tuple[Rule, ...], action: str, context: dict[str, Value], about: str | None = None) -> bool:
    """Whether a denial on every resource applies; `about` is a key on which it must have a condition."""
    return any(
        rule.acts(f"dynamodb:{action}".lower())
        and rule.statement.resources == ("*",)
        and not rule.statement.excludes_resources
        and rule.failed(context) is None
        and (about is None or any(row.key == about for row in rule.checks))
        for rule in denials
    )


def _second_line(denials: tuple[Rule, ...], granted: frozenset[str]) -> Iterator[tuple[str, str]]:
    for action in sorted(EVERY_ACTION - granted):
        if not _denied(denials, action, {**_TENANT, _KEYS: (_OWN,)}):
            yield "", f"`dynamodb:{action}` is not granted, but not explicitly denied either"


_FOREIGN_ROWS: Final[Mapping[str, tuple[dict[str, Value], str]]] = {
    "the rows of another tenant": ({**_TENANT, _KEYS: (_FOREIGN,)}, _KEYS),
    "a batch with a row of another tenant": ({**_TENANT, _KEYS: (_OWN, _FOREIGN)}, _KEYS),
    "a request without partition keys": (dict(_TENANT), _KEYS),
    "a session without a tenant": ({_KEYS: (_OWN,)}, PRINCIPAL_TENANT.lower()),
}
_TENANT_ROWS: Final[Mapping[str, tuple[dict[str, Value], str]]] = {
    "the rows of a tenant": ({_KEYS: (_OWN,)}, _KEYS),
    "a batch with a row of a tenant": ({_KEYS: (LEASE_PARTITION, _OWN)}, _KEYS),
    "a row of no tenant": ({_KEYS: ("*",)}, _KEYS),
    "a row that looks like a tenant's": ({_KEYS: ("TENANT#*",)}, _KEYS),
    "a request without partition keys": ({}, _KEYS),
}


def _open_rows(
    denials: tuple[Rule, ...], granted: frozenset[str], contexts: Mapping[str, tuple[dict[str, Value], str]]
) -> Iterator[tuple[str, str]]:
    for action in sorted(granted):
        for what, (context, about) in contexts.items():
            if not _denied(denials, action, context, about):
                yield "", f"`dynamodb:{action}`: {what} is not explicitly denied"


def _foreign_files(document: PolicyDocument, denials: tuple[Rule, ...]) -> Iterator[tuple[str, str]]:
    """A role that is granted files is denied those of others, whatever else is attached to it."""
    allows = [statement for statement in document.statements if statement.effect == "Allow"]
    own = [
        resource for allow in allows if any(a.startswith("s3:") for a in allow.actions) for resource in allow.resources
    ]
    for resource in own:
        bucket = resource.partition("/")[0]
        foreign = (
            bucket,
            f"{bucket}2/acme/x",
            *(f"{bucket}/{key}" for key in ("acme2/x", "acme", "x", "globex/acme/x")),
        )
        for text in foreign:
            denied = (rule.acts("s3:getobject") and rule.applies(text, _TENANT, {}) for rule in denials)
            if not any(denied):
                yield "", f"`s3:*` on `{text}` is not explicitly denied to the tenant `acme`"
        if not any(rule.acts("s3:getobject") and rule.applies(f"{bucket}/acme/x", {}, {}) for rule in denials):
            yield "", "files are not explicitly denied to a session without a tenant"


def _whole_items(denials: tuple[Rule, ...], granted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """IAM checks the attributes that a request names, so a policy that hides some must deny whole items.

    Actions that are not granted are denied completely, which `_second_line` checks.
    """
    if not any(row.key == "dynamodb:attributes" for rule in denials for row in rule.checks):
        return
    for key, actions, values in (
        ("dynamodb:select", READS, _WHOLE),
        ("dynamodb:returnvalues", RETURNING, _RETURNED),
    ):
        for action in (name for name in actions if name in granted):
            for context in ({}, *({key: value} for value in values)):
                if not _denied(denials, action, dict(context), key):
                    yield "", f"`dynamodb:{action}` may return attributes that are hidden: deny it by `{key}`"


def _trust(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for statement in document.statements:
        if "sts:AssumeRole" in statement.actions and "aws:requesttag/tenantid" not in demanded(statement):
            yield statement.label, "lets a session start without its tenant tag: add Null `false`"
