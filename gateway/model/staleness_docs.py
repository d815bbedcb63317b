"""The table of what may be remembered, pattern by pattern, for the guide to the caches."""

from collections.abc import Iterator

from gateway.model.key_docs import code, markdown_table
from gateway.model.model import Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.staleness import Staleness

_HEAD = ("pattern", "reads", "at most this old", "that there is nothing")


def staleness_table(model: Model) -> list[str]:
    return markdown_table(_HEAD, _rows(model))


def _rows(model: Model) -> Iterator[tuple[str, ...]]:
    for pattern in model.patterns.values():
        match pattern:
            case Lookup(strong=False):
                staleness = model.entities[pattern.entity].cached
                reads = f"{pattern.entity} by key"
            case Listing():
                staleness, reads = pattern.cached, f"pages of {pattern.entity}"
            case _:
                continue
        if staleness is not None:
            yield code(pattern.name), reads, f"{staleness.seconds:g} s", _absence(staleness)


def _absence(staleness: Staleness) -> str:
    return f"{staleness.absence_seconds:g} s" if staleness.absence_seconds else "not remembered"
