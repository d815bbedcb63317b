"""`python -m bench`: every benchmark, one after the other; `python -m bench wire cache` some of them."""

import asyncio
import importlib
import inspect
import pkgutil
import sys
import time

import bench

# `peers` needs npm and has a command of its own: `make bench-peers`
_NOT_BENCHES = {"stub", "__main__", "naive", "replay", "ordered", "peers"}


def main(names: list[str]) -> None:
    known = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if module.name not in _NOT_BENCHES)
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    for name in names or known:
        started = time.perf_counter()
        print(f"\n== {name}: {(importlib.import_module(f'bench.{name}').__doc__ or '').splitlines()[0]}", flush=True)
        sys.argv = [f"bench.{name}"]
        made = importlib.import_module(f"bench.{name}").main()
        if inspect.iscoroutine(made):
            asyncio.run(made)
        print(f"   ({time.perf_counter() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
