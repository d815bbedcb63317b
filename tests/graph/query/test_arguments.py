"""Arguments as values of the model: absent ones stay absent, structs lose what is null, sets are sets."""

from gateway.graph.query.arguments import model_values
from gateway.model.types import Field, Integer, KeyString, ListOf, SetOf, Struct, Text

LINE = Struct("Line", (Field("text", Text(), "The text."), Field("count", Integer(), "How many.")), "A line.")
FIELDS = (
    Field("label", Text(), "The label."),
    Field("line", LINE, "A line."),
    Field("lines", ListOf(LINE), "Lines."),
    Field("tags", SetOf(KeyString()), "Tags."),
)


def test_an_absent_argument_stays_absent_and_null_is_none() -> None:
    assert model_values(FIELDS, {}) == {}
    assert model_values(FIELDS, {"label": None, "line": None, "unknown": 1}) == {"label": None, "line": None}


def test_a_struct_has_no_members_that_are_null_at_any_depth() -> None:
    values = model_values(FIELDS, {"line": {"text": "x", "count": None}, "lines": [{"text": None, "count": 2}]})
    assert values == {"line": {"text": "x"}, "lines": [{"count": 2}]}


def test_a_set_has_each_value_once_and_an_empty_one_is_none() -> None:
    assert model_values(FIELDS, {"tags": ["a", "b", "a"]}) == {"tags": frozenset({"a", "b"})}
    assert model_values(FIELDS, {"tags": []}) == {"tags": None}
