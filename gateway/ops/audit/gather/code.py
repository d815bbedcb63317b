"""What this installation of the gateway sends to DynamoDB: read from its source, and tried where that can be done."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.aws.wire.dynamodb import payload
from gateway.iam.dynamodb.requests import OPERATIONS
from gateway.model.model import Model
from gateway.ops.audit.facts import CodeFacts
from gateway.ops.audit.gather.batches import asks_again, fails_loudly

PACKAGE: Final = Path(__file__).parents[3]
_ROOMS: Final = ("store", "graph", "domains")
"""Where requests are served; the wire below them sends whatever it is given."""
_RECORDS: Final = "gateway.store.write.idempotency"
_CALLS: Final = frozenset(("call", "_call"))
WHOLE_TABLE: Final = frozenset(("Scan", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"))


def code_facts(model: Model, package: Path = PACKAGE) -> CodeFacts:
    trees = {module: tree for room in _ROOMS for module, tree in _modules(package, room)}
    texts = {module: frozenset(_texts(tree)) for module, tree in trees.items()}
    sends: dict[str, tuple[str, ...]] = {}
    for module, tree in trees.items():
        # a call names its operation; what reads whole tables is not even to be mentioned
        for operation in sorted(_called(tree) | (texts[module] & WHOLE_TABLE)):
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


def _called(tree: ast.Module) -> frozenset[str]:
    """Operations that stand as a text among the arguments of `call`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    made = (node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS)
    texts = (given.value for node in made for given in node.args if isinstance(given, ast.Constant))
    return frozenset(text for text in texts if isinstance(text, str) and text in OPERATIONS)


def _imports(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
