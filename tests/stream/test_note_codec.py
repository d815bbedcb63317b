"""Messages of the bus that are not ours, or not whole, are malformed, whatever is wrong with them."""

import orjson
import pytest

from gateway.stream.note import ChangeNote
from gateway.stream.note_codec import MalformedMessage, Sent, messages_of, notes_of

NOTE = ChangeNote(
    *("acme", "Order", "primary", "TENANT#acme#ORDER#o-1", "META"), "created", frozenset({"total"}), {}, {}, "s", "7"
)
[MESSAGE] = messages_of([NOTE], Sent())
CONTENT = orjson.loads(MESSAGE.content)


def test_a_message_has_the_notes_that_were_sent() -> None:
    [note] = notes_of("acme", MESSAGE.content, "s", 7)
    assert note == NOTE


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        orjson.dumps({**CONTENT, "v": 2}),
        orjson.dumps({name: value for name, value in CONTENT.items() if name != "notes"}),
        orjson.dumps({**CONTENT, "notes": None}),
        orjson.dumps({**CONTENT, "notes": [1]}),
        orjson.dumps({**CONTENT, "notes": [{**CONTENT["notes"][0], "pk": 1}]}),
        orjson.dumps({**CONTENT, "notes": [{**CONTENT["notes"][0], "pk": "TENANT#globex#ORDER#o-1"}]}),
    ],
    ids=["no JSON", "a list", "later", "no notes", "null", "a number", "no text", "of another tenant"],
)
def test_anything_else_is_malformed(content: bytes) -> None:
    with pytest.raises(MalformedMessage):
        notes_of("acme", content, "s", 7)
