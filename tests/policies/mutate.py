"""`make mutate-policies`: weakens every policy in every way, and fails when nobody notices one of them.

Everything that looks at policies is asked. `--formal` asks the solver alone.
"""

import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.policies.fixtures import SHIPPED
from tests.policies.isolation import faults
from tests.policies.mutations import Mutant, mutants
from tests.policies.solver_kills import Fate, fate

_CHUNK = 8


def all_mutants() -> Iterator[tuple[str, Mutant]]:
    return ((name, mutant) for name, document in SHIPPED.items() for mutant in mutants(dict(document)))


def killer(name: str, mutant: Mutant) -> str | None:
    """The first thing that notices the mutant, or None: it survived."""
    return next(faults(name, mutant.document), None)


def main(*, formal: bool = False) -> int:
    unsound = [] if formal else _unsound()
    survivors = _before_the_solver() if formal else _before_all()
    for line in unsound:
        print(f"the shipped document is at fault: {line}")
    for line in survivors:
        print(f"survived: {line}")
    return 1 if survivors or unsound else 0


def _unsound() -> list[str]:
    return [f"{name}: {fault}" for name, document in SHIPPED.items() for fault in faults(name, document)]


def _before_all() -> list[str]:
    """Survivors of parser, lint, review and behaviour together."""
    found = [(name, mutant, killer(name, mutant)) for name, mutant in all_mutants()]
    _table("killed by", [(name, _by(fault)) for name, _, fault in found])
    print(f"{sum(fault is not None for *_, fault in found)} of {len(found)} mutants killed\n")
    return [f"{name}: {mutant.title}" for name, mutant, fault in found if fault is None]


def _before_the_solver() -> list[str]:
    """Survivors of the solver: it refutes a theorem, or proves that the mutant is no weaker than its document."""
    cases = list(all_mutants())
    fates = [(*case, kind) for case, kind in zip(cases, _solver_fates(cases), strict=True)]
    _table("before the solver alone", [(name, kind) for name, _, kind in fates])
    counted = Counter(kind for *_, kind in fates)
    summary = ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))
    print(f"{len(fates)} mutants before the solver alone: {summary}")
    return [f"{name}: {mutant.title} (before the solver)" for name, mutant, kind in fates if kind == "survived"]


def _solver_fates(cases: Sequence[tuple[str, Mutant]]) -> list[Fate]:
    processes = min(multiprocessing.cpu_count(), len(cases) // _CHUNK)
    if processes < 2:
        return [solver_fate(*case) for case in cases]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return pool.starmap(solver_fate, cases, _CHUNK)


def solver_fate(name: str, mutant: Mutant) -> Fate:
    return fate(name, mutant)[0]


def _table(title: str, found: Sequence[tuple[str, str]]) -> None:
    print(f"{'document':<24}{'mutants':>8}  {title}")
    for document in SHIPPED:
        kinds = Counter(kind for name, kind in found if name == document)
        print(f"{document:<24}{kinds.total():>8}  " + ", ".join(f"{by} {count}" for by, count in sorted(kinds.items())))


def _by(fault: str | None) -> str:
    if fault is None:
        return "NOBODY"
    return {"refused": "parser", "error": "lint", "warning": "lint"}.get(fault.partition(":")[0], "behaviour")


if __name__ == "__main__":
    sys.exit(main(formal="--formal" in sys.argv[1:]))
