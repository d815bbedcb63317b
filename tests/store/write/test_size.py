"""The size of an item: what DynamoDB would refuse is refused before it is sent."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import LimitExceeded
from gateway.store.write.items import MAX_ITEM_BYTES, check_size, item_bytes

_TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
_NUMBER = st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str)
_BYTES = st.sampled_from(["", "AA==", "AAAA", "AAAAAAAA"])
_LEAVES = st.one_of(
    st.fixed_dictionaries({"S": _TEXT}),
    st.fixed_dictionaries({"N": _NUMBER}),
    st.fixed_dictionaries({"B": _BYTES}),
    st.fixed_dictionaries({"BOOL": st.booleans()}),
    st.fixed_dictionaries({"NULL": st.just(True)}),
    st.fixed_dictionaries({"SS": st.lists(_TEXT, max_size=4)}),
    st.fixed_dictionaries({"NS": st.lists(_NUMBER, max_size=4)}),
    st.fixed_dictionaries({"BS": st.lists(_BYTES, max_size=4)}),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"L": st.lists(inner, max_size=4)}),
        st.fixed_dictionaries({"M": st.dictionaries(_TEXT, inner, max_size=4)}),
    ),
    max_leaves=12,
)


@given(st.dictionaries(_TEXT, _VALUES, max_size=6))
def test_an_item_is_never_larger_than_its_json(item: dict[str, Any]) -> None:
    """So that only what is large as JSON has to be counted."""
    assert item_bytes(item) <= len(orjson.dumps(item))


def test_an_item_may_have_all_bytes_that_dynamodb_allows_and_not_one_more() -> None:
    check_size("Note", {"text": {"S": "x" * (MAX_ITEM_BYTES - len("text"))}})
    with pytest.raises(LimitExceeded, match=f"this Note has {MAX_ITEM_BYTES + 1} bytes"):
        check_size("Note", {"text": {"S": "x" * (MAX_ITEM_BYTES - len("text") + 1)}})
