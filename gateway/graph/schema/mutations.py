"""The Mutation type of the schema: one field, one input type and one payload type for each declared mutation."""

from collections.abc import Callable, Sequence
from typing import Any

from strawberry.types.field import StrawberryField

from gateway.graph.mutation.mutation import Mutation, Payload, resolver
from gateway.graph.schema.annotations import Annotations
from gateway.graph.schema.fields import Types, argument, basic, object_type, resolved
from gateway.model.types import EnumOf
from gateway.store.write.faults import UserErrorCode


def mutation_type(types: Types, annotations: Annotations, mutations: Sequence[Mutation], description: str) -> Any:
    _user_error(types, annotations)
    fields = [_field(types, annotations, mutation) for mutation in mutations]
    return object_type(types, "Mutation", description, fields)


def _user_error(types: Types, annotations: Annotations) -> None:
    fields = [
        basic(types, "code", annotations.output(EnumOf(UserErrorCode)), "The kind of failure."),
        basic(types, "message", str, "What happened, for developers; choose the text for users by the code."),
        basic(types, "field", str | None, "The input field that caused the error, if there is one."),
        basic(
            types,
            "current_version",
            int | None,
            "The stored version of the item; set for CONFLICT.",
            alias="currentVersion",
        ),
    ]
    object_type(types, "UserError", "The reason why a mutation changed nothing.", fields)


def _field(types: Types, annotations: Annotations, mutation: Mutation) -> StrawberryField:
    title = mutation.name[0].upper() + mutation.name[1:]
    input_type = annotations.input_type(f"{title}Input", f"Input of `{mutation.name}`.", mutation.input)
    payload = _payload(types, annotations, mutation, f"{title}Payload")
    key_description = "Makes retries safe: for 24 hours, a repeat with the same key and input changes nothing again."
    arguments = [
        argument("input", input_type, "The values of the mutation.", required=True),
        argument("idempotencyKey", str, key_description, required=False),
    ]
    return resolved(
        types,
        mutation.name,
        # nullable, so that a failed mutation does not remove the results of the others in its operation
        payload | None,
        mutation.description,
        resolver(mutation),
        arguments,
        deprecated=mutation.deprecated,
    )


def _payload(types: Types, annotations: Annotations, mutation: Mutation, name: str) -> Any:
    item_name = mutation.returns[0].lower() + mutation.returns[1:]
    item_description = "The item after the change; null if there are errors."
    fields = [
        resolved(types, item_name, f"{mutation.returns} | None", item_description, _item),
        basic(types, "errors", "list[UserError]", "Why nothing was changed; empty on success."),
        *(
            resolved(types, extra.name, annotations.output(extra.type) | None, extra.description, _extra(extra.name))
            for extra in mutation.extras
        ),
    ]
    return object_type(types, name, f"The result of `{mutation.name}`.", fields)


def _item(payload: Payload, info: Any) -> Any:
    return payload.item


def _extra(name: str) -> Callable[..., Any]:
    def resolve(payload: Payload, info: Any) -> Any:
        return payload.extras.get(name)

    return resolve
