import json
import re
from pathlib import Path

from gateway.demo import MODEL
from gateway.ops.capacity.assumptions import Around, Assumptions, read_assumptions

PAGE = (Path(__file__).parents[3] / "docs" / "capacity.md").read_text(encoding="utf-8")


def test_the_example_is_a_traffic_file(tmp_path: Path) -> None:
    [block] = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    path = tmp_path / "traffic.json"
    path.write_text(block, encoding="utf-8")
    assert read_assumptions(path, MODEL).storage_gb == json.loads(block)["storage_gb"]


def test_every_assumption_stands_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)[.<>a-z]*` \| ([^|]+) \|", PAGE, flags=re.MULTILINE))
    assert rows.keys() == Assumptions.model_fields.keys()
    numbers = {name: text for name, text in rows.items() if name not in ("patterns", "writes", "around")}
    assert {name: float(text) for name, text in numbers.items()} == {
        name: getattr(Assumptions(), name) for name in numbers
    }


def test_what_runs_around_the_table_stands_with_its_default() -> None:
    rows = dict(re.findall(r"^\| · `([a-z_]+)` \| ([^|]+) \|", PAGE, flags=re.MULTILINE))
    assert {name: float(text) for name, text in rows.items()} == {
        name: float(value) for name, value in Around().model_dump().items()
    }
