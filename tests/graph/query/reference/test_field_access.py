"""Which attributes a role may read: the others are left out of calls, explained, and errors of their fields."""

from typing import Any

import pytest

from gateway.errors import Forbidden
from gateway.graph.query.reference.field_access import FieldAccess
from gateway.store.rows import Item
from tests.graph.query.reference.conftest import MakeReader

ATTRIBUTES = frozenset({"userId", "name", "email"})


async def access_of(reader_for: MakeReader, role: str) -> FieldAccess:
    reader = await reader_for(role)
    return FieldAccess(reader.model, reader.access)


def user(**values: Any) -> Item:
    return Item("User", {"userId": "u-1", "name": "Ada", "email": "ada@shop.example", **values}, "")


@pytest.mark.parametrize(("role", "denied"), [("viewer", set()), ("support", {"name", "email"})])
async def test_denied_attributes_are_those_of_the_policies(reader_for: MakeReader, role: str, denied: set[str]) -> None:
    access = await access_of(reader_for, role)
    assert access.denied(ATTRIBUTES).keys() == denied
    assert access.readable(ATTRIBUTES, "Query") == ATTRIBUTES - denied


async def test_what_a_call_leaves_out_is_explained(reader_for: MakeReader) -> None:
    reader = await reader_for("support")
    FieldAccess(reader.model, reader.access).readable(ATTRIBUTES, "GetItem")
    assert {refusal.what for refusal in reader.access.refusals} == {"name", "email"}
    assert all(refusal.reason for refusal in reader.access.refusals)


async def test_a_denied_attribute_is_an_error_and_the_rest_stays(reader_for: MakeReader) -> None:
    access, item = await access_of(reader_for, "support"), user()
    access.refuse(item, ATTRIBUTES, "GetItem")
    access.refuse(None, ATTRIBUTES, "GetItem")
    assert item.values["userId"] == "u-1"
    assert isinstance(item.values["email"], Forbidden)
    assert item.values["email"].message == "the role `support` may not read `email`"


async def test_an_attribute_that_the_entity_does_not_have_is_not_added(reader_for: MakeReader) -> None:
    access, item = await access_of(reader_for, "support"), user()
    access.refuse(item, frozenset({"note"}), "Query")
    assert "note" not in item.values


@pytest.mark.parametrize(("role", "hidden"), [("editor", False), ("support", True)])
async def test_a_written_item_is_as_a_read_would_return_it(reader_for: MakeReader, role: str, hidden: bool) -> None:
    access, item = await access_of(reader_for, role), user()
    access.refuse_written(item)
    assert isinstance(item.values["name"], Forbidden) is hidden
