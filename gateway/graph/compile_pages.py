"""The selection on a connection, compiled: edges, nodes and page info around the shape of an item."""

from collections.abc import Callable
from typing import Any

from graphql import FieldNode, GraphQLObjectType, get_named_type

from gateway.graph.flattened import Unsupported
from gateway.graph.shape import ConnectionShape, EdgeShape, PageInfoShape, Shape

Below = Callable[[list[FieldNode], GraphQLObjectType], dict[str, list[FieldNode]]]
ShapeOf = Callable[[list[FieldNode], GraphQLObjectType], Shape]

_PAGE_INFO = {
    "hasNextPage": "has_next_page",
    "hasPreviousPage": "has_previous_page",
    "startCursor": "start_cursor",
    "endCursor": "end_cursor",
}


def connection_shape(below: Below, of: ShapeOf, nodes: list[FieldNode], owner: GraphQLObjectType) -> ConnectionShape:
    """`of` makes the shape of an item from what is selected on it."""
    fields: list[tuple[str, Any]] = []
    attributes: set[str] = set()
    for key, found in below(nodes, owner).items():
        name = found[0].name.value
        if name == "__typename":
            fields.append((key, owner.name))
            continue
        target = get_named_type(owner.fields[name].type)
        if not isinstance(target, GraphQLObjectType):
            raise Unsupported
        if name == "nodes":
            shape = of(found, target)
            attributes |= shape.attributes
            fields.append((key, shape))
        elif name == "edges":
            edge = _edge(below, of, found, target, attributes)
            fields.append((key, edge))
        elif name == "pageInfo":
            fields.append((key, _page_info(below, found, target)))
        else:
            raise Unsupported
    return ConnectionShape(tuple(fields), frozenset(attributes))


def _edge(
    below: Below, of: ShapeOf, nodes: list[FieldNode], owner: GraphQLObjectType, attributes: set[str]
) -> EdgeShape:
    fields: list[tuple[str, Any]] = []
    for key, found in below(nodes, owner).items():
        name = found[0].name.value
        if name == "node":
            target = get_named_type(owner.fields[name].type)
            if not isinstance(target, GraphQLObjectType):
                raise Unsupported
            shape = of(found, target)
            attributes |= shape.attributes
            fields.append((key, shape))
        else:
            fields.append((key, "cursor" if name == "cursor" else f"={owner.name}"))
    return EdgeShape(tuple(fields))


def _page_info(below: Below, nodes: list[FieldNode], owner: GraphQLObjectType) -> PageInfoShape:
    groups = below(nodes, owner)
    fields = ((key, _PAGE_INFO.get(found[0].name.value, f"={owner.name}")) for key, found in groups.items())
    return PageInfoShape(tuple(fields))
