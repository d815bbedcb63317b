"""Mutants before the solver alone: no lint, no review, no sampled case."""

from dataclasses import replace
from functools import cache
from typing import Literal

from gateway.demo import MODEL
from gateway.iam.formal.compiler import Layer
from gateway.iam.formal.formula import Formula, both, either, negated
from gateway.iam.formal.solver.solver import solve
from gateway.iam.formal.specification import SPLITS
from gateway.iam.formal.theorems import ProofSubject, Theorem, of_document, subject
from gateway.iam.language.errors import PolicyError
from tests.policies.fixtures import DEPLOYMENT, SHIPPED
from tests.policies.mutations import Mutant

Fate = Literal["refused", "refuted", "no weaker", "survived"]


@cache
def shipped() -> ProofSubject:
    return subject(MODEL, SHIPPED, DEPLOYMENT)


def fate(name: str, mutant: Mutant) -> tuple[Fate, Theorem | None]:
    """`refuted` comes with the theorem that a request refutes.

    `no weaker` is proved: the mutant allows nothing more and denies nothing less than the document, in any of its
    parts, so that there is nothing to notice.
    """
    try:
        made = _with(name, mutant)
    except PolicyError:
        return "refused", None
    for theorem in of_document(made, name):
        if theorem.violation not in _proved(name) and solve(theorem.violation, SPLITS).answer == "possible":
            return "refuted", theorem
    same = solve(_weaker(shipped().layers[name], made.layers[name]), SPLITS).answer == "impossible"
    return ("no weaker" if same else "survived"), None


def _with(name: str, mutant: Mutant) -> ProofSubject:
    """The shipped documents with this one instead; the others are compiled once."""
    made = subject(MODEL, {name: mutant.document}, DEPLOYMENT)
    documents, layers = {**shipped().documents, **made.documents}, {**shipped().layers, **made.layers}
    return replace(shipped(), documents=documents, layers=layers)


@cache
def _proved(name: str) -> frozenset[Formula]:
    """What is proved with the shipped documents: a theorem whose formula did not change need not be proved again."""
    return frozenset(theorem.violation for theorem in of_document(shipped(), name))


def _weaker(old: Layer, new: Layer) -> Formula:
    """A request satisfies this if the new document allows more or denies less than the old one for it."""
    parts = ((new.allows, old.allows), (old.denies, new.denies), (old.restricts, new.restricts))
    return either(*(both(holds, negated(fails)) for holds, fails in parts))
