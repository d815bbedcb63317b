"""Strawberry fields and types built from values instead of classes."""

import inspect
import types as python_types
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from typing import Annotated, Any

import strawberry
from graphql import GraphQLObjectType, GraphQLSchema
from strawberry.annotation import StrawberryAnnotation
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField
from strawberry.types.fields.resolver import StrawberryResolver

Types = dict[str, Any]  # the types of one schema by name, for forward references


def basic(
    types: Types,
    name: str,
    annotation: Any,
    description: str,
    *,
    alias: str | None = None,
    default: Any = MISSING,
    deprecated: str | None = None,
) -> StrawberryField:
    """A field without arguments that returns an attribute of its object: `endCursor` returns `end_cursor`."""
    first, *others = name.split("_")
    return StrawberryField(
        python_name=name,
        graphql_name=alias or first + "".join(map(str.capitalize, others)),
        type_annotation=StrawberryAnnotation(annotation, namespace=types),
        description=description,
        default=default,
        deprecation_reason=deprecated,
    )


def resolved(
    types: Types,
    name: str,
    annotation: Any,
    description: str,
    resolver: Callable[..., Any],
    arguments: Sequence[inspect.Parameter] = (),
    *,
    deprecated: str | None = None,
) -> StrawberryField:
    """A field with a resolver; strawberry reads its arguments from the resolver's signature, which is set here."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter("root", positional), inspect.Parameter("info", positional, annotation=strawberry.Info)]
    resolver.__signature__ = inspect.Signature([*own, *arguments])  # type: ignore[attr-defined]  # read by inspect
    field = basic(types, name, annotation, description, deprecated=deprecated)
    field.base_resolver = StrawberryResolver(resolver)
    return field


def bind_resolvers(schema: GraphQLSchema, attribute: Callable[[str], Callable[..., Any]]) -> None:
    """Makes graphql-core call our resolvers directly.

    Strawberry's wrappers create an `Info` object and convert the arguments again for each field.
    """
    for kind in schema.type_map.values():
        if not isinstance(kind, GraphQLObjectType):
            continue
        # an item knows its entity, and `Node.resolve_type` returns that name
        kind.is_type_of = None
        for field in kind.fields.values():
            declared = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
            if isinstance(declared, StrawberryField):
                own = declared.base_resolver
                field.resolve = attribute(declared.python_name) if own is None else own.wrapped_func


def argument(name: str, annotation: Any, description: str, *, required: bool) -> inspect.Parameter:
    kind = annotation if required else annotation | None
    described = Annotated[kind, strawberry.argument(description=description)]  # type: ignore[valid-type]  # a value
    default = inspect.Parameter.empty if required else strawberry.UNSET
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=described, default=default)


def object_type(
    types: Types,
    name: str,
    description: str,
    fields: Sequence[StrawberryField],
    *,
    interfaces: tuple[type, ...] = (),
    is_input: bool = False,
) -> Any:
    annotations = {field.python_name: field.type_annotation for field in fields}
    namespace: dict[str, Any] = {field.python_name: field for field in fields}
    namespace["__annotations__"] = dict.fromkeys(annotations, object)
    python_class: Any = python_types.new_class(name, interfaces, {}, lambda body: body.update(namespace))
    graphql_type: Any = strawberry.type(python_class, name=name, description=description, is_input=is_input)
    # dataclasses replace the annotation, and with it the namespace where forward references are looked up
    for field in graphql_type.__strawberry_definition__.fields:
        if field.python_name in annotations:
            field.type_annotation = annotations[field.python_name]
    types[name] = graphql_type
    return graphql_type
