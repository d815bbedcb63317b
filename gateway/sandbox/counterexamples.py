"""Sends the counterexamples of a formal proof to the sandbox, which authorizes them as AWS would."""

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
from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, kind_of, session_file
from gateway.sandbox.iam_sandbox import IamSandbox

_EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
_OPEN = json.dumps({"Version": "2012-10-17", "Statement": [_EVERYTHING]})
_DENIED = ("AccessDeniedException", "AccessDenied")
_NOT_A_TABLE_REQUEST = "it is not a request of a tenant to its table, and the sandbox authorizes only those"


@dataclass(frozen=True, slots=True)
class SessionPolicies:
    """The policies that a theorem is about; a layer that it does not mention allows everything."""

    identity: str
    session: str | None = None
    boundary: str | None = None
    role: str = "viewer"


def replayed(about: ProofSubject, outcomes: Sequence[TheoremOutcome]) -> Iterator[str]:
    """Describes what the sandbox answers to each request that refutes a theorem."""
    with IamSandbox(about.deployment.region) as sandbox:
        admin = sandbox.client("dynamodb", sandbox.admin)
        admin.create_table(**about.model.table.create_request(about.deployment.table))
        for outcome in outcomes:
            yield sent(sandbox, about, outcome)


def sent(sandbox: IamSandbox, about: ProofSubject, outcome: TheoremOutcome) -> str:
    """Sends the request in a session with exactly the policies that the theorem is about; the table must exist."""
    layers = policies_of_theorem(about, outcome)
    if outcome.example is None or layers is None:
        return f"not sent to the sandbox: {_NOT_A_TABLE_REQUEST}"
    request = request_of(outcome.example.authorisation, about.model.table)
    if request is None or _fills_no_keys(outcome.example.authorisation):
        return "not sent to the sandbox: no single request asks for exactly this"
    operation, body = request
    tenant = outcome.example.authorisation.context.get("aws:PrincipalTag/TenantId")
    tags = {"GatewayRole": layers.role, **({"TenantId": tenant} if isinstance(tenant, str) and tenant else {})}
    _seed(sandbox, about, outcome)
    client = sandbox.client("dynamodb", _session(sandbox, about, layers, tags))
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


def _fills_no_keys(authorisation: Authorisation) -> bool:
    """Whether the authorization names keys although its action never has any, such as a Scan."""
    keyed = authorisation.action.partition(":")[2] in KEYED
    return bool(authorisation.context.get("dynamodb:LeadingKeys")) and not keyed


def _session(sandbox: IamSandbox, about: ProofSubject, layers: SessionPolicies, tags: Mapping[str, str]) -> Credentials:
    """The documents name the account of the deployment; here it is the account of the sandbox."""
    texts = (layers.identity, layers.session, layers.boundary)
    identity, session, boundary = (text and text.replace(about.deployment.account, sandbox.account) for text in texts)
    name = about.deployment.tenant_role.rpartition("/")[2]
    return sandbox.assume(sandbox.role(name, identity or _OPEN, boundary=boundary), tags, session)


def _seed(sandbox: IamSandbox, about: ProofSubject, outcome: TheoremOutcome) -> None:
    """Writes the rows that the request names, so that it can reach something."""
    spec = about.model.table
    keys = outcome.example.authorisation.context.get("dynamodb:LeadingKeys", ()) if outcome.example is not None else ()
    admin = sandbox.client("dynamodb", sandbox.admin)
    for key in (keys,) if isinstance(keys, str) else keys:
        if key:
            admin.put_item(TableName=about.deployment.table, Item={spec.pk: {"S": key}, spec.sk: {"S": "META"}})


def policies_of_theorem(about: ProofSubject, outcome: TheoremOutcome) -> SessionPolicies | None:
    """Returns None if the theorem is about who may assume a role, not about the table."""
    name, subject = outcome.theorem.name, outcome.theorem.about
    tenant, boundary = (about.documents[file].text for file in (TENANT_FILE, BOUNDARY_FILE))
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
    """One document; every other layer allows everything."""
    kind = kind_of(file)
    text = _part(theorem, about.documents[file])
    if kind == "session":
        role = file.removeprefix("session-").removesuffix(".json")
        return SessionPolicies(_OPEN, session=text, role=role)
    if kind == "boundary":
        return SessionPolicies(_OPEN, boundary=text)
    return SessionPolicies(text) if file == TENANT_FILE else None


def _part(theorem: str, document: PolicyDocument) -> str:
    """The statements that the theorem is about."""
    match theorem:
        case "grants hold without denials":
            return _with(document, lambda statement: statement["Effect"] == "Allow")
        case "denies explicitly":
            return _with(document, also=_EVERYTHING)
        case "denies by condition":
            return _with(
                document, lambda statement: statement["Effect"] == "Deny" and "Condition" in statement, _EVERYTHING
            )
    return document.text


def _with(
    document: PolicyDocument,
    kept: Callable[[dict[str, Any]], bool] = lambda statement: True,
    also: Mapping[str, Any] | None = None,
) -> str:
    content = json.loads(document.text)
    statements = content["Statement"] if isinstance(content["Statement"], list) else [content["Statement"]]
    content["Statement"] = [*filter(kept, statements), *([dict(also)] if also is not None else [])]
    return json.dumps(content)
