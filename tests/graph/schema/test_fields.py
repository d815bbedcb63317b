"""Strawberry fields and types from values, and resolvers that graphql-core calls without strawberry in between."""

from typing import Any

import strawberry
from graphql import GraphQLObjectType, GraphQLResolveInfo, graphql_sync
from strawberry.schema.config import StrawberryConfig

from gateway.graph.query.reference.resolvers import attribute
from gateway.graph.schema.fields import Types, argument, basic, bind_resolvers, object_type, resolved
from gateway.graph.schema.schema import core_schema

SEEN: list[tuple[type, dict[str, Any]]] = []


def author(root: None, info: Any, **arguments: Any) -> dict[str, Any]:
    SEEN.append((type(info), arguments))
    return {"name": f"author {arguments['number']}"}


def built() -> strawberry.Schema:
    types: Types = {"list": list}
    arguments = [
        argument("number", int, "Which one.", required=True),
        argument("hint", str, "What to look for.", required=False),
    ]
    # the type is named before it exists
    field = resolved(types, "author", "Author | None", "An author.", author, arguments, deprecated="use `writer`")
    query = object_type(types, "Query", "All.", [field])
    fields = [
        basic(types, "name", str, "The name."),
        basic(types, "pen_name", str | None, "The pen name.", alias="penName"),
    ]
    object_type(types, "Author", "Somebody who writes.", fields)
    return strawberry.Schema(query=query, config=StrawberryConfig(auto_camel_case=False))


def test_fields_have_the_given_names_types_arguments_and_descriptions() -> None:
    core = core_schema(built())
    query, made = core.type_map["Query"], core.type_map["Author"]
    assert isinstance(query, GraphQLObjectType)
    assert isinstance(made, GraphQLObjectType)
    field = query.fields["author"]
    assert (str(field.type), field.description, field.deprecation_reason) == ("Author", "An author.", "use `writer`")
    assert {name: (str(arg.type), arg.description) for name, arg in field.args.items()} == {
        "number": ("Int!", "Which one."),
        "hint": ("String", "What to look for."),
    }
    assert made.description == "Somebody who writes."
    assert {name: str(field.type) for name, field in made.fields.items()} == {"name": "String!", "penName": "String"}


def test_graphql_core_calls_the_resolvers_itself() -> None:
    schema = built()
    bind_resolvers(core_schema(schema), attribute)
    SEEN.clear()
    result = graphql_sync(core_schema(schema), "{ author(number: 7) { name penName } }")
    assert (result.errors, result.data) == (None, {"author": {"name": "author 7", "penName": None}})
    [(info, arguments)] = SEEN
    assert issubclass(info, GraphQLResolveInfo)
    assert arguments == {"number": 7}, "an argument that was left out is absent"
