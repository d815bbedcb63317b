"""The reads of a lane during its preparation: each has typed rows, and reads that may overlap share their results."""

from collections.abc import Iterable, Sequence

from gateway.graph.query.lane.items import ItemsRead
from gateway.graph.query.lane.listing import ListingRead, PartitionRead
from gateway.graph.query.lane.rows import RowType
from gateway.graph.query.lane.source import LaneTable
from gateway.graph.query.tree import ItemSelection
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.table import Index
from gateway.store.plan import Attributes, QueryPartition

# measured: the typed rows of one read with their decoders and texts, and one generated function with its results
READ_BYTES, FUNCTION_BYTES = 16_000, 4_000


class Reads:
    def __init__(self, model: Model, source: LaneTable, denied: Attributes) -> None:
        self._model = model
        self._source = source
        self._denied = denied
        self._items: dict[tuple[str, bool], list[ItemsRead]] = {}
        self._listings: dict[str, list[ListingRead]] = {}
        self._collections: list[PartitionRead] = []
        self.size = 0  # approximate memory of what was prepared so far, in bytes

    def share(self) -> None:
        """Decides which reads share results, once all reads are known: only those that may overlap."""
        for items in self._items.values():
            for item in items:
                item.remembers = len(items) > 1
        for pages in self._listings.values():
            for page in pages:
                page.remembers = len(pages) > 1
                if page.items is not None:
                    page.items.remembers = page.remembers
        for collection in self._collections:
            collection.remembers = len(self._collections) > 1

    def rows(
        self, items: Sequence[ItemSelection], index: Index | None = None, also: dict[str, Attributes] | None = None
    ) -> RowType:
        self.size += READ_BYTES
        position, table, denied = self._model.table.sk if index is None else index.sk, self._source.table, self._denied
        requested = frozenset[str]().union(*(item.attributes for item in items), *(also or {}).values())
        through = table.stored_names(requested - denied, index, tuple(also or ())).through is not None
        return RowType(self._model, items, position, also=also or {}, denied=denied, through=index if through else None)

    def listing_rows(self, listing: Listing, items: Sequence[ItemSelection], also: Attributes = frozenset()) -> RowType:
        place = self._model.place(listing)
        return self.rows(items, self._model.table.index(place.index), {listing.entity: also})

    def items(
        self, entity: Entity, rows: RowType, items: Iterable[ItemSelection], *, strong: bool, by_id: bool = False
    ) -> ItemsRead:
        attributes = frozenset[str]().union(*(item.attributes for item in items))
        read = ItemsRead(self._source, entity, rows, attributes, strong=strong, by_id=by_id)
        self._items.setdefault((entity.name, strong), []).append(read)
        return read

    def listing(self, listing: Listing, rows: RowType, requested: Attributes) -> ListingRead:
        read = self.unshared(listing, rows, requested)
        self._listings.setdefault(listing.name, []).append(read)
        return read

    def unshared(self, listing: Listing, rows: RowType, requested: Attributes) -> ListingRead:
        """Returns a read that no other read of the operation can overlap with."""
        return ListingRead(self._source, listing, rows, requested)

    def collection(self, plan: QueryPartition, rows: RowType) -> PartitionRead:
        """Returns a read of an item with its collection in one Query."""
        read = PartitionRead(self._source, plan, rows)
        self._collections.append(read)
        return read
