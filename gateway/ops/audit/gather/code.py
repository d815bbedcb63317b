"""What this installation of the gateway sends to DynamoDB: read from its source, and tried where that can be done."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.aws.request import payload
from gateway.iam.requests import OPERATIONS
from gateway.model.model import Model
from gateway.ops.audit.facts import CodeFacts
from gateway.ops.audit.gather.batches import asks_again, fails_loudly

PACKAGE: Final = Path(__file__).parents[3]
_ROOMS: Final = ("store", "graph", "domains")
"""Where requests are served; the wire below them sends whatever it is given."""
_RECORDS: Final = "gateway.store.idempotency"
# of these names, GraphQL has one of its own
_ANYWHERE: Final = frozenset(OPERATIONS) - {"Query"}


def code_facts(model: Model, package: Path = PACKAGE) -> CodeFacts:
    trees = {module: tree for room in _ROOMS for module, tree in _modules(package, room)}
    texts = {module: frozenset(_texts(tree)) for module, tree in trees.items()}
    sends: dict[str, tuple[str, ...]] = {}
    for module, found in texts.items():
        names = OPERATIONS if module.startswith("store/") else _ANYWHERE
        for operation in sorted(found & frozenset(names)):
            sends[operation] = (*sends.get(operation, ()), module)
    return CodeFacts(
        sends=sends,
        reads_unprocessed_items=frozenset(module for module, found in texts.items() if "UnprocessedItems" in found),
        keys_asked_again=asks_again(model),
        fails_loudly=fails_loudly(model),
        transaction_tokens="ClientRequestToken" in json.loads(payload("TransactWriteItems", {})),
        records_used_by=tuple(module for module, tree in trees.items() if _RECORDS in _imports(tree)),
    )


def _modules(package: Path, room: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((package / room).rglob("*.py")):
        yield path.relative_to(package).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def _texts(tree: ast.Module) -> Iterator[str]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _imports(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
