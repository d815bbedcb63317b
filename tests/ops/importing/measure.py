"""Imports 10,000 rows over loopback into a table in memory: `python -m tests.ops.importing.measure`."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.ops.importing.test_import import GENRES, run, served, written

ROWS = 10_000


def main() -> None:
    with served() as running, TemporaryDirectory() as name:
        folder = Path(name)
        run(running, "Genre", written(folder, "genres.jsonl", *GENRES))
        rows = ({"genreId": "gh"[n % 2], "title": f"T{n}", "code": f"c{n}"} for n in range(ROWS))
        source = written(folder, "books.jsonl", *rows)
        started = time.perf_counter()
        code, _ = run(running, "Book", source)
        seconds = time.perf_counter() - started
    sys.stdout.write(f"{len(running.books())} of {ROWS} rows in {seconds:.0f} s, exit code {code}\n")


if __name__ == "__main__":
    main()
