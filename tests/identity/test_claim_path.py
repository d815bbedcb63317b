"""Where claims are found."""

import pytest

from gateway.identity.claim_path import claim_name, claim_path, find_claim
from gateway.identity.errors import TokenRefused

CLAIMS = {"a.b": {"c": 1}, "a": {"x": {"y": 2}}, "https://example.org/t": 3, "n": None, "list": [4]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a.b", "c"), 1),
        ("a.x.y", 2),
        (("a", "x", "y"), 2),
        ("https://example.org/t", 3),
        (("a", "b", "c"), None),
        (("list", "0"), None),
        (("n", "m"), None),
        ("gone", None),
    ],
)
def test_a_claim_is_found_by_name_by_dotted_path_or_by_the_list_of_names(
    path: str | tuple[str, ...], value: object
) -> None:
    assert find_claim(CLAIMS, path) == value


def test_a_name_that_can_be_read_in_two_ways_is_refused_and_a_list_of_names_cannot() -> None:
    both = {"a.b": 1, "a": {"b": 2}}
    with pytest.raises(TokenRefused, match="ambiguous"):
        find_claim(both, "a.b")
    assert (find_claim(both, ("a.b",)), find_claim(both, ("a", "b"))) == (1, 2)


def test_messages_show_a_path_with_dots() -> None:
    assert claim_name(claim_path(["a", "b"])) == "a.b"
    assert claim_name(claim_path("a:b")) == "a:b"
