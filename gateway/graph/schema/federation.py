"""The schema as a subgraph of an Apollo Federation: nodes are entities to which other subgraphs may add fields.

Their key is the global id. It is not resolvable here, since there is no `_entities`: a router enters this graph by its
root fields, with the caller's token, and goes on from a node to what other subgraphs know of it, but not back.
"""

from dataclasses import replace
from typing import Any

from graphql import (
    ConstDirectiveNode,
    DocumentNode,
    ObjectTypeDefinitionNode,
    parse,
    print_ast,
)

_LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])'
_ENTITY = '@key(fields: "id", resolvable: false)'
_SHARED = "@shareable"  # every graph with connections has it
_SHARED_TYPES = frozenset({"PageInfo"})


def subgraph(sdl: str) -> str:
    link, *nodes = parse(f"{_LINK}\n{sdl}", no_location=True).definitions
    return print_ast(DocumentNode(definitions=(link, *map(_marked, nodes)))) + "\n"


def _marked(node: Any) -> Any:
    if isinstance(node, ObjectTypeDefinitionNode):
        if any(interface.name.value == "Node" for interface in node.interfaces or ()):
            return replace(node, directives=(*(node.directives or ()), _directive(_ENTITY)))
        if node.name.value in _SHARED_TYPES:
            return replace(node, directives=(*(node.directives or ()), _directive(_SHARED)))
    return node


def _directive(text: str) -> ConstDirectiveNode:
    (node,) = parse(f"type T {text}", no_location=True).definitions
    assert isinstance(node, ObjectTypeDefinitionNode)  # noqa: S101  what was written above
    (directive,) = node.directives or ()
    return directive
