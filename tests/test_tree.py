"""The tree explains the architecture: a class name means one thing, and no folder is crowded."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "gateway"
MAX_MODULES = 16
HEAD = "written by `gateway records`, do not edit"


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
