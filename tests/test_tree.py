"""The tree explains the architecture: a class name means one thing, no folder is crowded, and tests mirror it."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "gateway"
MAX_MODULES = 16
HEAD = "written by `gateway records`, do not edit"
TESTS = PACKAGE.parent / "tests"
# parts of one mechanism, which only whole queries show: the tests of the whole are named here
TESTED_WITH = {
    "graph/mutation/files.py": "files/test_round_trip.py",
    "graph/query/binder.py": "graph/query/test_operation.py",
    "graph/query/tree.py": "graph/query/test_operation.py",
    **dict.fromkeys(
        (
            f"graph/query/lane/{part}.py"
            for part in ("fallback", "items", "keys", "listing", "pages", "prepare", "reads", "request", "roots")
        ),
        "graph/query/lane/test_lane.py",
    ),
    **dict.fromkeys(
        (
            f"graph/subscription/{part}.py"
            for part in ("cohort", "event_reader", "interest", "operations", "position", "subscription")
        ),
        "graph/subscription/test_subscriptions.py",
    ),
}


def test_no_class_name_is_used_twice() -> None:
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        # a generated record has the name of its entity, and a domain's entities are no concern of other rooms
        if path.name == "records.py" and HEAD in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_folder_is_crowded() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    counts = {str(folder): len([p for p in folder.glob("*.py") if p.name != "__init__.py"]) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES} == {}


def test_every_module_of_graph_has_a_test_file_in_its_place() -> None:
    modules = [path.relative_to(PACKAGE) for path in sorted((PACKAGE / "graph").rglob("*.py"))]
    named = {str(path) for path in modules if path.name != "__init__.py"}
    missing = {name for name in named if not (TESTS / name).with_name(f"test_{Path(name).name}").exists()}
    assert missing == set(TESTED_WITH), "write the test file, or remove the module from TESTED_WITH"
    assert [test for test in TESTED_WITH.values() if not (TESTS / test).exists()] == []
