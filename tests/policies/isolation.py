"""What is wrong with a policy document, evaluated by itself: no layer may rely on another."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.deployment import render
from gateway.iam.policies.generate import ENDPOINT_FILE, GATEWAY_FILE, STREAM_FILE, TRUST_FILE, kind_of
from gateway.iam.policies.lint import lint
from gateway.iam.policies.review import review
from tests.policies.cases import Case, cases
from tests.policies.fixtures import DEPLOYMENT, EVERYTHING, alone
from tests.policies.trust_cases import trust_faults


def faults(name: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Everything that is wrong with a document under this name; nothing for the shipped one."""
    try:
        parsed = parse(render(document, DEPLOYMENT), kind_of(name))
    except PolicyError as error:
        yield f"refused: {error.message}"
        return
    of_stream = name == STREAM_FILE
    for check in (lint, review):
        found = check(parsed, of_stream=of_stream)
        yield from (f"{finding.level}: {finding.statement} {finding.message}" for finding in found)
    if name == TRUST_FILE:
        yield from trust_faults(parsed)
        return
    policy_set = _without_principal(document) if name == ENDPOINT_FILE else alone(parsed)
    yield from (_sentence(case) for case in cases(name) if _allows(policy_set, case) is not case.allowed)
    if name == GATEWAY_FILE:
        beside = PolicySet((parsed, EVERYTHING))
        data = (Case(False, action, "*") for action in ("dynamodb:GetItem", "dynamodb:Scan", "dax:GetItem"))
        yield from (f"beside a further grant {_sentence(case)}" for case in data if _allows(beside, case))


def _allows(policies: PolicySet, case: Case) -> bool:
    return evaluate(policies, Authorisation(case.action, case.resource, case.context)).allowed


def _sentence(case: Case) -> str:
    verb = "does not allow" if case.allowed else "allows"
    return f"{verb} {case.action} on {case.resource} with {case.context}"


def _without_principal(document: Mapping[str, Any]) -> PolicySet:
    """An endpoint policy as if it were the caller's own: a gateway endpoint takes no principal but `*`."""
    clauses = [{key: value for key, value in one.items() if key != "Principal"} for one in document["Statement"]]
    return PolicySet((parse(render({**document, "Statement": clauses}, DEPLOYMENT), "identity"),))
