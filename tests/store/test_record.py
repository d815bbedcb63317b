"""A record is a view of an item: its values by name, None where absent, an error where nothing is declared."""

import pytest

from gateway.store.record import Record
from gateway.store.rows import Item


class Ticket(Record):
    ticketId: str  # noqa: N815
    note: str | None


def test_attributes_are_the_values_of_the_item() -> None:
    item = Item("Ticket", {"ticketId": "t-1", "version": 3}, "")
    ticket = Ticket(item)
    assert (ticket.ticketId, ticket.note, ticket.version) == ("t-1", None, 3)
    assert ticket.as_item is item


def test_what_is_not_declared_is_an_attribute_error() -> None:
    ticket = Ticket(Item("Ticket", {"ticketId": "t-1", "secret": "s"}, ""))
    with pytest.raises(AttributeError, match="Ticket has no attribute `secret`"):
        getattr(ticket, "secret")  # noqa: B009  a type checker would refuse it


def test_its_text_has_no_values() -> None:
    assert repr(Ticket(Item("Ticket", {"ticketId": "t-1"}, ""))) == "Ticket(...)"
