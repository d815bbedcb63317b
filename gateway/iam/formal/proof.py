"""The proof: every theorem is put to the solver, every answer that refutes one is checked and told as a request."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway.iam.formal.counterexample import Counterexample, counterexample, readable
from gateway.iam.formal.errors import NotConfirmed
from gateway.iam.formal.formula import And, Constant, Every, Formula, Not, Or, Some, UnwrittenStatement
from gateway.iam.formal.interpreter import evaluator
from gateway.iam.formal.solver.solver import Answer, Solution, solve
from gateway.iam.formal.specification import SPLITS, TENANT_ROWS, Scope
from gateway.iam.formal.string_patterns import Split
from gateway.iam.formal.theorems import Theorem
from gateway.iam.policies.deployment import Deployment


@dataclass(frozen=True, slots=True)
class TheoremOutcome:
    """`example` is a request that refutes the theorem, or where it claims that one is possible, that request.

    `replay` says what became of it where it was sent.
    """

    theorem: Theorem
    answer: Answer
    example: Counterexample | None
    seconds: float
    replay: str = ""

    @property
    def proved(self) -> bool:
        return self.answer == ("possible" if self.theorem.possible else "impossible")

    def lines(self) -> list[str]:
        """The request, and what became of it."""
        shown = self.example.lines() if self.example is not None else []
        return [*shown, f"    {self.replay}"] if self.replay else shown


def prove(
    theorems: Iterable[Theorem],
    deployment: Deployment,
    scope: Scope = TENANT_ROWS,
    splits: Mapping[str, Split] = SPLITS,
) -> Iterator[TheoremOutcome]:
    wishes = readable(scope, deployment) if scope.split.depth else ()
    for theorem in theorems:
        started = time.perf_counter()
        found = solve(theorem.violation, splits, () if theorem.possible else wishes)
        example = None
        if found.answer == "possible":
            check(theorem, found, splits)
            example = counterexample(found.facts, found.unknowns)
        yield TheoremOutcome(theorem, found.answer, example, time.perf_counter() - started)


def check(theorem: Theorem, found: Solution, splits: Mapping[str, Split]) -> None:
    """INVARIANT: what the solver answers, Python confirms on the request itself."""
    if not evaluator(_known(theorem.violation, found.unknowns), splits)(found.facts):
        raise NotConfirmed(f"`{theorem.name}` ({theorem.about})")


def _known(formula: Formula, unknowns: Mapping[str, bool]) -> Formula:
    match formula:
        case UnwrittenStatement(name):
            return Constant(unknowns.get(name, False))
        case And(parts):
            return And(tuple(_known(part, unknowns) for part in parts))
        case Or(parts):
            return Or(tuple(_known(part, unknowns) for part in parts))
        case Not(part):
            return Not(_known(part, unknowns))
        case Every(key, part):
            return Every(key, _known(part, unknowns))
        case Some(key, part):
            return Some(key, _known(part, unknowns))
    return formula
