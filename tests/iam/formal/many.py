"""`make prove-random`: the formal proof over many random models, and its one semantics over many random requests."""

import sys
import time

from hypothesis import HealthCheck, given, settings

from gateway.demo import MODEL
from gateway.iam.formal.specification import SPLITS
from tests.iam.formal.solver.test_solver import known_agree
from tests.iam.formal.test_compiler import any_agree, shipped_agree
from tests.iam.formal.test_proof import holds_for, roles, things

MODELS = 15
REQUESTS = 20_000
DOCUMENTS = 400
KNOWN = 160


def main() -> int:
    started = time.perf_counter()
    compared = sum(shipped_agree(role, REQUESTS) for role in tuple(MODEL.all_roles))
    compared += sum(any_agree(splits, DOCUMENTS) for splits in ({}, SPLITS))
    if compared < 100_000:
        print(f"only {compared:,} requests were compared")
        return 1
    print(
        f"{compared:,} random requests: formula and evaluator agree ({time.perf_counter() - started:.0f} s)", flush=True
    )
    decided = known_agree(KNOWN)
    print(
        f"{decided:,} random requests: solver and evaluator agree ({time.perf_counter() - started:.0f} s)", flush=True
    )
    settings(deadline=None, max_examples=MODELS, suppress_health_check=list(HealthCheck))(
        given(things, roles)(holds_for)
    )()
    print(f"{MODELS} random models and roles: every theorem holds ({time.perf_counter() - started:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
