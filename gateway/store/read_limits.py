"""How much one operation may read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadLimits:
    page: int = 100
    default_page: int = 20
    queries: int = 100  # pages of one operation: a list in a list costs one for each item
