"""The chaos test: `python -m tests.chaos [--seconds 45] [--seed 1]` exits with 1 if an invariant is violated."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.chaos.figures import lines, write_page
from tests.chaos.run import ChaosOptions, run
from tests.engines.engine import ROOT, engine

_PAGE = ROOT / "docs" / "chaos.md"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    defaults = ChaosOptions()
    parser.add_argument("--seconds", type=float, default=defaults.seconds)
    parser.add_argument("--clients", type=int, default=defaults.clients)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--share", type=float, default=defaults.share, help="of the DynamoDB calls that fail")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/chaos.md")
    given = vars(parser.parse_args(arguments))
    write = given.pop("write")
    missing = engine("ministack").missing
    if missing is not None:
        print(missing)
        return 1 if os.environ.get("CI") == "true" else 0
    with tempfile.TemporaryDirectory() as logs:
        result = run(ChaosOptions(**given), Path(logs))
        print("\n".join(lines(result)))
        for fault in result.faults[:50]:
            print(f"VIOLATION {fault}")
    if write and not result.faults:
        write_page(result, _PAGE)
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
