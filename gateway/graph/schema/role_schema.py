"""The schema of a role: it omits the fields, patterns and mutations that the role can never use.

It is derived from the whole schema once for each role. Omitted elements are unknown to the role in validation and in
introspection, and nothing is read to find that out.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
)

from gateway.iam.policies.roles import GatewayRole, gateway_role
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import Lookup, names_of, watched_patterns
from gateway.model.role import ALL, Role


def has_own_schema(role: Role) -> bool:
    """Whether the role is declared by what it reads; all others have the whole schema, and are refused at run time."""
    return not role.acting and (role.own or role.reads is not ALL)


@lru_cache(maxsize=32)
def role_schema(schema: GraphQLSchema, model: Model, role: Role) -> GraphQLSchema:
    return _RoleSchema(schema, model, role).made()


class _RoleSchema:
    def __init__(self, schema: GraphQLSchema, model: Model, role: Role) -> None:
        self._schema = schema
        self._types: dict[str, Any] = {}
        self._unknown = {*_unknown(model, role)}

    def made(self) -> GraphQLSchema:
        roots = (self._schema.query_type, self._schema.mutation_type, self._schema.subscription_type)
        query, mutation, subscription = map(self._root, roots)
        node = self._schema.type_map.get("Node")
        nodes = self._schema.get_possible_types(node) if isinstance(node, GraphQLInterfaceType) else ()
        members = [self._named(member) for member in nodes if ("node", member.name) not in self._unknown]
        return GraphQLSchema(
            query=query,
            mutation=mutation,
            subscription=subscription,
            types=members,
            directives=self._schema.directives,
        )

    def _root(self, kind: GraphQLObjectType | None) -> GraphQLObjectType | None:
        if kind is None or not any((kind.name, name) not in self._unknown for name in kind.fields):
            return None
        named: GraphQLObjectType = self._named(kind)
        return named

    def _named(self, kind: GraphQLNamedType) -> Any:
        if not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            return kind
        if kind.name not in self._types:
            options: dict[str, Any] = {**kind.to_kwargs(), "fields": lambda: self._fields(kind)}
            options["interfaces"] = lambda: [self._named(interface) for interface in kind.interfaces]
            self._types[kind.name] = type(kind)(**options)
        return self._types[kind.name]

    def _fields(self, kind: GraphQLObjectType | GraphQLInterfaceType) -> dict[str, GraphQLField]:
        return {
            name: GraphQLField(**{**field.to_kwargs(), "type_": self._converted(field.type)})
            for name, field in kind.fields.items()
            if (kind.name, name) not in self._unknown
        }

    def _converted(self, kind: Any) -> Any:
        if isinstance(kind, GraphQLNonNull):
            return GraphQLNonNull(self._converted(kind.of_type))
        if isinstance(kind, GraphQLList):
            return GraphQLList(self._converted(kind.of_type))
        return self._named(kind)


def _unknown(model: Model, role: Role) -> Iterator[tuple[str, str]]:
    """The fields that the role can never use, each with its type; `node` is among them for an entity without an id."""
    granted = gateway_role(model, role)
    for pattern in model.patterns.values():
        if pattern.name not in granted.patterns:
            yield from (("Query", name) for name in names_of(pattern) if name not in model.choices)
            if isinstance(pattern, Lookup):
                yield "node", pattern.entity
    for choice in model.choices.values():
        if granted.patterns.isdisjoint(choice.patterns):
            yield "Query", choice.name
    # INVARIANT: what a role cannot read by a pattern, it cannot watch by it.
    watches = [watch for watch in model.watches.values() if not granted.patterns >= watched_patterns(model, watch)]
    yield from (("Subscription", watch.name) for watch in watches)
    for entity in model.entities.values():
        yield from ((entity.name, name) for name in _unknown_fields(entity, granted))
    yield from (("Mutation", mutation.name) for mutation in model.mutations if not role.may_call(mutation))


def _unknown_fields(entity: Entity, role: GatewayRole) -> Iterator[str]:
    hidden = set(role.hidden)
    yield from (attribute.name for attribute in entity.attributes if attribute.name in hidden)
    yield from (field.name for field in entity.derived.values() if not hidden.isdisjoint(field.needs))
    yield from (relation.name for relation in entity.relations if relation.pattern not in role.patterns)
