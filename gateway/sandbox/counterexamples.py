"""Counterexamples of a formal proof, sent to the sandbox: requests that a solver has found, judged as AWS does."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError

from gateway.aws.wire.credentials import Credentials
from gateway.iam.dynamodb.condition_keys import KEYED
from gateway.iam.formal.counterexample import request_of
from gateway.iam.formal.proof import TheoremOutcome
from gateway.iam.formal.theorems import ProofSubject
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.generate import BOUNDARY_FILE, KINDS, TENANT_FILE, session_file
from gateway.sandbox.iam_sandbox import IamSandbox

_EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
_OPEN = json.dumps({"Version": "2012-10-17", "Statement": [_EVERYTHING]})
_DENIED = ("AccessDeniedException", "AccessDenied")
_OTHER_WORLDS = "it is not about requests of a tenant to its table, which is what the sandbox judges"


@dataclass(frozen=True, slots=True)
class SessionPolicies:
    """The policies that a theorem is about; what it says nothing of is open."""

    identity: str
    session: str | None = None
    boundary: str | None = None
    role: str = "viewer"


def replayed(about: ProofSubject, outcomes: Sequence[TheoremOutcome]) -> Iterator[str]:
    """What becomes of each request that refutes a theorem, in words."""
    with IamSandbox(about.deployment.region) as rig:
        admin = rig.client("dynamodb", rig.admin)
        admin.create_table(**about.model.table.create_request(about.deployment.table))
        for outcome in outcomes:
            yield sent(rig, about, outcome)


def sent(rig: IamSandbox, about: ProofSubject, outcome: TheoremOutcome) -> str:
    """With a session of exactly the policies that the theorem is about, in a rig that has the table."""
    layers = policies_of_theorem(about, outcome)
    if outcome.example is None or layers is None:
        return f"not sent to the sandbox: {_OTHER_WORLDS}"
    request = request_of(outcome.example.asked, about.model.table)
    if request is None or _fills_no_keys(outcome.example.asked):
        return "not sent to the sandbox: no single request asks for exactly this"
    operation, body = request
    tenant = outcome.example.asked.context.get("aws:PrincipalTag/TenantId")
    tags = {"GatewayRole": layers.role, **({"TenantId": tenant} if isinstance(tenant, str) and tenant else {})}
    _seed(rig, about, outcome)
    client = rig.client("dynamodb", _session(rig, about, layers, tags))
    try:
        answer = getattr(client, xform_name(operation))(**body)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in _DENIED:
            return f"sent to the sandbox: {operation} is denied there"
        return f"sent to the sandbox: {operation} is allowed there, and fails with {code}"
    rows = len(answer.get("Items", [])) + ("Item" in answer) + sum(map(len, answer.get("Responses", {}).values()))
    return f"sent to the sandbox: {operation} succeeds there" + (
        f" and answers {rows} row{'s' if rows > 1 else ''}" if rows else ""
    )


def _fills_no_keys(asked: Authorisation) -> bool:
    """Whether the authorisation has keys that a request of its action never does: a Scan names none."""
    keyed = asked.action.partition(":")[2] in KEYED
    return bool(asked.context.get("dynamodb:LeadingKeys")) and not keyed


def _session(rig: IamSandbox, about: ProofSubject, layers: SessionPolicies, tags: Mapping[str, str]) -> Credentials:
    """The documents name an account, which here is the rig's."""
    texts = (layers.identity, layers.session, layers.boundary)
    identity, session, boundary = (text and text.replace(about.deployment.account, rig.account) for text in texts)
    name = about.deployment.tenant_role.rpartition("/")[2]
    return rig.assume(rig.role(name, identity or _OPEN, boundary=boundary), tags, session)


def _seed(rig: IamSandbox, about: ProofSubject, outcome: TheoremOutcome) -> None:
    """The rows that the request names, so that there is something to reach."""
    spec = about.model.table
    keys = outcome.example.asked.context.get("dynamodb:LeadingKeys", ()) if outcome.example is not None else ()
    admin = rig.client("dynamodb", rig.admin)
    for key in (keys,) if isinstance(keys, str) else keys:
        if key:
            admin.put_item(TableName=about.deployment.table, Item={spec.pk: {"S": key}, spec.sk: {"S": "META"}})


def policies_of_theorem(about: ProofSubject, outcome: TheoremOutcome) -> SessionPolicies | None:
    """None where the theorem is about who gets in, and not about the table."""
    name, subject = outcome.theorem.name, outcome.theorem.about
    tenant, boundary = (about.documents[each].text for each in (TENANT_FILE, BOUNDARY_FILE))
    around, _, _ = name.partition(": ")
    if around == "boundary":
        return SessionPolicies(_OPEN, boundary=boundary)
    if around == "denials":
        return SessionPolicies(_with(about.documents[TENANT_FILE], also=_EVERYTHING))
    if around == "session" or name == "a session policy cannot widen":
        return SessionPolicies(tenant, boundary=boundary)
    file = subject.partition(":")[0]
    if file in about.documents:
        return _alone(about, name, file)
    role = subject.partition(" ")[0]
    if session_file(role) not in about.documents or name.startswith("the endpoint"):
        return None
    return SessionPolicies(tenant, about.documents[session_file(role)].text, boundary, role)


def _alone(about: ProofSubject, theorem: str, file: str) -> SessionPolicies | None:
    """One document, every other layer open."""
    kind = KINDS.get(file, "session")
    text = _part(theorem, about.documents[file])
    if kind == "session":
        role = file.removeprefix("session-").removesuffix(".json")
        return SessionPolicies(_OPEN, session=text, role=role)
    if kind == "boundary":
        return SessionPolicies(_OPEN, boundary=text)
    return SessionPolicies(text) if file == TENANT_FILE else None


def _part(theorem: str, document: PolicyDocument) -> str:
    """The statements that the theorem speaks of."""
    match theorem:
        case "grants hold without denials":
            return _with(document, lambda statement: statement["Effect"] == "Allow")
        case "denies explicitly":
            return _with(document, also=_EVERYTHING)
        case "denies by condition":
            return _with(document, lambda each: each["Effect"] == "Deny" and "Condition" in each, _EVERYTHING)
    return document.text


def _with(
    document: PolicyDocument,
    kept: Callable[[dict[str, Any]], bool] = lambda statement: True,
    also: Mapping[str, Any] | None = None,
) -> str:
    made = json.loads(document.text)
    statements = made["Statement"] if isinstance(made["Statement"], list) else [made["Statement"]]
    made["Statement"] = [*filter(kept, statements), *([dict(also)] if also is not None else [])]
    return json.dumps(made)
