"""Runs a mutation: the input as values of the model, the deadline, and a payload with item or errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput, DeadlineExceeded, Forbidden
from gateway.graph.query.arguments import model_values
from gateway.graph.query.reference.resolvers import Context
from gateway.identity.principal import subject_id
from gateway.model.error_code import UserErrorCode
from gateway.model.mutation import Mutation
from gateway.store.access import Access
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected, check_declared
from gateway.store.write.idempotency import Once, once
from gateway.store.write.rules import checked_values
from gateway.store.write.writer import MutationResult, Writer

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Payload:
    """The result of a mutation: the item or errors, never both."""

    item: Item | None
    errors: tuple[Fault, ...] = ()
    extras: Values = field(default_factory=dict)


def resolver(mutation: Mutation) -> Callable[..., Awaitable[Payload]]:
    """The resolver of the mutation's field; the item in its payload is what a read would return."""

    async def resolve(root: None, info: GraphQLResolveInfo[Context], **arguments: Any) -> Payload:
        context = info.context
        context.writer.check_may_call(mutation)
        values = model_values(mutation.input, arguments["input"])
        values |= _subjects(mutation, context.writer.access, values)
        key = arguments.get("idempotencyKey")
        idempotency = once(key, mutation.name, values) if key is not None else None
        payload = await _payload(context.writer, mutation, values, idempotency)
        context.reader.changed(payload.item)
        return payload

    return resolve


def _subjects(mutation: Mutation, access: Access, values: Values) -> Values:
    """The arguments that are the subject of the token, where they are left out.

    INVARIANT: a caller with own rows names no other subject than itself.
    """
    found = {}
    for each in (each for each in mutation.input if each.default is not None):
        given = values.get(each.name)
        if given is None:
            found[each.name] = subject_id(access.subject, f"`{each.name}`")
        elif access.session.subject is not None and given != access.session.subject:
            raise Forbidden(f"the role `{access.session.role}` may name only itself in `{each.name}`")
    return found


async def _checked_run(mutation: Mutation, writer: Writer, values: Values) -> MutationResult:
    checked = checked_values(mutation.input, values)
    return await mutation.run(writer, checked)


async def _payload(writer: Writer, mutation: Mutation, values: Values, idempotency: Once | None) -> Payload:
    """Errors that the caller can fix are part of the payload; all others are errors of the field."""
    try:
        outcome = await _before_deadline(writer, mutation, values, idempotency)
    except Rejected as error:
        for fault in error.faults:
            check_declared(writer.model, fault)
        return Payload(None, error.faults)
    except BadUserInput as error:
        return Payload(None, tuple(_fault(each) for each in (error, *error.others)))
    return Payload(outcome.item if outcome.item.values else None, (), outcome.extras)


def _fault(error: BadUserInput) -> Fault:
    return Fault(UserErrorCode.INVALID, error.message, error.field)


async def _before_deadline(
    writer: Writer, mutation: Mutation, values: Values, idempotency: Once | None
) -> MutationResult:
    """Cancels the change at the deadline; the results of earlier mutations are kept, later ones are not started."""
    deadline = writer.access.deadline
    if deadline is not None and asyncio.get_running_loop().time() >= deadline:
        raise DeadlineExceeded("the request timed out before this mutation started; nothing was written")
    try:
        async with asyncio.timeout_at(deadline):
            writer = await writer.acting(mutation)
            return await writer.run(lambda used: _checked_run(mutation, used, values), idempotency)
    except TimeoutError as error:
        raise DeadlineExceeded(
            "the request timed out while this mutation ran, and it may have been written; "
            "repeat it with the same `idempotencyKey` to get its result"
        ) from error
