"""Parts of a request: keys are texts, and never an empty set."""

import pytest

from gateway.iam.dynamodb import wire
from gateway.iam.dynamodb.errors import NotUnderstood


@pytest.mark.parametrize("values", [(), ([],), (["a"], []), (["a"], ["b"], ["c"], ["d"], ["e"])])
def test_an_empty_or_unknown_set_of_keys_is_not_understood(values: tuple[list[str], ...]) -> None:
    with pytest.raises(NotUnderstood, match="partition keys are not known"):
        wire.leading(*values)


def test_keys_are_a_set_without_doubles() -> None:
    found = wire.leading(["b", "a", "b"], ["c"])
    assert found["dynamodb:LeadingKeys"] == found["dynamodb:FirstPartitionKeyValues"] == ("b", "a")
    assert found["dynamodb:SecondPartitionKeyValues"] == ("c",)


@pytest.mark.parametrize(
    ("value", "text"), [({"S": "a"}, "a"), ({"N": "1.0"}, "1.0"), ({"N": "1"}, "1"), ({"B": "YQ=="}, "YQ==")]
)
def test_a_key_has_the_text_in_which_it_is_sent(value: dict[str, str], text: str) -> None:
    assert wire.key_text({"PK": value}, "PK") == text
    assert wire.key_texts([{"PK": value}, {"PK": {"S": "z"}}], "PK") == [text, "z"]
