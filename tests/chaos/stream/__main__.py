"""`python -m tests.chaos.stream [--seconds 60] [--seed 1]` exits with 1 if a subscriber missed or saw too much."""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from tests.chaos.stream.history import latencies
from tests.chaos.stream.run import StreamOptions, StreamResult, run


def lines(result: StreamResult) -> Iterator[str]:
    seen, known = result.seen, latencies(result.seen, result.writes)
    yield f"seconds of kills: {result.options.seconds:.0f}; still after another {result.settled_after:.1f} s"
    yield "killed and started again: " + ", ".join(f"{kind} {count}" for kind, count in result.killed.most_common())
    yield f"shards split: {result.splits}"
    yield f"writes acknowledged: {len(result.writes.at)}"
    connections, resumes = sum(each.connections for each in seen), sum(each.resumes for each in seen)
    yield f"subscribers: {len(seen)}; connections: {connections}; resumed: {resumes}"
    expired = sum(each.expired_positions for each in seen)
    yield f"events: {sum(len(each.received) for each in seen)}; positions expired: {expired}"
    if known:
        p50, p99 = (known[int(len(known) * share)] for share in (0.5, 0.99))
        yield f"from a write to its event: p50 {p50:.2f} s, p99 {p99:.2f} s, under kills"
    yield f"violations: {len(result.faults)}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.stream", description=__doc__)
    defaults = StreamOptions()
    parser.add_argument("--seconds", type=float, default=defaults.seconds)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--logs", type=Path, help="Folder that keeps the logs of the processes.")
    options = vars(parser.parse_args(arguments))
    kept = options.pop("logs")
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as logs:
        result = run(StreamOptions(**options), Path(logs))
    print("\n".join(lines(result)))
    for fault in result.faults[:50]:
        print(f"VIOLATION {fault}")
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
