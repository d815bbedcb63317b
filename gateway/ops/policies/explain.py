"""Explains why a role may or may not do something: the verdict of the shipped policies, layer by layer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.errors import BadUserInput
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.language.document import VERSION, PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Allow, Authorisation, Deny
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import Policies, permissions_at
from gateway.model.model import Model
from gateway.model.tenant import tenant_id
from gateway.ops.policies.request_parser import read_request

# The verdict does not depend on the location of the table.
_ANYWHERE: Final = Deployment("aws", "eu-west-1", "123456789012", "gateway", bucket="gateway-files")
_EVERYTHING: Final = parse(
    {"Version": VERSION, "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}, "identity"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """`authorisations` are the authorizations that AWS would decide; empty if the request is not understood.

    `layers` has the decision of each layer on its own, for each authorization.
    """

    tenant: str
    role: str
    operation: str
    body: Mapping[str, Any]
    verdict: Allow | Deny
    authorisations: tuple[Authorisation, ...]
    layers: tuple[tuple[str, ...], ...]


def explain(
    model: Model, policies: Policies, role: str, tenant: str, request: str, subject: str | None = None
) -> Explanation:
    if role not in model.all_roles:
        raise BadUserInput(f"there is no role `{role}`; the roles are {', '.join(model.all_roles)}")
    if model.all_roles[role].own and subject is None:
        raise BadUserInput(f"the role `{role}` has the rows of one subject; give `--subject`")
    owner = tenant_id(tenant)
    operation, body = read_request(request, model.table, _ANYWHERE.table)
    permissions = permissions_at(policies, model)(_ANYWHERE, owner, role, subject)
    try:
        needed = authorisations(operation, body, permissions.place)
    except NotUnderstood:
        needed = ()
    authorised = tuple(
        Authorisation(one.action, one.resource, {**one.context, **permissions.principal}) for one in needed
    )
    layers = tuple(tuple(_layers(permissions.policies, one)) for one in authorised)
    return Explanation(owner, role, operation, body, permissions.check(operation, body), authorised, layers)


def _layers(policies: PolicySet, authorisation: Authorisation) -> Iterator[str]:
    """Evaluates each layer alone: otherwise the first denial would hide the others."""
    session, boundary = policies.session or (), policies.boundary
    alone: dict[str, tuple[PolicySet, tuple[PolicyDocument, ...]]] = {
        "identity": (PolicySet(policies.identity), policies.identity),
        "session": (PolicySet((_EVERYTHING,), session), session),
        "boundary": (PolicySet((_EVERYTHING,), None, boundary), (boundary,) if boundary else ()),
    }
    for layer, (policy_set, documents) in alone.items():
        yield f"{layer}: {_reason(evaluate(policy_set, authorisation), documents, layer)}"


def _reason(verdict: Allow | Deny, documents: tuple[PolicyDocument, ...], layer: str) -> str:
    match verdict:
        case Allow(statements):
            return f"allowed by `{next(name for name in statements if name.startswith(layer)).partition('/')[2]}`"
        case Deny(explicit=True, statement=label):
            named = [
                statement for document in documents for statement in document.statements if statement.label == label
            ]
            rows = [f"`{row.operator} {row.key}`" for statement in named for row in statement.conditions]
            return f"denied by `{label}`" + (f", because {' and '.join(rows)} holds" if rows else "")
    return verdict.reason


def as_text(explained: Explanation) -> str:
    word = "ALLOWED" if explained.verdict.allowed else "DENIED"
    lines = [f"{word}: {explained.operation} as {explained.role} of {explained.tenant}"]
    if isinstance(explained.verdict, Deny):
        lines.append(f"  {explained.verdict.reason}")
    for one, layers in zip(explained.authorisations, explained.layers, strict=True):
        lines += ["", f"{one.action} on {one.resource}", *(f"  {layer}" for layer in layers)]
        lines += [
            f"    {key} = {_value_text(value)}" for key, value in one.context.items() if not key.endswith("KeyValues")
        ]
    return "\n".join(lines)


def _value_text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
