"""What resolvers may use of a request: its reader and what its operation selects."""

from dataclasses import dataclass

from gateway.graph.reader import Reader
from gateway.graph.selection import Selections


@dataclass(frozen=True, slots=True)
class Context:
    reader: Reader
    selections: Selections
