"""A counterexample is a request: it reads like one, the evaluator allows it, and sent to the sandbox it succeeds."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.formal.counterexample import Counterexample, request_of
from gateway.iam.formal.formula import FALSE
from gateway.iam.formal.proof import TheoremOutcome, prove
from gateway.iam.formal.theorems import ProofSubject, Theorem, of_document, subject
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation
from gateway.sandbox.counterexamples import policies_of_theorem, sent
from gateway.sandbox.iam_sandbox import IamSandbox
from tests.iam.formal.test_mutants import named
from tests.policies.fixtures import DEPLOYMENT, SHIPPED

NAME = DEPLOYMENT.table
OWN = "TENANT#${aws:PrincipalTag/TenantId}"


@pytest.fixture(scope="module")
def iam_sandbox() -> Iterator[IamSandbox]:
    with IamSandbox(DEPLOYMENT.region) as made:
        made.client("dynamodb", made.admin).create_table(**MODEL.table.create_request(NAME))
        yield made


def about(**changed: Mapping[str, Any]) -> ProofSubject:
    """The shipped documents, some of them changed."""
    return subject(MODEL, {**SHIPPED, **changed}, DEPLOYMENT)


def leaks(name: str, title: str) -> tuple[ProofSubject, Iterator[TheoremOutcome]]:
    """The weakened documents, and the theorems that a request refutes; which request it is, is the solver's choice."""
    weak = about(**{name: named(name, title).document})
    return weak, (outcome for outcome in prove(of_document(weak, name), DEPLOYMENT) if outcome.example)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        # on the boundary the solver takes up to nine seconds for this one
        ("session-viewer.json", f"OwnItems: `{OWN}#*` to `TENANT#*#*`"),
        ("session-viewer.json", "OwnItems: drop Condition"),
        ("session-viewer.json", "a further Allow of dynamodb:* on *"),
        ("boundary.json", "OwnItems: ForAllValues:StringLike to ForAnyValue:StringLike"),
        ("boundary.json", f"OwnItems: `{OWN}#*` to `{OWN}*`"),
        ("session-support.json", "NeverHidden: drop `email`"),
        ("session-support.json", "NeverWholeItems: drop the statement"),
    ],
)
def test_a_counterexample_succeeds_on_the_sandbox_and_not_with_the_shipped_document(
    iam_sandbox: IamSandbox, name: str, title: str
) -> None:
    weak, outcomes = leaks(name, title)
    # some counterexamples cannot be sent, such as one on the resource `*`
    outcome = next(outcome for outcome in outcomes if " succeeds there" in sent(iam_sandbox, weak, outcome))
    assert sent(iam_sandbox, about(), outcome).endswith(" is denied there"), outcome.lines()


def test_what_is_denied_against_a_theorem_is_denied_on_the_sandbox(iam_sandbox: IamSandbox) -> None:
    weak, outcomes = leaks("tenant-role.json", "OwnItems: drop dynamodb:PutItem")
    outcome = next(outcomes)
    assert outcome.theorem.name == "grants no less than declared"
    assert sent(iam_sandbox, weak, outcome) == "sent to the sandbox: PutItem is denied there"


def test_what_no_request_asks_for_is_not_sent(iam_sandbox: IamSandbox) -> None:
    """AWS fills in no keys for a Scan: sending one would show something else."""
    table = f"arn:aws:dynamodb:{DEPLOYMENT.region}:{DEPLOYMENT.account}:table/{NAME}"
    authorisation = Authorisation("dynamodb:Scan", table, {"dynamodb:LeadingKeys": ("TENANT#globex#1",)})
    strange = replace(outcome_of("no foreign item", "viewer"), example=Counterexample(authorisation, None, None, {}))
    assert sent(iam_sandbox, about(), strange) == "not sent to the sandbox: no single request asks for exactly this"


def outcome_of(name: str, subject: str) -> TheoremOutcome:
    return TheoremOutcome(Theorem(name, subject, FALSE), "possible", None, 0.0)


@pytest.mark.parametrize(
    ("theorem", "of", "layers"),
    [
        ("no foreign item", "viewer", "identity session boundary"),
        ("roles are ordered as declared", "viewer <= editor", "identity session boundary"),
        ("boundary: no foreign item", "any policy attached to the role", "open boundary"),
        ("denials: no foreign item", "any policy attached to the role", "identity+"),
        ("session: no foreign item", "any session policy", "identity boundary"),
        ("grants no more than declared", "session-viewer.json", "open session"),
        ("grants no more than declared", "boundary.json", "open boundary"),
        ("grants no more than declared", "tenant-role.json", "identity"),
        ("denies explicitly", "tenant-role.json: every other documented action", "identity+"),
        ("the endpoint stops nothing that a role may do", "viewer", None),
        ("only the gateway starts sessions", "tenant-trust.json", None),
        ("the gateway's role has no data", "gateway-role.json", None),
    ],
)
def test_a_request_is_sent_with_the_policies_that_its_theorem_is_about(
    theorem: str, of: str, layers: str | None
) -> None:
    found = policies_of_theorem(about(), outcome_of(theorem, of))
    if found is None or layers is None:
        assert (found is None) is (layers is None)
        return
    documents = about().documents
    identity = documents["tenant-role.json"].text
    whole = {"identity": identity, "session": documents["session-viewer.json"].text}
    whole["boundary"] = documents["boundary.json"].text
    names = [name for name in layers.split() if name in whole]
    assert {name: getattr(found, name) for name in names} == {name: whole[name] for name in names}
    assert ("+" in layers) is (identity[1:40] in found.identity.replace(" ", "") and found.identity != identity)
    assert (found.session is None) is ("session" not in layers)
    assert (found.boundary is None) is ("boundary" not in layers)


def test_it_reads_like_a_request() -> None:
    context: dict[str, Value] = {
        "dynamodb:LeadingKeys": ("TENANT#globex#USER#1",),
        "aws:PrincipalTag/TenantId": "acme",
    }
    authorisation = Authorisation("dynamodb:GetItem", f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}", context)
    example = Counterexample(
        authorisation, "globex", None, {"a further policy allows": True, "a further policy denies": False}
    )
    assert example.lines() == [
        f"dynamodb:GetItem on arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}",
        "    dynamodb:LeadingKeys = TENANT#globex#USER#1",
        "    aws:PrincipalTag/TenantId = acme",
        "    where a further policy allows",
        "    which reaches rows of 'globex'",
    ]


@pytest.mark.parametrize(
    ("action", "operation"),
    [
        *((name, name) for name in ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "Scan")),
        *((name, name) for name in ("BatchGetItem", "BatchWriteItem", "DescribeTable")),
        ("ConditionCheckItem", "TransactWriteItems"),
        ("PartiQLSelect", "ExecuteStatement"),
    ],
)
def test_every_action_has_its_request(action: str, operation: str) -> None:
    context: dict[str, str | tuple[str, ...]] = {
        "dynamodb:LeadingKeys": ("TENANT#a#1",),
        "dynamodb:ReturnValues": "NONE",
    }
    table = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
    made = request_of(Authorisation(f"dynamodb:{action}", table, context), MODEL.table)
    assert made is not None
    assert made[0] == operation


def test_what_no_request_asks_for_has_none() -> None:
    table = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
    several = Authorisation("dynamodb:GetItem", table, {"dynamodb:LeadingKeys": ("a", "b")})
    assert request_of(several, MODEL.table) is None
    assert request_of(Authorisation("dynamodb:GetItem", table, {}), MODEL.table) is None
    assert request_of(Authorisation("kms:Decrypt", "*", {}), MODEL.table) is None
