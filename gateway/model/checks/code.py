"""Checks of fields with code: what they need, what they return, and whether their functions fit."""

import inspect
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gateway.model.checks.names import field_name_faults, fields_faults, is_field_name
from gateway.model.checks.shapes import shape_faults
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.entity import Entity
from gateway.model.patterns import names_of
from gateway.model.types import Field
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model

_NODES = frozenset({"node", "nodes"})


def derived_faults(entity: Entity) -> Iterator[str]:
    """The faults of an entity whose tuples have the right types."""
    for field in entity.derived.values():
        yield from (f"`{field.name}`: {fault}" for fault in _derived_faults(entity, field))


def _derived_faults(entity: Entity, field: Computed | Loaded) -> Iterator[str]:
    if not field.needs:
        yield "`needs` is empty; name the attributes that its function reads"
    for name in dict.fromkeys(field.needs):
        if name not in entity.attribute:
            yield f"`needs` names the unknown attribute `{name}`{closest(name, entity.attribute)}"
        elif field.needs.count(name) > 1:
            yield f"`needs` names `{name}` twice"
    yield from argument_faults(field)
    last = ("arguments",) if field.arguments else ()
    if isinstance(field, Computed):
        yield from _function_faults("run", field.run, ("values", *last), is_async=False)
    else:
        yield from _function_faults("load", field.load, ("reader", "rows", *last), is_async=True)
        yield from _cost_faults(field.cost)


def query_faults(model: "Model", query: CustomQuery) -> Iterator[str]:
    return (f"query {query.name}: {fault}" for fault in _query_faults(model, query))


def _query_faults(model: "Model", query: CustomQuery) -> Iterator[str]:
    if not is_field_name(query.name):
        yield f"`{query.name}` is not a name such as ordersToShip"
    if query.name in _NODES:
        yield f"`{query.name}` is a field of every query type; choose another name"
    if query.name in {name for pattern in model.patterns.values() for name in names_of(pattern)}:
        yield "an access pattern has the same name"
    if not isinstance(query.returns, str):
        yield from (fault for fault in fields_faults([Field("returns", query.returns, "")]))
    elif query.returns not in model.entities:
        yield f"it returns `{query.returns}`, which is neither an entity nor a type"
    # the other fields have their own, more precise checks
    shape = [fault for fault in shape_faults(query) if fault.startswith("`arguments")]
    yield from shape or argument_faults(query)
    yield from _function_faults("run", query.run, ("reader", "arguments"), is_async=True)
    yield from _cost_faults(query.cost)
    if query.max_items < 1:
        yield "`max_items` must be 1 or more"


def argument_faults(field: Computed | Loaded | CustomQuery) -> Iterator[str]:
    faults = (*field_name_faults([argument.name for argument in field.arguments]), *fields_faults(field.arguments))
    return (f"argument {fault}" for fault in faults)


def _function_faults(name: str, function: Any, words: tuple[str, ...], *, is_async: bool) -> Iterator[str]:
    form = f"{'async ' if is_async else ''}def {name}({', '.join(words)})"
    if not callable(function):
        yield f"`{name}` must be a function, not a `{type(function).__name__}`; write `{form}`"
    elif isinstance(function, type):
        yield f"`{name}` is the class {function.__name__}; write a function, `{form}`"
    elif _is_async(function) is not is_async:
        instead = "it is not async" if is_async else "it is async, but only a Loaded field may be"
        yield f"`{name}` does not fit: {instead}; write `{form}`"
    elif not _takes(function, len(words)):
        yield f"`{name}` must take {', '.join(words)}; write `{form}`"


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004  an object that is called like a function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a C function without a signature
        return True
    return True


def _cost_faults(cost: Any) -> Iterator[str]:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not math.isfinite(cost) or cost < 0:
        yield f"`cost` must be a number of capacity units, 0 or more, not {cost!r}"
