import json
import logging
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.graph.http.log_lines import OPERATIONS, JsonLines, RequestIds
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.measured import UNNAMED, MeasuredOperation, measure, read_logs


def line(second: int, units: float, operation: str | None = "Orders", calls: int = 2, **more: Any) -> str:
    at = f"2026-11-16T10:{second // 60:02}:{second % 60:02}.000Z"
    return json.dumps({"time": at, "operation": operation, "dynamodb_calls": calls, "consumed_capacity": units, **more})


def test_operations_are_summed_up_by_name() -> None:
    found = measure([line(0, 1.5), line(30, 2.5), line(120, 1, None, 1)])
    assert found.operations == (MeasuredOperation("Orders", 2, 4, 4.0), MeasuredOperation(UNNAMED, 1, 1, 1.0))
    assert (found.operations[0].calls_each, found.operations[0].units_each) == (2, 2)


def test_rates_are_of_the_whole_time_and_of_the_fullest_minute() -> None:
    found = measure([line(0, 60), line(30, 60), line(240, 30), line(600, 0)])
    assert found.seconds == 600
    assert found.average == Need(read=0.25)
    assert found.busiest == Need(read=2)


def test_mutations_count_as_writes() -> None:
    found = measure([line(0, 6), line(10, 12, "Place", operation_type="mutation")])
    # less than a minute is taken as one
    assert (found.average, found.busiest) == (Need(0.1, 0.2), Need(0.1, 0.2))


def test_other_lines_are_counted_and_left_out() -> None:
    noise = ["", "\n", "plain text", "[1]", '{"level": "INFO"}', line(0, 1).replace("2026", "never"), '{"time": 5}']
    found = measure([*noise, line(0, 1)])
    assert (len(found.operations), found.skipped) == (1, 5)


@pytest.mark.parametrize(
    "spoilt",
    [
        line(0, float("nan")),
        line(0, float("inf")),
        line(0, -5),
        line(0, 1, calls=-1),
        line(0, 1, dynamodb_calls=float("inf")),
        line(0, 1)[:-5],
        "[" * 100_000,
    ],
    ids=["no number", "infinite", "negative", "negative calls", "infinite calls", "cut off", "deep"],
)
def test_a_spoilt_line_is_left_out_and_spoils_no_sum(spoilt: str) -> None:
    found = measure([spoilt, line(0, 6), line(60, 6)])
    assert (found.skipped, found.average) == (1, Need(read=0.2))


def test_what_stands_before_a_line_is_overlooked() -> None:
    found = measure([f"2026-11-16T10:00:00 {line(0, 6)}", f"gateway-1  | {line(1, 6)}"])
    assert (found.skipped, found.busiest) == (0, Need(read=0.2))


def test_a_log_without_operations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gateway.log"
    path.write_text("hello\n")
    with pytest.raises(ConfigurationError, match="holds no operation line"):
        read_logs(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_logs(tmp_path / "absent.log")


def test_the_gateways_own_lines_are_understood(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, OPERATIONS.name):
        RequestIds().begin({}).write(200, [])
    found = measure([JsonLines().format(record) for record in caplog.records])
    assert [(each.name, each.count, each.units) for each in found.operations] == [(UNNAMED, 1, 0.0)]
