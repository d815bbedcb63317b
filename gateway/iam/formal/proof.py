"""Proves theorems with the solver; a theorem that does not hold comes with a request that refutes it."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.iam.formal.counterexample import Counterexample, counterexample, readable
from gateway.iam.formal.errors import NotConfirmed
from gateway.iam.formal.formula import Constant, Formula, UnwrittenStatement, rewritten
from gateway.iam.formal.interpreter import evaluator
from gateway.iam.formal.solver.solver import Answer, Solution, solve
from gateway.iam.formal.specification import SPLITS, TENANT_ROWS
from gateway.iam.formal.string_patterns import Split
from gateway.iam.formal.theorems import Theorem
from gateway.iam.policies.deployment import Deployment


@dataclass(frozen=True, slots=True)
class TheoremOutcome:
    """`example` is a request that refutes the theorem, or that proves a theorem that says one is possible.

    `replay` describes the response, if the request was sent.
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
        """Returns the request and the response to it."""
        shown = self.example.lines() if self.example is not None else []
        return [*shown, f"    {self.replay}"] if self.replay else shown


def prove(theorems: Iterable[Theorem], deployment: Deployment) -> Iterator[TheoremOutcome]:
    wishes = readable(TENANT_ROWS, deployment)
    for theorem in theorems:
        yield outcome(theorem, SPLITS, () if theorem.possible else wishes)


def outcome(theorem: Theorem, splits: Mapping[str, Split], wishes: Sequence[Formula]) -> TheoremOutcome:
    """Returns the outcome of one theorem; see `solve` for `wishes`."""
    started = time.perf_counter()
    solution = solve(theorem.violation, splits, wishes)
    example = None
    if solution.answer == "possible":
        _confirm(theorem, solution, splits)
        example = counterexample(solution.facts, solution.unknowns)
    return TheoremOutcome(theorem, solution.answer, example, time.perf_counter() - started)


def _confirm(theorem: Theorem, solution: Solution, splits: Mapping[str, Split]) -> None:
    """INVARIANT: every answer of the solver is confirmed by evaluating the formula in Python on the same request."""

    def atom(part: Formula) -> Formula:
        if isinstance(part, UnwrittenStatement):
            return Constant(solution.unknowns.get(part.name, False))
        return part

    if not evaluator(rewritten(theorem.violation, atom), splits)(solution.facts):
        raise NotConfirmed(f"`{theorem.name}` ({theorem.about})")
