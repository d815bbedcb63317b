"""What is logged of a request: ids that nobody can forge, and lines that stay short."""

import json
import logging
import re

import pytest

from gateway.graph.http.log_lines import JsonLines, RequestIds


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


def test_every_request_has_ids_of_its_own() -> None:
    ids = RequestIds()
    made = [ids.begin({}) for _ in range(1_000)]
    assert len({each.request_id for each in made} | {each.trace_id for each in made}) == 2_000
    assert all(re.fullmatch("[0-9a-f]{32}", text) for each in made for text in (each.request_id, each.trace_id))


def test_the_ids_of_the_caller_are_taken_over() -> None:
    trace = b"4bf92f3577b34da6a3ce929d0e0e4736"
    log = RequestIds().begin({b"x-request-id": b"abc-1", b"traceparent": b"00-%b-00f067aa0ba902b7-01" % trace})
    assert (log.request_id, log.trace_id) == ("abc-1", trace.decode())


@pytest.mark.parametrize("given", [b"", b"a b", b"a\n", b"x" * 65, "é".encode(), b'a"'])
def test_an_id_that_could_be_mistaken_is_not_taken_over(given: bytes) -> None:
    assert RequestIds().begin({b"x-request-id": given}).request_id.encode() != given
