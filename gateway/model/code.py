"""Fields with code: computed from an item's attributes, loaded for many items together, or custom queries.

The functions are plain Python. The attributes they get, what they return and what they cost is declared next to
them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.model.types import DOWNLOAD, AttributeType, Field


@dataclass(frozen=True, slots=True)
class DerivedField(Field):
    """A field of an entity that is not stored: its code gets the attributes in `needs`, and no others.

    A role that may not read one of them may not read the field either. With `required` the field is never null: if
    its code fails, the whole item is null.
    """

    required: bool = False
    needs: tuple[str, ...] = field(kw_only=True)
    arguments: tuple[Field, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Computed(DerivedField):
    """A pure function of the item: `run(values)`, or `run(values, arguments)` if it declares arguments.

    `values` has exactly `needs`, with None for attributes that the item does not have.
    """

    run: Callable[..., Any] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Loaded(DerivedField):
    """One call for all items of a level: `await load(reader, rows)`, or `load(reader, rows, arguments)`.

    `rows` has the `needs` of each item; items with equal values are one row. The result has a value for each row, in
    the same order; an exception instead of a value is the error of that row alone. `cost` is the price of one item,
    in capacity units.
    """

    load: Callable[..., Awaitable[Sequence[Any]]] = field(kw_only=True)
    cost: float = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomQuery:
    """A field of the query type: `await run(reader, arguments)`.

    `returns` is the name of an entity or a type. With `many` it returns a list of at most `max_items`. `cost` is the
    price of one call, in capacity units. Returned items must come from the reader.
    """

    name: str
    description: str
    returns: str | AttributeType
    run: Callable[..., Awaitable[Any]]
    cost: float
    many: bool = False
    max_items: int = 100
    arguments: tuple[Field, ...] = ()
    deprecated: str | None = None


def download_field(entity: str, attribute: str, needs: tuple[str, ...]) -> Loaded:
    """The download field of a file attribute; `needs` are the file and the attributes in its key in the bucket."""

    async def load(reader: Any, rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        # the caller's reader, which signs with the session of the request
        downloads: Sequence[Any] = reader.downloads(entity, attribute, rows)
        return downloads

    description = f"Where `{attribute}` can be downloaded; null if there is no file."
    return Loaded(f"{attribute}Download", DOWNLOAD, description, needs=needs, load=load, cost=0)
