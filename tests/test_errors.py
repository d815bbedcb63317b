import inspect
import re

import pytest

from gateway import errors
from gateway.errors import ConfigurationError, GatewayError

_LINE = re.compile(r"^ {4}(?P<stem>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?P<code>[A-Z_]+)(?: {2,}(?P<meaning>.+))?$")
CLASSES: dict[str, type[GatewayError]] = {
    name: value for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, GatewayError)
}
TREE = [found for line in (errors.__doc__ or "").splitlines() if (found := _LINE.match(line))]


def drawn_parents() -> dict[str, str]:
    """Each class of the drawing with the one it hangs under."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in TREE:
        depth = len(line["stem"]) // 4
        path[depth:] = [line["name"]]
        if depth:
            parents[line["name"]] = path[depth - 1]
    return parents


def test_the_drawing_shows_every_class_where_it_belongs() -> None:
    assert {line["name"] for line in TREE} == set(CLASSES)
    assert drawn_parents() == {
        name: parent.__name__ for name, kind in CLASSES.items() if (parent := kind.__mro__[1]) is not Exception
    }


@pytest.mark.parametrize("line", TREE, ids=lambda line: line["name"])
def test_the_drawing_shows_the_code_of_every_class(line: re.Match[str]) -> None:
    assert CLASSES[line["name"]].code == line["code"]


@pytest.mark.parametrize("line", TREE[1:], ids=lambda line: line["name"])
def test_the_drawing_says_what_every_class_means(line: re.Match[str]) -> None:
    assert line["meaning"]
    assert not line["meaning"].endswith(".")


def test_an_error_carries_its_message() -> None:
    error = errors.BadUserInput("`first` is negative")
    assert (error.message, str(error), error.code) == ("`first` is negative", "`first` is negative", "BAD_USER_INPUT")


def test_a_configuration_error_carries_every_fault() -> None:
    error = ConfigurationError(["one", "two"])
    assert error.faults == ["one", "two"]
    assert error.message == "one; two"
