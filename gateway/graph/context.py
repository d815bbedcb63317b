"""What resolvers may use of a request: its reader, its writer and what its operation selects."""

from dataclasses import dataclass

from gateway.graph.reader import Reader
from gateway.graph.selection import Selections
from gateway.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Context:
    reader: Reader
    writer: Writer
    selections: Selections
