import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gateway.cli.capacity import CapacityOptions, capacity
from gateway.errors import ConfigurationError
from tests.ops.capacity.shop import MODEL


def run(wanted: CapacityOptions, *, terminal: bool = False) -> str:
    console = Console(file=io.StringIO(), width=160, force_terminal=terminal)
    assert capacity(wanted, MODEL, console) == 0
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_file_gets_markdown_and_a_terminal_gets_it_rendered() -> None:
    assert run(CapacityOptions()).startswith("# Capacity\n")
    rendered = run(CapacityOptions(), terminal=True)
    assert "Would DAX pay?" in rendered
    assert "| --- |" not in rendered


def test_json_has_the_same_figures(tmp_path: Path) -> None:
    logs = tmp_path / "gateway.log"
    logs.write_text(
        json.dumps({"time": "2026-11-16T10:00:00Z", "dynamodb_calls": 1, "consumed_capacity": 0.5}), encoding="utf-8"
    )
    found: dict[str, Any] = json.loads(run(CapacityOptions(format="json", logs=logs)))
    rows = [row for row in found["consumption"] if row["name"] == "order"]
    assert rows == [
        {
            "name": "order",
            "place": "table",
            "kind": "read",
            "per_second": 2_000.0,
            "each": 0.5,
            "remark": "",
            "eventual": True,
            "requests": 1,
            "units": 1_000.0,
        }
    ]
    assert found["prices"]["region"] == "us-east-1"
    assert found["measured"]["seconds"] == 60
    assert found["measured_bill"]["needs"] == [{"read": pytest.approx(0.5 / 60), "write": 0.0}]
    assert {"heat", "advice"} <= found["partitions"][0].keys()


def test_json_has_no_infinity(tmp_path: Path) -> None:
    traffic = tmp_path / "traffic.json"
    traffic.write_text(json.dumps({"cache_hits": 0}))
    found = json.loads(run(CapacityOptions(format="json", traffic=traffic)), parse_constant=pytest.fail)
    assert found["dax"][0]["break_even"] is None
    assert found["measured_bill"] is None


def test_the_picture_is_written(tmp_path: Path) -> None:
    picture = tmp_path / "costs.svg"
    run(CapacityOptions(svg=picture))
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        run(CapacityOptions(svg=picture / "costs.svg"))


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="`xml` is none of markdown, json"):
        run(CapacityOptions(format="xml"))
