"""The pages of a compiled query as JSON: edges, nodes and page info around items that are shaped already."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from gateway.graph.connection import Connection, Edge
from gateway.graph.shape import ConnectionShape, EdgeShape, PageInfoShape, Shape

Out = dict[str, Any]


def item_shapes(shape: ConnectionShape) -> list[Shape]:
    """The selections on the items, in the order in which `page_out` takes their columns."""
    found: list[Shape] = []
    for _, field in shape.fields:
        if isinstance(field, Shape):
            found.append(field)
        elif isinstance(field, EdgeShape):
            found += [part for _, part in field.fields if isinstance(part, Shape)]
    return found


async def page_out(shape: ConnectionShape, connection: Connection, columns: list[Any]) -> Out:
    """`columns` hold the shaped items of every page, one column for each selection on the items."""
    out: Out = {}
    count, column = len(connection.page.items), iter(columns)
    for key, field in shape.fields:
        match field:
            case Shape():
                shaped = next(column)
                out[key] = [next(shaped) for _ in range(count)]
            case EdgeShape():
                out[key] = _edges(field, connection, column)
            case PageInfoShape():
                out[key] = await _page_info(field, connection)
            case str():
                out[key] = field
    return out


def _edges(shape: EdgeShape, connection: Connection, column: Any) -> list[Out]:
    makers: list[tuple[str, Callable[[Edge], Any]]] = []
    for key, part in shape.fields:
        if isinstance(part, Shape):
            makers.append((key, _taken_from(next(column))))
        elif part == "cursor":
            makers.append((key, lambda edge: edge.cursor))
        else:
            makers.append((key, _always(part[1:])))
    return [{key: make(edge) for key, make in makers} for edge in connection.edges]


def _taken_from(shaped: Iterator[Out]) -> Callable[[Edge], Any]:
    return lambda _: next(shaped)


def _always(text: str) -> Callable[[Edge], Any]:
    return lambda _: text


async def _page_info(shape: PageInfoShape, connection: Connection) -> Out:
    info, out = connection.page_info, {}
    for key, name in shape.fields:
        value: Any = name[1:] if name.startswith("=") else getattr(info, name)
        out[key] = await value if inspect.isawaitable(value) else value
    return out
