"""Pages as Relay connections; cursors and the flags of `pageInfo` are computed only when they are requested."""

from collections.abc import Awaitable
from dataclasses import dataclass

from gateway.graph.query.reference.reader import Arguments, Reader
from gateway.model.patterns import Listing
from gateway.store.plan import Window
from gateway.store.read_through import Page
from gateway.store.rows import Item


@dataclass(frozen=True, slots=True)
class RelayConnection:
    reader: Reader
    listing: Listing
    arguments: Arguments
    window: Window
    page: Page

    @property
    def nodes(self) -> tuple[Item, ...]:
        return self.page.items

    @property
    def edges(self) -> list["Edge"]:
        return [Edge(self, item) for item in self.page.items]

    @property
    def page_info(self) -> "PageInfo":
        return PageInfo(self)

    @property
    def total_count(self) -> Awaitable[int]:
        return self.reader.count(self.listing, self.arguments)

    def cursor(self, item: Item) -> str:
        return self.cursor_at(item.position)

    def cursor_at(self, position: str) -> str:
        return self.reader.cursor(self.listing, self.arguments, position)


@dataclass(frozen=True, slots=True)
class Edge:
    connection: RelayConnection
    node: Item

    @property
    def cursor(self) -> str:
        return self.connection.cursor(self.node)


@dataclass(frozen=True, slots=True)
class PageInfo:
    connection: RelayConnection

    @property
    def start_cursor(self) -> str | None:
        page = self.connection.page
        if page.reached is not None and self.connection.window.backward:
            return self.connection.cursor_at(page.reached)
        return self.connection.cursor(page.items[0]) if page.items else None

    @property
    def end_cursor(self) -> str | None:
        page = self.connection.page
        if page.reached is not None and not self.connection.window.backward:
            return self.connection.cursor_at(page.reached)
        return self.connection.cursor(page.items[-1]) if page.items else None

    @property
    def has_next_page(self) -> bool | Awaitable[bool]:
        window = self.connection.window
        if not window.backward and self.connection.page.more:
            return True
        return self._beyond_end() if window.before is not None else False

    @property
    def has_previous_page(self) -> bool | Awaitable[bool]:
        window = self.connection.window
        if window.backward and self.connection.page.more:
            return True
        return self._beyond_start() if window.after is not None else False

    async def _beyond_start(self) -> bool:
        """Reads whether the list has items before this page, which a cursor alone does not show."""
        items = self.connection.page.items
        return await self._probe(self._outside(before=items[0].position if items else None, backward=True))

    async def _beyond_end(self) -> bool:
        items = self.connection.page.items
        return await self._probe(self._outside(after=items[-1].position if items else None))

    def _outside(self, *, after: str | None = None, before: str | None = None, backward: bool = False) -> Window:
        return Window(0, after, before, backward, self.connection.window.reverse)

    async def _probe(self, window: Window) -> bool:
        listing, arguments = self.connection.listing, self.connection.arguments
        page = await self.connection.reader.page(listing, arguments, window, frozenset())
        return page.more
