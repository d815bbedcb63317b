"""docs/cache.md shows what the model lets the caches keep."""

from collections.abc import Iterator
from pathlib import Path

from gateway.demo import MODEL
from gateway.model.docs.keys import code, markdown_table
from gateway.model.patterns import Listing, Lookup
from gateway.model.staleness import Staleness

GUIDE = Path(__file__).parents[3] / "docs" / "cache.md"
_HEAD = ("pattern", "reads", "at most this old", "that there is nothing")


def _rows() -> Iterator[tuple[str, ...]]:
    for pattern in MODEL.patterns.values():
        match pattern:
            case Lookup(strong=False):
                staleness = MODEL.entities[pattern.entity].cached
                reads = f"{pattern.entity} by key"
            case Listing():
                staleness, reads = pattern.cached, f"pages of {pattern.entity}"
            case _:
                continue
        if staleness is not None:
            yield code(pattern.name), reads, f"{staleness.seconds:g} s", _absence(staleness)


def _absence(staleness: Staleness) -> str:
    return f"{staleness.absence_seconds:g} s" if staleness.absence_seconds else "not remembered"


def test_the_guide_shows_what_the_model_declares() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    table = "\n".join(markdown_table(_HEAD, _rows()))
    assert f"\n{table}\n" in text, f"put this into docs/cache.md:\n{table}"
