import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gateway.errors import ConfigurationError
from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.measured import Measured, MeasuredOperation, read_logs
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from gateway.ops.capacity.report import check_format, page, show
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()


def text(measured: Measured | None = None, **assumed: object) -> str:
    return page(plan(MODEL, Assumptions.model_validate(assumed), PRICES, measured))


def test_the_page_has_every_section() -> None:
    headings = re.findall(r"^#+ (.*)$", text(), flags=re.MULTILINE)
    assert headings == [
        "Capacity",
        "What each pattern and write takes",
        "What the table and each index need",
        "What a month costs",
        "The busiest partitions",
        "Would DAX pay?",
        "What an audit trail costs",
        "What runs around the table",
    ]


def test_prices_stand_with_their_date_and_source() -> None:
    assert f"as of {PRICES.as_of}" in text()
    assert PRICES.source in text()


def test_every_pattern_has_a_row() -> None:
    assert "| order | table | 2,000/s | 0.5 | 1,000.0 RCU |  |" in text()


def test_amplification_is_reported() -> None:
    quiet = text(writes_per_read=0)
    assert "0.0 writes a second become 0.0 WCU" in quiet
    writes = {
        "Reading": {"per_second": 500, "item_bytes": 2_560, "transactional": False, "record": False},
    }
    assert "500.0 writes a second become 1,500.0 WCU, 3.0 for each write" in text(writes_per_read=0, writes=writes)


def test_every_hot_partition_is_shown_with_advice() -> None:
    hot = text(writes={"Order": {"per_second": 40_000, "item_bytes": 500, "moves": 0}})
    assert "| hot | 9 shards instead of 4 |" in hot
    assert "| hot |" not in text(writes_per_read=0)


def test_dax_comes_with_its_warning() -> None:
    assert "DAX does not isolate tenants" in text()


def test_the_cheapest_mode_is_one_that_can_be_left_again() -> None:
    """A reservation for years may cost less, and the table says so."""
    assert "Cheapest without a commitment: " in text()


def test_storage_and_a_break_even_out_of_reach_are_reported() -> None:
    assert "| storage | 25.00 | in every mode |" in text(storage_gb=125)
    assert "is never cheaper" in text(utilisation=0.2)


def test_what_was_measured_is_a_section_of_its_own() -> None:
    operations = tuple(MeasuredOperation(f"Op{number}", 2, 4, 3.0) for number in range(20))
    found = text(Measured(120, operations, Need(0.5, 0), Need(1, 0), skipped=3))
    assert "40 operations in 2.0 minutes;" in found
    assert "| Op0 | 2 | 2.0 | 1.50 | 3.0 |" in found
    assert "| Op19 |" not in found
    assert "3 other lines were left out." in found


def shown(output: str = "markdown", measured: Measured | None = None, *, terminal: bool = False, **assumed: Any) -> str:
    console = Console(file=io.StringIO(), width=160, force_terminal=terminal)
    show(plan(MODEL, Assumptions(**assumed), PRICES, measured), output, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_file_gets_markdown_and_a_terminal_gets_it_rendered() -> None:
    assert shown().startswith("# Capacity\n")
    rendered = shown(terminal=True)
    assert "Would DAX pay?" in rendered
    assert "| --- |" not in rendered


def test_json_has_the_same_figures(tmp_path: Path) -> None:
    logs = tmp_path / "gateway.log"
    logs.write_text(
        json.dumps({"time": "2026-11-16T10:00:00Z", "dynamodb_calls": 1, "consumed_capacity": 0.5}), encoding="utf-8"
    )
    found: dict[str, Any] = json.loads(shown("json", read_logs(logs)))
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


def test_json_has_no_infinity() -> None:
    found = json.loads(shown("json", cache_hits=0), parse_constant=pytest.fail)
    assert found["dax"][0]["break_even"] is None
    assert found["measured_bill"] is None


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="`xml` is not one of markdown, json"):
        check_format("xml")
