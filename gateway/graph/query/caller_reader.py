"""The reader for a domain's own code: the lookups and listings of the model, as the caller of the request."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gateway.errors import Internal
from gateway.model.entity import Entity
from gateway.model.patterns import Lookup, parameters
from gateway.model.tenant import TenantId
from gateway.store.files.item_files import downloads
from gateway.store.plan import Attributes
from gateway.store.rows import Item

if TYPE_CHECKING:
    from gateway.graph.query.reference.reader import Reader

Key = Mapping[str, Any]


class CallerReader:
    """INVARIANT: it reads with the session of one request; none of its arguments names a tenant or a role.

    Items have all of their attributes. `item["email"]` raises if the role may not read it.
    """

    __slots__ = ("_found", "_reader")

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._found: dict[int, Item] = {}

    @property
    def tenant(self) -> TenantId:
        return self._reader.tenant

    @property
    def role(self) -> str:
        return self._reader.access.session.role

    @property
    def subject(self) -> str:
        """The subject of the token."""
        return self._reader.access.subject

    @property
    def deadline(self) -> float | None:
        """When the request times out, on the clock of the event loop."""
        return self._reader.access.deadline

    def ran_code(self, field: str, rows: int, started: float) -> None:
        """Records for `explain` that this field's code was called for a number of rows."""
        self._reader.access.ran_code(field, rows, started)

    async def find(self, entity: str, key: Key) -> Item | None:
        """Reads one item by its key; returns None if it is missing."""
        [item] = await self.many(entity, [key])
        return item

    async def many(self, entity: str, keys: Sequence[Key]) -> list[Item | None]:
        """Reads items by their keys, in the same order; concurrent requests share one batch."""
        items = await self._reader.items(self._lookup(entity), keys, self._everything(entity))
        return [self._handed(item) for item in items]

    async def listed(self, listing: str, arguments: Key, first: int | None = None) -> list[Item]:
        """Reads the first items of a listing."""
        pattern = self._reader.model.listing(listing)
        allowed = {*parameters(self._reader.model, pattern), *((pattern.between,) if pattern.between else ())}
        unknown = sorted(set(arguments) - allowed)
        if unknown:
            raise Internal(f"the listing {listing} does not take {unknown}; it takes {sorted(allowed)}")
        window = self._reader.window(pattern, arguments, first, None, None, None)
        page = await self._reader.page(pattern, arguments, window, self._everything(pattern.entity))
        return [self._handed(item) for item in page.items]

    def downloads(self, entity: str, attribute: str, rows: Sequence[Key]) -> list[Any]:
        """Signs a URL for the file of each row; the rows must have the attributes of its key."""
        return downloads(self._reader.access, self._reader.model.entities[entity], attribute, rows)

    def has_found(self, item: object) -> bool:
        """Whether this reader has read the item, so that the caller may see it."""
        return item is not None and self._found.get(id(item)) is item

    def _lookup(self, entity: str) -> Lookup:
        patterns = self._reader.model.patterns.values()
        lookup = next(
            (pattern for pattern in patterns if isinstance(pattern, Lookup) and pattern.entity == entity), None
        )
        if lookup is None:
            raise Internal(f"no lookup reads {entity}")
        return lookup

    def _everything(self, entity: str) -> Attributes:
        declared: Entity = self._reader.model.entities[entity]
        return frozenset((*declared.attribute, self._reader.model.table.version))

    def _handed(self, item: Any) -> Any:
        if item is not None:
            self._found[id(item)] = item
        return item
