"""Relay connections: cursors and `pageInfo` cost a call only when they are requested and not known already."""

from gateway.graph.query.reference.connection import RelayConnection
from gateway.graph.query.reference.reader import Reader
from gateway.store.plan import Window
from tests.graph.fixtures import MemoryEndpoint

ARGUMENTS = {"userId": "u-1001"}


async def connection(reader: Reader, window: Window) -> RelayConnection:
    listing = reader.model.listing("ordersOfUser")
    page = await reader.page(listing, ARGUMENTS, window, frozenset({"orderId"}))
    return RelayConnection(reader, listing, ARGUMENTS, window, page)


async def test_the_first_page_knows_its_page_info_without_another_call(reader: Reader, api: MemoryEndpoint) -> None:
    first = await connection(reader, Window(2))
    info = first.page_info
    assert (info.has_next_page, info.has_previous_page) == (True, False)
    assert [edge.node for edge in first.edges] == [*first.nodes] == [*first.page.items]
    assert (info.start_cursor, info.end_cursor) == (first.edges[0].cursor, first.edges[1].cursor)
    assert api.calls == ["Query"]


async def test_a_cursor_leads_to_the_position_of_its_item(reader: Reader) -> None:
    first = await connection(reader, Window(2))
    window = reader.window(first.listing, ARGUMENTS, 2, first.edges[1].cursor, None, None)
    assert window.after == first.nodes[1].position


async def test_what_lies_before_a_later_page_is_read(reader: Reader, api: MemoryEndpoint) -> None:
    first = await connection(reader, Window(2))
    second = await connection(reader, Window(2, after=first.nodes[1].position))
    before = second.page_info.has_previous_page
    assert not isinstance(before, bool)
    assert await before is True
    assert api.calls == ["Query"] * 3


async def test_a_page_that_starts_at_a_cursor_before_everything_has_no_previous_page(reader: Reader) -> None:
    first = await connection(reader, Window(1))
    backward = await connection(reader, Window(5, before=first.nodes[0].position, backward=True))
    assert backward.nodes == ()
    assert (backward.page_info.start_cursor, backward.page_info.end_cursor) == (None, None)
    assert backward.page_info.has_previous_page is False
    after = backward.page_info.has_next_page
    assert not isinstance(after, bool)
    assert await after is True
