"""E-mail addresses."""

import pytest

from gateway.errors import BadUserInput
from gateway.model.types import Email


@pytest.mark.parametrize("text", ["a@b.org", "first.last+tag@mail.example.com", "jürgen@müller.de", "o'neil@x-y.co.uk"])
def test_an_address_is_accepted(text: str) -> None:
    assert [*Email().faults("email", text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "not an email",
        "a@b",
        "@b.org",
        "a@",
        "a@@b.org",
        "a b@c.org",
        "a#b@c.org",
        "a@-b.org",
        "a@b..org",
        "x" * 65 + "@b.org",
        "",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    [fault] = Email().faults("email", text)
    assert fault.field == "email"
    with pytest.raises(BadUserInput):
        Email().key_text("email", text)


def test_case_and_spaces_around_it_do_not_matter() -> None:
    assert Email().normalised(" Case@X.Org ") == "case@x.org"
    assert Email().key_text("email", "Case@X.org") == Email().key_text("email", "case@x.org") == "case@x.org"
