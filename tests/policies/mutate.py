"""`make mutate-policies`: weakens every policy in every way, and fails when nobody notices one of them."""

import sys
from collections import Counter
from collections.abc import Iterator

from tests.policies.isolation import faults
from tests.policies.mutations import Mutant, mutants
from tests.policies.solver_kills import fate
from tests.policies.world import SHIPPED


def all_mutants() -> Iterator[tuple[str, Mutant]]:
    return ((name, mutant) for name, document in SHIPPED.items() for mutant in mutants(dict(document)))


def killer(name: str, mutant: Mutant) -> str | None:
    """The first thing that notices the mutant, or None: it survived."""
    return next(faults(name, mutant.document), None)


def main() -> int:
    unsound = [f"{name}: {fault}" for name, document in SHIPPED.items() for fault in faults(name, document)]
    found = [(name, mutant, killer(name, mutant)) for name, mutant in all_mutants()]
    survivors = [f"{name}: {mutant.title}" for name, mutant, fault in found if fault is None]
    print(f"{'document':<24}{'mutants':>8}  killed by")
    for document in SHIPPED:
        kills = Counter(_by(fault) for name, _, fault in found if name == document)
        print(f"{document:<24}{kills.total():>8}  " + ", ".join(f"{by} {count}" for by, count in sorted(kills.items())))
    fates = [(name, mutant, fate(name, mutant)[0]) for name, mutant in all_mutants()]
    print(f"\n{'document':<24}{'mutants':>8}  before the solver alone")
    for document in SHIPPED:
        kinds = Counter(kind for name, _, kind in fates if name == document)
        print(f"{document:<24}{kinds.total():>8}  " + ", ".join(f"{by} {count}" for by, count in sorted(kinds.items())))
    survivors += [f"{name}: {mutant.title} (before the solver)" for name, mutant, kind in fates if kind == "survived"]
    for line in unsound:
        print(f"the shipped document is at fault: {line}")
    for line in survivors:
        print(f"survived: {line}")
    killed = len(found) - sum(fault is None for _, _, fault in found)
    print(
        f"{killed} of {len(found)} mutants killed; {sum(kind == 'refuted' for *_, kind in fates)} by the solver alone"
    )
    return 1 if survivors or unsound else 0


def _by(fault: str | None) -> str:
    if fault is None:
        return "NOBODY"
    return {"refused": "parser", "error": "lint", "warning": "lint"}.get(fault.partition(":")[0], "behaviour")


if __name__ == "__main__":
    sys.exit(main())
