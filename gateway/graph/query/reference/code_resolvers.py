"""The resolvers of fields with code: computed, loaded, and custom queries."""

from typing import Any

from gateway.graph.query.code import ComputedCode, LoadedCode, QueryCode, code_arguments
from gateway.graph.query.reference.resolvers import Context, Info, Resolver
from gateway.graph.query.tree import CodeField, CustomField
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.entity import Entity
from gateway.store.rows import Item


def computed(entity: Entity, declared: Computed) -> Resolver:
    code = ComputedCode(entity.name, declared)

    def resolve(root: Item, info: Info, **arguments: Any) -> Any:
        values = {name: root[name] for name in declared.needs}
        return _listed(code.value(values, _arguments(info, declared)))

    return resolve


def loaded(entity: Entity, declared: Loaded) -> Resolver:
    code = LoadedCode(entity.name, declared)

    async def resolve(root: Item, info: Info, **arguments: Any) -> Any:
        context: Context = info.context
        values = {name: root[name] for name in declared.needs}
        return _listed(await context.reader.derived.load(code, values, _arguments(info, declared)))

    return resolve


def custom_query(query: CustomQuery) -> Resolver:
    code = QueryCode(query)

    async def resolve(root: None, info: Info, **arguments: Any) -> Any:
        context: Context = info.context
        field: CustomField = context.field(info)
        result = await code.result(context.reader.caller, field.arguments.values(context.variables))
        return [_listed(member) for member in result] if query.many and result is not None else _listed(result)

    return resolve


def _arguments(info: Info, declared: Computed | Loaded) -> dict[str, Any]:
    if not declared.arguments:
        return {}
    context: Context = info.context
    field: CodeField = context.field(info)
    return code_arguments(declared.arguments, field.arguments.values(context.variables))


def _listed(value: Any) -> Any:
    return sorted(value) if type(value) is frozenset else value
