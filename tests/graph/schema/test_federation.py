"""The subgraph is the same schema with the marks of a federation; that it composes is tried in tests/clients."""

from graphql import GraphQLInterfaceType, build_schema, print_schema

from gateway.graph.schema.federation import subgraph
from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA

# what a router knows without being told
PRELUDE = """
  scalar FieldSet
  directive @link(url: String!, import: [String!]) repeatable on SCHEMA
  directive @key(fields: FieldSet!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
  directive @shareable repeatable on OBJECT | FIELD_DEFINITION
"""
SDL = subgraph(SCHEMA.as_str())


def test_it_is_valid_and_otherwise_the_same_schema() -> None:
    built = build_schema(PRELUDE + SDL)
    own = print_schema(core_schema(SCHEMA))
    for name in core_schema(SCHEMA).type_map:
        if not name.startswith("__"):
            assert name in built.type_map
    assert own.count("\ntype ") == SDL.count("\ntype ")
    assert own.count('"""') == SDL.count('"""')


def test_every_node_is_an_entity_that_other_subgraphs_may_extend() -> None:
    core = core_schema(SCHEMA)
    node = core.type_map["Node"]
    assert isinstance(node, GraphQLInterfaceType)
    names = {kind.name for kind in core.get_possible_types(node)}
    assert names
    for name in names:
        assert f'type {name} implements Node @key(fields: "id", resolvable: false) {{' in SDL
    assert SDL.count("@key(fields") == len(names)
    assert "type PageInfo @shareable {" in SDL


def test_it_says_which_federation_it_belongs_to() -> None:
    assert SDL.startswith('extend schema @link(url: "https://specs.apollo.dev/federation/v2.3"')
