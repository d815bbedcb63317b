"""The Mutation type of the schema: one field, one input and one payload type for each declared mutation."""

from collections.abc import Sequence
from typing import Any

from strawberry.types.field import StrawberryField

from gateway.graph.mutation.mutation import EXTRA, Mutation, resolver
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
        basic(types, "code", annotations.output(EnumOf(UserErrorCode)), "What kind of failure it is."),
        basic(types, "message", str, "What happened, for a developer; choose your own words for users by the code."),
        basic(types, "field", str | None, "The field of the input that it is about."),
        basic(
            types,
            "current_version",
            int | None,
            "With CONFLICT: the version that is stored now.",
            alias="currentVersion",
        ),
    ]
    object_type(types, "UserError", "Why a change was not made; nothing was written.", fields)


def _field(types: Types, annotations: Annotations, mutation: Mutation) -> StrawberryField:
    title = mutation.name[0].upper() + mutation.name[1:]
    given = annotations.input_type(f"{title}Input", f"Input of `{mutation.name}`.", mutation.input)
    payload = _payload(types, annotations, mutation, f"{title}Payload")
    words = "Makes a repeat harmless: the same key with the same input changes nothing again for 24 hours."
    arguments = [
        argument("input", given, "What to change.", required=True),
        argument("idempotencyKey", str, words, required=False),
    ]
    return resolved(
        types,
        mutation.name,
        # without `!`, so that what failed takes nothing away from what other fields of the operation have done
        payload | None,
        mutation.description,
        resolver(mutation),
        arguments,
        deprecated=mutation.deprecated,
    )


def _payload(types: Types, annotations: Annotations, mutation: Mutation, name: str) -> Any:
    own = mutation.returns[0].lower() + mutation.returns[1:]
    fields = [
        basic(
            types, "item", f"{mutation.returns} | None", "The item as it is now; null when there are errors.", alias=own
        ),
        basic(types, "errors", "list[UserError]", "Why nothing was changed; empty on success."),
        *(
            basic(
                types,
                f"{EXTRA}{extra.name}",
                annotations.output(extra.type) | None,
                extra.description,
                alias=extra.name,
            )
            for extra in mutation.extras
        ),
    ]
    return object_type(types, name, f"What `{mutation.name}` answers.", fields)
