"""Checks of internal entities: nothing in the schema may lead to an entity that is not in it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.entity import Total

if TYPE_CHECKING:
    from gateway.model.model import Model

_FIX = "answer with another entity, or remove `internal`"


def internal_faults(model: "Model") -> Iterator[str]:
    """Only totals, and mutations that return another entity, may read an internal entity."""
    internal = {entity.name for entity in model.entities.values() if entity.internal}
    yield from _relation_faults(model, internal)
    for choice in model.choices.values():
        for name in (pattern for pattern in choice.patterns if pattern in model.patterns):
            if model.patterns[name].entity in internal:
                yield f"choice {choice.name}: `{name}` lists {model.patterns[name].entity}, which is internal"
    for mutation in model.mutations:
        returned: object = mutation.returns  # a faulty declaration may have any value here
        if isinstance(returned, str) and returned in internal:
            yield f"mutation {mutation.name}: answers with {mutation.returns}, which is internal: {_FIX}"
    for query in model.queries.values():
        if isinstance(query.returns, str) and query.returns in internal:
            yield f"query {query.name}: it returns {query.returns}, which is internal: {_FIX}"


def _relation_faults(model: "Model", internal: set[str]) -> Iterator[str]:
    for entity in (other for other in model.entities.values() if other.name not in internal):
        for relation in entity.relations:
            pattern = model.patterns.get(relation.pattern)
            if pattern is not None and pattern.entity in internal and not isinstance(relation, Total):
                yield (
                    f"entity {entity.name}: relation `{relation.name}` leads to {pattern.entity}, which is internal: "
                    "only a Total may refer to an internal entity; remove the relation or `internal`"
                )
