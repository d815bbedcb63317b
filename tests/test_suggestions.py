"""What a message offers instead of a name that is not declared."""

import pytest

from gateway.suggestions import closest


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("sortname", ": did you mean `sortName`?"),
        ("mail", ": did you mean `email`?"),
        ("colour", ": name one of email, sortName"),
    ],
)
def test_the_closest_name_or_all_of_them(name: str, end: str) -> None:
    assert closest(name, {"sortName", "email"}) == end


def test_nothing_is_offered_where_nothing_is_declared() -> None:
    assert closest("name", set()) == ""
