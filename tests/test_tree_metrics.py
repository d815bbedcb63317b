"""`scripts/tree-metrics` counts what it says, on a small tree."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "tree-metrics"
SOURCES = {
    "gateway/__init__.py": "",
    "gateway/errors.py": "class Failure(Exception):\n    pass\n",
    "gateway/store/__init__.py": "",
    "gateway/store/table.py": "from gateway.errors import Failure\n\n\nclass Row:\n    error = Failure\n" + "\n" * 60,
    "gateway/graph/__init__.py": "",
    "gateway/graph/http/__init__.py": "",
    "gateway/graph/http/endpoint.py": "from gateway.store import table\n\n\nclass Row:\n    table = table\n",
}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    return Path(shutil.copy(SCRIPT, tmp_path / "scripts"))


def run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(script), *options], capture_output=True, text=True, check=False)


def test_rooms_names_and_sizes_are_counted(script: Path) -> None:
    measured = json.loads(run(script, "--no-trace", "--json").stdout)
    assert (measured["files"], measured["lines"]) == (3, 72)
    assert measured["rooms"]["gateway/store"] == {"files": 1, "lines": 65, "fan_in": 1, "fan_out": 1}
    assert measured["rooms"]["gateway/graph"] == {"files": 1, "lines": 5, "fan_in": 0, "fan_out": 1}
    assert measured["class_names_twice"] == {"Row": ["gateway.graph.http.endpoint", "gateway.store.table"]}
    assert measured["small_files"] == {"gateway/errors.py": 2, "gateway/graph/http/endpoint.py": 5}
    assert measured["crowded_folders"] == {}


def test_lines_are_counted_by_function(script: Path) -> None:
    lane = script.parents[1] / "gateway" / "graph" / "query" / "lane" / "rows.py"
    lane.parent.mkdir(parents=True)
    lane.write_text("ROWS = 1\n" * 7, encoding="utf-8")
    functions = json.loads(run(script, "--no-trace", "--json").stdout)["functions"]
    assert [lines for name, lines in functions.items() if name.startswith(("everything", "speed"))] == [72, 7]


def test_a_crowded_folder_is_found(script: Path) -> None:
    for number in range(16):
        (script.parents[1] / "gateway" / "store" / f"part_{number}.py").write_text("", encoding="utf-8")
    assert json.loads(run(script, "--no-trace", "--json").stdout)["crowded_folders"] == {"gateway/store": 17}


def test_a_page_needs_the_path_of_a_request(script: Path) -> None:
    assert "--write needs the path" in run(script, "--no-trace", "--write", "page.md").stderr


def test_the_tables_of_the_architecture_page_are_written_by_it() -> None:
    page = (SCRIPT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, start, rest = page.partition("<!-- tree-metrics -->")
    tables, end, _ = rest.partition("<!-- end of tree-metrics -->")
    assert start
    assert end
    assert "| files on the path of a mutation |" in tables
    assert "| `gateway/store` |" in tables
