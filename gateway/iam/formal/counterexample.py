"""Turns a solution of the solver into an authorisation and, if possible, into the DynamoDB request that needs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.condition_keys import KEYS as VOCABULARY
from gateway.iam.dynamodb.condition_keys import MULTIVALUED, PRINCIPAL_TENANT, ROLE_TAG, TENANT_TAG
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    CALLER,
    ELEMENT,
    Every,
    Filled,
    Formula,
    Like,
    Present,
    Ref,
    both,
    either,
    is_text,
    negated,
    one_of,
)
from gateway.iam.formal.specification import (
    ATTRIBUTES,
    KEYS,
    OTHER,
    REQUESTED_TENANT,
    RETURNED,
    SELECT,
    Scope,
    of_service,
    place,
)
from gateway.iam.formal.string_patterns import part, rest
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.sts.assume_role import ASSUME_ACTIONS
from gateway.model.table import TableSpec

DOCUMENTED_ACTIONS: Final = frozenset(
    (*(f"dynamodb:{action}" for action in EVERY_ACTION), *ASSUME_ACTIONS, "kms:Decrypt", "kms:Encrypt")
)
_ACTIONS: Final = {name.lower(): name for name in DOCUMENTED_ACTIONS}
_KEYS: Final = {
    key.lower(): key
    for key in (
        *MULTIVALUED,
        *(key for keys in VOCABULARY.values() for key in keys),
        *(f"aws:{kind}/{tag}" for kind in ("PrincipalTag", "RequestTag") for tag in (TENANT_TAG, ROLE_TAG)),
        *("aws:PrincipalArn", "kms:ViaService", "sts:SourceIdentity", PRINCIPAL_TENANT),
        "kms:EncryptionContext:aws:dynamodb:tableName",
    )
}
_SORT_KEY: Final = "META"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """`authorisation` contradicts the theorem; `other` is the tenant whose rows it reaches.

    `caller` is the caller of STS. `unknowns` are the policy decisions that the theorem leaves open.
    """

    authorisation: Authorisation
    other: str | None
    caller: str | None
    unknowns: Mapping[str, bool]

    def lines(self) -> list[str]:
        """Returns the request as text, in the format of `gateway policies explain`."""
        context = {key: value for key, value in self.authorisation.context.items() if not key.endswith("KeyValues")}
        lines = [f"{self.authorisation.action} on {self.authorisation.resource}"]
        lines += [
            f"    {key} = {value if isinstance(value, str) else ', '.join(value)}" for key, value in context.items()
        ]
        lines += [f"    sent by {self.caller}"] if self.caller else []
        lines += [f"    where {name}" for name, holds in self.unknowns.items() if holds]
        return lines + ([f"    which reaches rows of {self.other!r}"] if self.other else [])


def counterexample(facts: Mapping[str, Value], unknowns: Mapping[str, bool] | None = None) -> Counterexample:
    parts = [facts.get(key) for key in ARN]
    resource = ":".join(("arn", *map(str, parts))) if None not in parts else "*"
    action = str(facts.get(ACTION, "*"))
    context = {_KEYS.get(key, key): value for key, value in facts.items() if not key.startswith("request:")}
    texts = {key: str(facts[key]) for key in (OTHER, CALLER) if key in facts}
    authorisation = Authorisation(_ACTIONS.get(action, action), resource, context)
    return Counterexample(authorisation, texts.get(OTHER), texts.get(CALLER), unknowns or {})


def readable(scope: Scope, deployment: Deployment) -> tuple[Formula, ...]:
    """Returns wishes that make a counterexample look like a real request; see `solve`."""
    last = len(scope.parts) - 1
    keys = [_keys(scope, last, name) for name in ("globex", "acme2")]
    batch = one_of(ACTION, "dynamodb:batchgetitem", "dynamodb:batchwriteitem")
    return (
        is_text(scope.tags[-1], "acme"),
        one_of(OTHER, "globex", "acme2"),
        is_text(OTHER, "globex"),
        either(
            *keys, _keys(scope, last, "acme"), negated(Filled(KEYS)), both(batch, _keys(scope, last, "acme", "globex"))
        ),
        either(*keys),
        keys[0],
        either(of_service("dynamodb"), negated(Present(ARN[0]))),
        either(
            negated(of_service("dynamodb")),
            place(deployment, "dynamodb", is_text(ARN[-1], f"table/{deployment.table}")),
        ),
        one_of(ACTION, "dynamodb:getitem", "dynamodb:scan", "dynamodb:batchgetitem"),
        one_of(ACTION, "dynamodb:getitem", "dynamodb:scan"),
        is_text(SELECT, "SPECIFIC_ATTRIBUTES"),
        one_of(SELECT, "SPECIFIC_ATTRIBUTES", "ALL_ATTRIBUTES"),
        is_text(RETURNED, "NONE"),
        both(Filled(ATTRIBUTES), Every(ATTRIBUTES, one_of(ELEMENT, "PK", "SK", "email"))),
        both(Filled(ATTRIBUTES), Every(ATTRIBUTES, one_of(ELEMENT, "PK"))),
        is_text(REQUESTED_TENANT, "acme"),
        is_text("sts:sourceidentity", "acme"),
        is_text(CALLER, f"arn:{deployment.partition}:iam::{deployment.account}:user/somebody"),
    )


def _keys(scope: Scope, last: int, *names: str) -> Formula:
    """Returns the formula: every key is a row of one of these tenants."""
    prefixes = [
        Like(part(ELEMENT, at), tuple(name if isinstance(token, Ref) else token for token in tokens))
        for at, tokens in enumerate(scope.parts)
        for name in names
    ]
    rows = (both(*prefixes[start :: len(names)]) for start in range(len(names)))
    follows = (negated(Like(rest(ELEMENT, at), ())) for at in range(last))
    tail = Like(rest(ELEMENT, last), (f"{scope.delimiter}USER{scope.delimiter}1",))
    return both(Filled(KEYS), Every(KEYS, both(either(*rows), *follows, tail)))


def request_of(authorisation: Authorisation, spec: TableSpec) -> tuple[str, Body] | None:
    """Returns the DynamoDB request that needs the authorisation, or None if there is none."""
    service, _, action = authorisation.action.partition(":")
    path = authorisation.resource.rpartition(":")[2].split("/")
    if service != "dynamodb" or path[0] != "table" or len(path) < 2:
        return None
    keys = _texts(authorisation.context.get("dynamodb:LeadingKeys"))
    index = path[3] if len(path) > 3 else None
    request = _request(action, path[1], index, keys, _names(authorisation, spec), spec)
    if request is None:
        return None
    operation, body = request
    returned = authorisation.context.get("dynamodb:ReturnValues")
    if operation in ("PutItem", "UpdateItem", "DeleteItem") and isinstance(returned, str):
        body = {**body, "ReturnValues": returned}
    return operation, body


def _request(
    action: str, table: str, index: str | None, keys: Sequence[str], names: tuple[str, ...], spec: TableSpec
) -> tuple[str, Body] | None:
    items = [sample_requests.key(spec, key, _SORT_KEY) for key in keys]
    whole: dict[str, Any] = {"TableName": table, **({"IndexName": index} if index else {})}
    if action == "Scan":
        return "Scan", {**whole, **sample_requests.projection(names)}
    if action == "PartiQLSelect":
        return "ExecuteStatement", {"Statement": f'SELECT * FROM "{table}"'}  # noqa: S608  shown, never executed by us
    if action not in VOCABULARY:
        return action, whole
    if action == "BatchGetItem" and items:
        return action, sample_requests.batch_get(table, items, names)
    if action == "BatchWriteItem" and items:
        return action, sample_requests.batch_write(table, items, [])
    return _one(action, table, index, items[0], names, spec) if len(items) == 1 else None


def _one(
    action: str, table: str, index: str | None, item: Body, names: tuple[str, ...], spec: TableSpec
) -> tuple[str, Body] | None:
    match action:
        case "GetItem":
            return action, sample_requests.get(table, item, names)
        case "Query":
            return action, sample_requests.query(table, spec, item[spec.pk]["S"], names, index)
        case "PutItem":
            return action, sample_requests.put(table, item, {})
        case "UpdateItem":
            return action, sample_requests.update(table, item, names[-1] if names else "note", {})
        case "DeleteItem":
            return action, sample_requests.delete(table, item, {})
        case "ConditionCheckItem":
            check = sample_requests.condition_check(table, item, spec)
            return "TransactWriteItems", sample_requests.transact_write(("ConditionCheck", check))
    return None


def _names(authorisation: Authorisation, spec: TableSpec) -> tuple[str, ...]:
    """Returns the attributes in the projection of a read; none if it requests whole items."""
    if authorisation.context.get("dynamodb:Select") not in (None, "SPECIFIC_ATTRIBUTES"):
        return ()
    attributes = _texts(authorisation.context.get("dynamodb:Attributes"))
    return tuple(dict.fromkeys((spec.pk, *(name for name in attributes if name)))) if attributes else ()


def _texts(value: Value | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else value
