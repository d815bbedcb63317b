"""Finds what new policies allow that old policies did not, each with a request that shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.counterexample import DOCUMENTED_ACTIONS, Counterexample, readable
from gateway.iam.formal.errors import NotConfirmed, NotProvable
from gateway.iam.formal.formula import ACTION, FALSE, Formula, both, is_text, negated
from gateway.iam.formal.proof import outcome
from gateway.iam.formal.specification import SPLITS, TENANT_ROWS, of_service
from gateway.iam.formal.theorems import Theorem
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import (
    BOUNDARY_FILE,
    ENDPOINT_FILE,
    GATEWAY_FILE,
    STREAM_FILE,
    TENANT_FILE,
    TRUST_FILE,
)
from gateway.iam.policies.policies import document

Documents = Mapping[str, Mapping[str, Any]]
_ALONE = (TRUST_FILE, GATEWAY_FILE, ENDPOINT_FILE, STREAM_FILE)
_MOST = 200


@dataclass(frozen=True, slots=True)
class Widening:
    """Something that is newly allowed: `who` is a role or a document, `action` is the action."""

    who: str
    action: str
    example: Counterexample

    @property
    def coordinate(self) -> str:
        """The name under which the changelog lists it."""
        return f"{self.who} {self.action}"


@dataclass(frozen=True, slots=True)
class _Subject:
    """`policies` is None for documents that the evaluator does not decide alone: the trust and endpoint policies."""

    may: Formula
    policies: PolicySet | None


_NOBODY = _Subject(FALSE, PolicySet(()))


def widenings(old: Documents, new: Documents, deployment: Deployment) -> Iterator[Widening]:
    """Compares the combined policies of each role, and each document that applies by itself."""
    before, after = _subjects(old, deployment), _subjects(new, deployment)
    for who, subject in after.items():
        earlier = before.get(who, _NOBODY)
        for widening in _more(who, both(subject.may, negated(earlier.may)), deployment):
            _confirm(widening, earlier, subject)
            yield widening


def _confirm(widening: Widening, before: _Subject, after: _Subject) -> None:
    """INVARIANT: the evaluator confirms every widening: it allows the request now and did not allow it before."""
    authorisation = widening.example.authorisation
    now = after.policies is None or evaluate(after.policies, authorisation).allowed
    earlier = before.policies is not None and evaluate(before.policies, authorisation).allowed
    if not now or earlier:
        raise NotConfirmed("\n".join((f"wider: {widening.coordinate}", *widening.example.lines())))


def _more(who: str, more: Formula, deployment: Deployment) -> Iterator[Widening]:
    """Yields one widening per action; an undocumented action stands for all other actions of its service."""
    wishes = readable(TENANT_ROWS, deployment)[:-3]
    for _ in range(_MOST):
        result = outcome(Theorem("wider", who, more), SPLITS, wishes)
        if result.answer == "undecided":
            raise NotProvable(f"the solver cannot decide what {who} gains")
        if result.example is None:
            return
        action = result.example.authorisation.action
        service = action.partition(":")[0]
        named = action in DOCUMENTED_ACTIONS
        yield Widening(who, action if named else f"{service}:*", result.example)
        more = both(more, negated(is_text(ACTION, action.lower()) if named else of_service(service)))


def _subjects(documents: Documents, deployment: Deployment) -> dict[str, _Subject]:
    """Returns each role and document as a formula, and as a policy set for the evaluator."""
    compiler = FormulaCompiler(SPLITS)
    tenant, boundary = (document(documents, name, deployment) for name in (TENANT_FILE, BOUNDARY_FILE))
    subjects = {}
    for name in sorted(name for name in documents if name.startswith("session-")):
        policies = PolicySet((tenant,), (document(documents, name, deployment),), boundary)
        role = name.removeprefix("session-").removesuffix(".json")
        subjects[role] = _Subject(allowed(compiler.layers(policies)), policies)
    for name in _ALONE:
        if name in documents:
            parsed = document(documents, name, deployment)
            alone = PolicySet((parsed,)) if parsed.kind == "identity" else None
            subjects[name.removesuffix(".json")] = _Subject(allowed([compiler.layer([parsed])]), alone)
    return subjects
