"""Log lines: JSON, in UTC, without anything that could be mistaken."""

import json
import logging
import sys

import pytest

from gateway.graph.http.log_lines import JsonLines
from gateway.graph.http.request_log import RequestIds


def _line(**extra: object) -> dict[str, object]:
    record = logging.LogRecord("gateway", logging.INFO, "file", 1, "said %s", ("\nthis",), None)
    for name, value in extra.items():
        setattr(record, name, value)
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, object] = json.loads(text)
    return found


def test_a_record_is_one_json_line() -> None:
    line = _line(fields={"tenant": "acme"}, request_id="r-1")
    assert line["message"] == "said \nthis"
    assert (line["tenant"], line["request_id"]) == ("acme", "r-1")
    assert str(line["time"]).endswith("Z")


def test_an_exception_is_part_of_the_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        line = _line(exc_info=sys.exc_info())
    assert "boom" in str(line["exception"])


def test_ids_are_made_where_the_caller_sends_none() -> None:
    one, other = RequestIds().begin({}), RequestIds().begin({b"traceparent": b"00-zz", b"x-request-id": b"x" * 65})
    assert one.request_id != other.request_id
    assert len(other.trace_id) == 32


def test_many_failures_do_not_make_a_line_long(caplog: pytest.LogCaptureFixture) -> None:
    entry = RequestIds().begin({})
    with caplog.at_level(logging.INFO, "gateway.operation"):
        entry.write(200, ["BAD_USER_INPUT", *["FORBIDDEN"] * 10_000])
    [record] = caplog.records
    line = JsonLines().format(record)
    assert len(line) < 2_000
    assert json.loads(line)["codes"] == ["BAD_USER_INPUT", "FORBIDDEN"]
