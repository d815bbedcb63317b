"""The texts of a lane's requests: cut at their slots, and filled with texts that stand for themselves in JSON."""

import json

import msgspec
import pytest

from gateway.graph.query.lane.source import compact, escaped, pieces


@pytest.mark.parametrize("text", ["", "TENANT#acme#USER#1", 'a "quote"', "a\\b", "a\nb", "é€𝄞", "\x00\x1f\x7f"])
def test_an_escaped_text_reads_as_itself(text: str) -> None:
    assert json.loads(f'"{escaped(text)}"') == text


def test_a_part_of_an_answer_is_sent_without_spaces() -> None:
    assert compact(msgspec.Raw(b'{ "PK" : { "S" : "a b" } }')) == '{"PK":{"S":"a b"}}'


def test_a_request_is_cut_at_its_marks_in_order() -> None:
    assert pieces({"Key": {"PK": "<pk>", "SK": "<sk>"}}, "<pk>", "<sk>") == ['{"Key":{"PK":"', '","SK":"', '"}}']
    assert pieces({"Limit": 1}) == ['{"Limit":1}']
    with pytest.raises(AssertionError):
        pieces({"Limit": 1}, "<pk>")
