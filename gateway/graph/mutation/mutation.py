"""Runs a mutation: converts its input, applies the deadline, and returns a payload with the item or errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast

import msgspec
from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput, DeadlineExceeded, Forbidden
from gateway.graph.query.arguments import model_values
from gateway.graph.query.reference.resolvers import Context
from gateway.identity.principal import subject_id
from gateway.model.mutation import Mutation
from gateway.store.access import Access
from gateway.store.rows import Item
from gateway.store.write.bulk import ITEMS
from gateway.store.write.faults import Fault, Rejected, check_declared, faults_of
from gateway.store.write.idempotency import Once, once
from gateway.store.write.rules import checked_input
from gateway.store.write.writer import ItemResult, MutationResult, Work, Writer

Values = Mapping[str, Any]


class Payload(msgspec.Struct, frozen=True):
    """The result of a mutation: the item or errors, never both; for a bulk mutation, a result for each item."""

    item: Item | None
    errors: tuple[Fault, ...] = ()
    extras: Values = {}
    results: tuple[ItemResult, ...] = ()


def resolver(mutation: Mutation) -> Callable[..., Awaitable[Payload]]:
    """Returns the resolver of the mutation's field; the item in its payload is what a read would return."""

    fields = {field.name: field for field in mutation.input}

    def run(writer: Writer, values: Values) -> Awaitable[MutationResult]:
        # a bulk mutation checks its items one by one, because each has its own result
        return mutation.run(writer, dict(values) if mutation.bulk is not None else checked_input(fields, values))

    async def resolve(root: None, info: GraphQLResolveInfo[Context], **arguments: Any) -> Payload:
        context = info.context
        if context.outcome is not None:
            return cast(Payload, context.outcome.get())
        writer = context.writer
        writer.check_may_call(mutation)
        values = _input_values(mutation, writer.access, arguments["input"])
        key = arguments.get("idempotencyKey")
        idempotency = once(key, mutation.name, values) if key is not None else None
        try:
            payload = _payload(await _before_deadline(writer, mutation, partial(run, values=values), idempotency))
        except (BadUserInput, Rejected) as error:
            payload = Payload(None, _faults(writer, error))
        context.reader.changed(payload.item)
        for result in payload.results:
            context.reader.changed(result.item)
        return payload

    return resolve


def _input_values(mutation: Mutation, access: Access, arguments: Values) -> dict[str, Any]:
    if mutation.bulk is not None:
        return {ITEMS: [_input_values(mutation.bulk.of, access, item) for item in arguments[ITEMS]]}
    values = model_values(mutation.input, arguments)
    values.update(_subjects(mutation, access, values))
    return values


def _subjects(mutation: Mutation, access: Access, values: Values) -> Values:
    """Returns the omitted arguments that default to the subject of the token.

    INVARIANT: a caller limited to its own rows names no other subject than itself.
    """
    defaults = {}
    for argument in mutation.input:
        if argument.default is None:
            continue
        value = values.get(argument.name)
        if value is None:
            defaults[argument.name] = subject_id(access.subject, f"`{argument.name}`")
        elif access.session.subject is not None and value != access.session.subject:
            raise Forbidden(f"the role `{access.session.role}` may name only itself in `{argument.name}`")
    return defaults


def _faults(writer: Writer, error: BadUserInput | Rejected) -> tuple[Fault, ...]:
    """Errors that the caller can fix are put into the payload; all others become errors of the field."""
    if isinstance(error, BadUserInput):
        return faults_of(error)
    for fault in error.faults:
        check_declared(writer.model, fault)
    return error.faults


def _payload(outcome: MutationResult) -> Payload:
    item = outcome.item if outcome.item.values else None
    if not outcome.results:
        return Payload(item, (), outcome.extras)
    faults = tuple([fault for result in outcome.results for fault in result.faults])
    return Payload(item, faults, outcome.extras, outcome.results)


async def _before_deadline(writer: Writer, mutation: Mutation, work: Work, idempotency: Once | None) -> MutationResult:
    """Cancels the change at the deadline; earlier mutations keep their results, and later ones are not started."""
    deadline = writer.access.deadline
    if deadline is not None and asyncio.get_running_loop().time() >= deadline:
        raise DeadlineExceeded("the request timed out before this mutation started; nothing was written")
    try:
        async with asyncio.timeout_at(deadline):
            if mutation.acts_as is not None:
                writer = await writer.acting(mutation, mutation.acts_as)
            return await writer.run(work, idempotency, bulk=mutation.bulk is not None)
    except TimeoutError as error:
        raise DeadlineExceeded(
            "the request timed out while this mutation ran, and it may have been written; "
            "repeat it with the same `idempotencyKey` to get its result"
        ) from error
