"""`make simulate`: the store, its caches and its sessions over a bad network; every history must be right."""

import logging
import os
import random as global_random
import sys
from argparse import ArgumentParser

from tests.simulation.history import History
from tests.simulation.loop import simulate
from tests.simulation.shop import Broken, Shop

REPLAY = "python -m tests.simulation.run --seed"


def one(seed: int, **broken: bool) -> tuple[History, int]:
    global_random.seed(seed)  # the store's own pauses
    return simulate(seed, Shop(seed, Broken(**broken)).run())


def main(most_steps: int, first: int = 0) -> int:
    """Histories until so many steps were taken, or one of them is wrong."""
    steps, seed, reads, cached = 0, first, 0, 0
    while steps < most_steps:
        history, taken = one(seed)
        if faults := history.check():
            print(f"seed {seed} is wrong:", *faults, f"replay it: {REPLAY} {seed}", sep="\n  ")
            return 1
        steps, seed = steps + taken, seed + 1
        reads, cached = reads + history.reads, cached + history.cached
    print(
        f"{steps:,} steps in {seed - first:,} histories, {reads:,} reads, {cached:,} from a cache:"
        " nothing lost, nothing doubled, no read too old, no session too old, no foreign row"
    )
    return 0


def replay(seed: int) -> int:
    """Everything that happened, and what was wrong with it."""
    history, steps = one(seed)
    print(*history.events, sep="\n")
    faults = history.check()
    print(f"seed {seed}, {steps} steps:", *(faults or ["nothing is wrong"]), sep="\n  ")
    return 1 if faults else 0


def _command() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, help="one history, printed step by step")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what fails is meant to
    return main(given.steps) if given.seed is None else replay(given.seed)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # the order of sets of texts would be another one in every process, and a seed would not tell the history
        again = [sys.executable, "-m", "tests.simulation.run", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    sys.exit(_command())
