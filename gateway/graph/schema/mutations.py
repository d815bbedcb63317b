"""The Mutation type of the schema: one field, one input type and one payload type for each declared mutation."""

from collections.abc import Callable
from enum import Enum
from typing import Any

from strawberry.types.field import StrawberryField

from gateway.graph.mutation.mutation import Payload, resolver
from gateway.graph.query.reference.resolvers import attribute
from gateway.graph.schema.annotations import Annotations
from gateway.graph.schema.fields import Types, argument, basic, object_type, resolved
from gateway.graph.schema.prices import mutation_cost
from gateway.model.error_code import UserErrorCode
from gateway.model.model import Model
from gateway.model.mutation import RESULTS, Mutation
from gateway.model.types import EnumOf
from gateway.store.write.faults import Fault


def mutation_type(types: Types, annotations: Annotations, model: Model, description: str) -> Any:
    _user_error(types, annotations, model)
    fields = [_field(types, annotations, model, mutation) for mutation in model.mutations]
    return object_type(types, "Mutation", description, fields)


def _user_error(types: Types, annotations: Annotations, model: Model) -> None:
    codes = _codes(model)
    fields = [
        resolved(types, "code", annotations.output(EnumOf(codes)), "The kind of failure.", _code(codes)),
        basic(types, "message", str, "What happened, for developers; choose the text for users by the code."),
        basic(types, "field", str | None, "The input field that caused the error, if there is one."),
        basic(types, "current_version", int | None, "The stored version of the item; set for CONFLICT."),
    ]
    object_type(types, "UserError", "The reason why a mutation changed nothing.", fields)


def _codes(model: Model) -> type[Enum]:
    """The gateway's own codes, and after them those that the domains declare."""
    own = [(code.name, code.value) for code in UserErrorCode]
    make: Any = Enum  # type checkers want the members in the source
    codes: type[Enum] = make("UserErrorCode", [*own, *((code.name, code.description) for code in model.error_codes)])
    codes.__doc__ = UserErrorCode.__doc__
    return codes


def _code(codes: type[Enum]) -> Callable[..., Any]:
    def resolve(fault: Fault, info: Any) -> Enum:
        return codes[fault.code.name]

    return resolve


def _field(types: Types, annotations: Annotations, model: Model, mutation: Mutation) -> StrawberryField:
    title = mutation.name[0].upper() + mutation.name[1:]
    input_type = annotations.input_type(f"{title}Input", f"Input of `{mutation.name}`.", mutation.input)
    payload = (
        _payload(types, annotations, mutation, f"{title}Payload")
        if mutation.bulk is None
        else _bulk_payload(types, mutation, title)
    )
    key_description = (
        "Makes retries safe: for 24 hours, repeating a request with the same key and input changes nothing more."
    )
    arguments = [
        argument("input", input_type, "The values of the mutation.", required=True),
        argument("idempotencyKey", str, key_description, required=False),
    ]
    return resolved(
        types,
        mutation.name,
        # nullable, so that a failed mutation does not remove the results of the others in its operation
        payload | None,
        mutation.description + mutation_cost(model, mutation),
        resolver(mutation),
        arguments,
        deprecated=mutation.deprecated,
    )


def _payload(types: Types, annotations: Annotations, mutation: Mutation, name: str) -> Any:
    item_description = "The item after the change; null if there are errors."
    fields = [
        resolved(types, mutation.item_field, f"{mutation.returns} | None", item_description, attribute("item")),
        basic(types, "errors", "list[UserError]", "Why nothing was changed; empty on success."),
        *(
            resolved(types, extra.name, annotations.output(extra.type) | None, extra.description, _extra(extra.name))
            for extra in mutation.extras
        ),
    ]
    return object_type(types, name, f"The result of `{mutation.name}`.", fields)


def _bulk_payload(types: Types, mutation: Mutation, title: str) -> Any:
    item_description = "The item after the change; null if it was not written."
    errors = "Why it was not written. Their `field` has the index, such as `items.2.title`."
    result = [
        basic(types, "index", int, "The position of the item in the input, from 0."),
        basic(types, "written", bool, "Whether the item was written."),
        resolved(types, mutation.item_field, f"{mutation.returns} | None", item_description, attribute("item")),
        basic(types, "faults", "list[UserError]", errors, alias="errors"),
    ]
    object_type(types, f"{title}Result", f"The result for one item of `{mutation.name}`.", result)
    fields = [
        basic(types, RESULTS, f"list[{title}Result]", "One result for each item, in the order of the input."),
        resolved(types, "writtenCount", int, "How many items were written.", _written_count),
        basic(types, "errors", "list[UserError]", "The errors of all items, or of the input as a whole."),
    ]
    return object_type(types, f"{title}Payload", f"The result of `{mutation.name}`.", fields)


def _written_count(payload: Payload, info: Any) -> int:
    return sum(result.written for result in payload.results)


def _extra(name: str) -> Callable[..., Any]:
    def resolve(payload: Payload, info: Any) -> Any:
        return payload.extras.get(name)

    return resolve
