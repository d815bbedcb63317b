"""What the tests of the tree read in the package's sources: to parse all of them takes a second, so it is done once."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import gateway

PACKAGE = Path(gateway.__file__).parent


@dataclass(frozen=True)
class Source:
    """The imports and the texts of one module; the whole tree would take a hundred times as much memory."""

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    at_top: tuple[ast.Import | ast.ImportFrom, ...]
    texts: frozenset[str]


@cache
def sources() -> dict[Path, Source]:
    """Every module of the package."""
    return {path: _read(ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))}


def _read(tree: ast.Module) -> Source:
    nodes = list(ast.walk(tree))
    return Source(
        imports=tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)),
        at_top=tuple(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)),
        texts=frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)),
    )
