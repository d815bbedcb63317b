"""The tree explains the architecture: a class name means one thing, no folder is crowded, and tests mirror it."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sources import PACKAGE, sources

TESTS = PACKAGE.parent / "tests"
# packages whose classes are imported from the package: the face of adopters, and two small sets that belong together
_FACES = {"gateway", "gateway.model.types", "gateway.iam.language"}
# parts of one mechanism, which only whole queries show: the tests of the whole are named here
TESTED_WITH = {
    "graph/mutation/files.py": "files/test_round_trip.py",
    "graph/query/binder.py": "graph/query/test_operation.py",
    "graph/query/tree.py": "graph/query/test_operation.py",
    "graph/subscription/close_codes.py": "graph/subscription/test_socket.py",
    **dict.fromkeys(
        (
            f"graph/query/lane/{part}.py"
            for part in ("fallback", "items", "keys", "listing", "pages", "prepare", "reads", "request", "roots")
        ),
        "graph/query/lane/test_lane.py",
    ),
    **dict.fromkeys(
        (f"graph/subscription/{part}.py" for part in ("event_reader", "interest", "operations", "subscription")),
        "graph/subscription/test_subscriptions.py",
    ),
}


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """What `scripts/tree-metrics` counts, so that the page and these tests agree."""
    script = [sys.executable, str(TESTS.parent / "scripts" / "tree-metrics"), "--no-trace", "--json"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def test_no_class_name_is_used_twice(measured: dict[str, Any]) -> None:
    assert measured["class_names_twice"] == {}


def test_no_folder_is_crowded(measured: dict[str, Any]) -> None:
    assert measured["crowded_folders"] == {}


def test_every_new_function_has_modules(measured: dict[str, Any]) -> None:
    assert [name for name, lines in measured["functions"].items() if not lines] == []


def test_a_name_is_imported_from_the_module_that_defines_it() -> None:
    """Or, outside of its package, from the package itself, such as `gateway.model.types`."""
    modules = {_name(path): source for path, source in sources().items()}
    imported = {
        name: {
            alias.asname or alias.name
            for node in source.at_top
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for name, source in modules.items()
    }
    again = [
        f"{importer}: {node.module}.{alias.name}"
        for importer, source in modules.items()
        for node in source.imports
        if isinstance(node, ast.ImportFrom) and node.module in modules and node.module not in _FACES
        for alias in node.names
        if alias.name in imported[node.module] and f"{node.module}.{alias.name}" not in modules
    ]
    assert again == []


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_module_of_graph_has_a_test_file_in_its_place() -> None:
    modules = [path.relative_to(PACKAGE) for path in sorted((PACKAGE / "graph").rglob("*.py"))]
    named = {str(path) for path in modules if path.name != "__init__.py"}
    missing = {name for name in named if not (TESTS / name).with_name(f"test_{Path(name).name}").exists()}
    assert missing == set(TESTED_WITH), "write the test file, or remove the module from TESTED_WITH"
    assert [test for test in TESTED_WITH.values() if not (TESTS / test).exists()] == []


def test_the_makefile_names_files_that_exist() -> None:
    named = set(re.findall(r"tests/[a-z_/]+\.py", (TESTS.parent / "Makefile").read_text(encoding="utf-8")))
    assert named
    assert not [name for name in sorted(named) if not (TESTS.parent / name).is_file()]
