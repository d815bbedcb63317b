"""`make mutate-policies`: weakens every policy in every way, and fails when nobody notices one of them."""

import sys
from collections import Counter
from collections.abc import Iterator

from tests.policies.isolation import faults
from tests.policies.mutations import Mutant, mutants
from tests.policies.world import SHIPPED


def all_mutants() -> Iterator[tuple[str, Mutant]]:
    return ((name, mutant) for name, document in SHIPPED.items() for mutant in mutants(dict(document)))


def killer(name: str, mutant: Mutant) -> str | None:
    """The first thing that notices the mutant, or None: it survived."""
    return next(faults(name, mutant.document), None)


def main() -> int:
    sound = [f"{name}: {fault}" for name, document in SHIPPED.items() for fault in faults(name, document)]
    for line in sound:
        print(f"the shipped document is at fault: {line}")
    made: Counter[str] = Counter()
    survivors: list[str] = []
    for name, mutant in all_mutants():
        made[name] += 1
        if killer(name, mutant) is None:
            survivors.append(f"{name}: {mutant.title}")
    for name, count in made.items():
        lost = sum(line.startswith(f"{name}:") for line in survivors)
        print(f"{name:<24}{count - lost:>5} of {count:>4} killed")
    for line in survivors:
        print(f"survived: {line}")
    total = made.total()
    print(f"{total - len(survivors)} of {total} mutants killed")
    return 1 if survivors or sound else 0


if __name__ == "__main__":
    sys.exit(main())
